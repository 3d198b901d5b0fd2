"""Figures as Markdown: the median of the rounds, with the lowest and the highest in parentheses."""

import math
import statistics


def digits(value):
    return 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2


def number(value):
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.{digits(value)}f}"


def cell(values):
    """Formats the values of a cell; a string, the reason for a missing figure, stays as it is."""
    if isinstance(values, str):
        return values
    values = [value for value in values if value is not None and not math.isnan(value)]
    if not values:
        return "-"
    if len(values) == 1:
        return number(values[0])
    return f"{number(statistics.median(values))} ({number(min(values))}–{number(max(values))})"


def percentile(values, percent):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * percent / 100))]


def table(heads, rows):
    print(f"| {' | '.join(heads)} |")
    print(f"|{'---|' * len(heads)}")
    for row in rows:
        print(f"| {' | '.join(map(str, row))} |")
    print(flush=True)


def ratios(ours, theirs):
    """Returns the ratio of each round: both values were measured within seconds of each other."""
    if isinstance(ours, str) or isinstance(theirs, str):
        return []
    return [a / b for a, b in zip(ours, theirs) if a is not None and b]


class Aims:
    """Target values, judged row by row."""

    def __init__(self, versus):
        self.versus, self.rows = versus, []

    def judge(self, what, figures, limit, least=False):
        """`figures` are ratios; they should be at most `limit`, or at least `limit` with `least`."""
        if not figures:
            self.rows.append((what, "-", f"{'≥' if least else '≤'} {limit}", "not measured"))
            return
        median = statistics.median(figures)
        good = median >= limit if least else median <= limit
        clear = all((figure >= limit if least else figure <= limit) == good for figure in figures)
        verdict = ("holds" if good else "**missed**") + ("" if clear else ", not in every round")
        self.rows.append((what, cell(figures), f"{'≥' if least else '≤'} {limit}", verdict))

    def show(self):
        table(("row", self.versus, "aim", ""), self.rows)
