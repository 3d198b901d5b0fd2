"""The metrics that there are, as docs/metrics.md lists them."""

import functools
import re

from chart import ROOT

# What a time series of a metric is called, by the metric's kind in docs/metrics.md.
SERIES = {"counter": [""], "gauge": [""], "histogram": ["_bucket", "_sum", "_count"]}


@functools.cache
def metrics():
    """{name of a series: (kind, names of labels)} of docs/metrics.md."""
    found = {}
    for line in (ROOT / "docs/metrics.md").read_text().splitlines():
        if row := re.match(r"\| `(\w+)(?:\{([\w, ]+)\})?` \| (\w+) \|", line):
            name, labels, kind = row.groups()
            own = set((labels or "").split(", ")) - {""} | ({"le"} if kind == "histogram" else set())
            found |= {name + ending: (kind, own) for ending in SERIES[kind]}
    return found
