"""The Content-Security-Policy of a page that is one file: it runs the scripts and uses the style sheets that it was
written with, and loads nothing. A browser that follows it runs nothing that got into the page in another way."""

import base64
import hashlib


def sources(texts):
    """'sha256-...' of what stands inside each element, as browsers compute it."""
    digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts)
    return " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"


def content(styles, scripts=(), attributes=False):
    """styles, scripts: the texts of all style and script elements; attributes: whether the page has style attributes.
    Those can colour and move what is there, and load nothing."""
    allowed = {"default-src": "'none'", "style-src-elem": sources(styles),
               "style-src-attr": "'unsafe-inline'" if attributes else "'none'", "script-src": sources(scripts),
               "img-src": "data:", "base-uri": "'none'", "form-action": "'none'"}
    return "; ".join(f"{name} {value}" for name, value in allowed.items())


def meta(styles, scripts=(), attributes=False):
    """The element, for the head of a page, before the first style sheet."""
    return f'<meta http-equiv="Content-Security-Policy" content="{content(styles, scripts, attributes)}">'
