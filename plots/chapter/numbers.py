"""How numbers are written in the chapter."""

from tables import sig


def count(value):
    """A whole number in groups of three digits, a thin space between."""
    return f"{int(value):,}".replace(",", "\u202f")


def factor(value):
    """How many times: 8.1, 0.93, 12."""
    return f"{value:.0f}" if value >= 20 else f"{value:.1f}" if value >= 2 else f"{value:.2f}"


def cell(figure):
    """A results.Figure in a table whose heading has its unit, with ! if it is too noisy to compare; `-` for None."""
    return sig(figure.value) + figure.noise if figure else "-"


def deviation(ratio):
    """How far a value is from another: +10 %, −7 %, 0 %."""
    text = f"{100 * (ratio - 1):+.0f} %".replace("-", "−")
    return "0 %" if text[1:] == "0 %" else text


def percent(row):
    """A row's share of cudaMemcpy's bandwidth in its own run."""
    share = row and row["bandwidth_percent_of_memcpy"]
    return f"{float(share):.0f} %" if share else "-"
