"""Prometheus' own tool: what it says of rules and questions, played over series that a test makes up."""

import re
import subprocess

import yaml

from chart import RELEASE, program

# The labels of what is collected from a program, in ci/full-values.yaml.
TARGETS = {
    "launcher": {"namespace": "launcher", "job": RELEASE},
    "operator": {"namespace": "launcher", "job": f"{RELEASE}-operator"},
    "sidecar": {"namespace": "course-2026", "job": "workshops"},
}
REPEATED = re.compile(r"(?:_|.*\d)x(\d+)")


def promtool(*words):
    """(status, everything that it printed)"""
    command = [program("promtool"), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def length(values):
    """How many minutes these values take, in promtool's notation."""
    repeated = (REPEATED.fullmatch(value) for value in values.split())
    # `1x4` is 1, and four times more of it; nothing (`_x4`) has no first.
    return sum(int(one[1]) + (one[0][0] != "_") if one else 1 for one in repeated)


def presence(values):
    """The `up` of a target that has a series of these values."""
    return " ".join(one if one[0] in "_s" else f"1x{length(one) - 1}" for one in values.split())


def series(target, told):
    """What Prometheus has of a target, such as `launcher a`, that tells this: {series: values}."""
    kind, name = target.split()
    own = TARGETS[kind] | {"pod": name, "instance": name}
    labels = ", ".join(f'{label}="{value}"' for label, value in own.items())
    for one, values in ({"up": presence(next(iter(told.values())))} | told).items():
        metric, _, rest = one.partition("{")
        yield {"series": f"{metric}{{{labels}, {rest or '}'}", "values": values}


def play(folder, rules=None, **test):
    """Plays a test in promtool's format, with these rules or with none: (status, everything that it printed)."""
    document = {"evaluation_interval": "1m", "rule_files": ["rules.yaml"], "tests": [{"interval": "1m"} | test]}
    (folder / "rules.yaml").write_text(yaml.safe_dump(rules or {"groups": []}))
    (folder / "test.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
    return promtool("test", "rules", folder / "test.yaml")
