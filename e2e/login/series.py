"""Reads the names and labels of all metrics, from docs/metrics.md and from the code."""

import functools
import re

from chart import ROOT

# {kind of a metric: suffixes of its time series}. docs/metrics.md already lists counters with `_total`.
SERIES = {"counter": [""], "gauge": [""], "histogram": ["_bucket", "_sum", "_count"]}


def registered():
    """Returns the names of the metrics that the Rust code registers, with their unit but without `_total`."""
    call = re.compile(r'\.register(?:_with_unit)?\(\s*"(\w+)",\s*"[^"]*",(?:\s*Unit::(\w+),)?')
    code = "".join(path.read_text() for path in sorted(ROOT.glob("crates/*/src/**/*.rs")))
    return {"_".join(part for part in (name, unit.lower()) if part) for name, unit in call.findall(code)}


@functools.cache
def metrics():
    """Returns all time series of docs/metrics.md: {name: (kind of the metric, names of labels)}."""
    found = {}
    for line in (ROOT / "docs/metrics.md").read_text().splitlines():
        if row := re.match(r"\| `(\w+)(?:\{([\w, ]+)\})?` \| (\w+) \|", line):
            name, labels, kind = row.groups()
            own = set((labels or "").split(", ")) - {""} | ({"le"} if kind == "histogram" else set())
            found |= {name + ending: (kind, own) for ending in SERIES[kind]}
    return found
