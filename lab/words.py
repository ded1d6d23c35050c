"""The words of the field, each in a line, as docs/GLOSSARY.md defines them: for the slides and the pre-lab sheet."""

import pathlib
import re

GLOSSARY = pathlib.Path(__file__).resolve().parent.parent / "docs/GLOSSARY.md"
SHORT = 60  # characters of a sentence that defines a word


def definition(word, glossary=None):
    """What the glossary says of a word first, without links: a sentence, or two if the first is short. ValueError: it
    has no such word."""
    glossary = glossary or GLOSSARY.read_text(encoding="utf-8")
    found = re.search(rf"^### {re.escape(word)}\n\n(.*?)(?=\n\n|\Z)", glossary,
                      re.MULTILINE | re.DOTALL | re.IGNORECASE)
    if not found:
        raise ValueError(f"docs/GLOSSARY.md has no word “{word}”")
    said = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", re.sub(r"<!--.*?-->", "", " ".join(found[1].split())))
    first, *rest = re.split(r"(?<=[^ .]\.) (?=[A-Z`0-9])", said)
    return " ".join([first, *rest[:1]]) if len(first) < SHORT else first
