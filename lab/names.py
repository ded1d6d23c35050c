"""People's names, which may hold anything: what is drawn from them, and how they are shown. Standard library only:
students have it, too."""

import hashlib
import html
import re
import unicodedata


def readable(name):
    """A name on one line, without invisible characters. Bytes that are not UTF-8 are written as \\xe9."""
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    text = "".join(c for c in text if c.isspace() or unicodedata.category(c) not in ("Cc", "Cf"))
    return " ".join(text.split())


def normalised(name):
    """The same text for the same name, however it is typed: letters are composed and in lower case, with single
    spaces."""
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", readable(name)).casefold()).split())


def drawn(name, what, choices):
    """One of the choices, by a hash of the name. It is the same in every version of Python, which random.choice() does
    not promise."""
    digest = hashlib.sha256(f"{normalised(name)}\n{what}".encode("utf-8", "replace")).digest()
    return choices[int.from_bytes(digest[:8], "big") % len(choices)]


def seed_of(name):
    """The seed of a person's shapes in the exercises, as for lab/check.py --seed."""
    return drawn(name, "seed", range(1 << 20))


def slug(name):
    """A short name for a file: the letters and digits of a name; '' if it has none."""
    return "-".join(re.findall(r"[^\W_]+", normalised(name)))[:48]


def in_markdown(text):
    """The text in Markdown, as it is: nothing in it is markup or HTML. html.unescape() gives it back."""
    return re.sub(r"[\\`*_\[\]<>&#|!~$]", lambda c: f"&#{ord(c[0])};", text)


def from_markdown(text):
    return html.unescape(text)
