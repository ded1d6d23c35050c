"""Tests that take long try a sample, so that `make test` takes minutes. `make test-all` sets TESTS=all, and they try
everything."""

import os

ALL = os.environ.get("TESTS") == "all"


def some(items, every):
    """The first of a list and every n-th after it; or all of them."""
    return list(items)[::1 if ALL else every]


def few(items, chosen):
    """Those of a list for which chosen(item) holds, at least one; or all of them."""
    found = [item for item in items if ALL or chosen(item)]
    assert found
    return found
