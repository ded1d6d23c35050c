"""A text with a few edits: how wrong and hostile submissions are made of right ones."""


def edited(text, edits):
    """{old: new}; AssertionError where an old does not stand in the text once."""
    for old, new in edits.items():
        assert text.count(old) == 1, (old, text.count(old))
        text = text.replace(old, new)
    return text
