"""The existing metrics, as docs/metrics.md lists them."""

import functools
import re

from chart import ROOT

# Suffixes of a metric's time series, by the metric's kind in docs/metrics.md.
SERIES = {"counter": [""], "gauge": [""], "histogram": ["_bucket", "_sum", "_count"]}


def registered():
    """Returns the names that the code registers, spelled as in docs/metrics.md but without `_total`."""
    call = re.compile(r'\.register(?:_with_unit)?\(\s*"(\w+)",\s*"[^"]*",(?:\s*Unit::(\w+),)?')
    code = "".join(path.read_text() for path in sorted(ROOT.glob("crates/*/src/**/*.rs")))
    return {"_".join(part for part in (name, unit.lower()) if part) for name, unit in call.findall(code)}


@functools.cache
def metrics():
    """Returns the series of docs/metrics.md: {name of a series: (kind, names of labels)}."""
    found = {}
    for line in (ROOT / "docs/metrics.md").read_text().splitlines():
        if row := re.match(r"\| `(\w+)(?:\{([\w, ]+)\})?` \| (\w+) \|", line):
            name, labels, kind = row.groups()
            own = set((labels or "").split(", ")) - {""} | ({"le"} if kind == "histogram" else set())
            found |= {name + ending: (kind, own) for ending in SERIES[kind]}
    return found
