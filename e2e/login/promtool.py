"""promtool, Prometheus' own tool: checks rules, and evaluates expressions over generated series."""

import re
import subprocess

import yaml

from chart import RELEASE, program

# Labels of each program's targets, in ci/full-values.yaml.
TARGETS = {
    "launcher": {"namespace": "launcher", "job": RELEASE},
    "operator": {"namespace": "launcher", "job": f"{RELEASE}-operator"},
    "sidecar": {"namespace": "course-2026", "job": "workshops"},
}
REPEATED = re.compile(r"(?:_|.*\d)x(\d+)")


def promtool(*words):
    """Runs promtool; returns (status, all output)."""
    command = [program("promtool"), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def length(values):
    """Returns the number of minutes that these values cover, in promtool's notation."""
    repeated = (REPEATED.fullmatch(value) for value in values.split())
    # `1x4` is 1 and four repetitions of it; a gap (`_x4`) has no first value.
    return sum(int(one[1]) + (one[0][0] != "_") if one else 1 for one in repeated)


def presence(values):
    """Returns the values of `up` for a target that has a series of these values."""
    return " ".join(one if one[0] in "_s" else f"1x{length(one) - 1}" for one in values.split())


def series(target, told):
    """Yields the series of a target, such as `launcher a`, in promtool's format; `told` is {series: values}."""
    kind, name = target.split()
    own = TARGETS[kind] | {"pod": name, "instance": name}
    labels = ", ".join(f'{label}="{value}"' for label, value in own.items())
    for one, values in ({"up": presence(next(iter(told.values())))} | told).items():
        metric, _, rest = one.partition("{")
        yield {"series": f"{metric}{{{labels}, {rest or '}'}", "values": values}


def play(folder, rules=None, **test):
    """Plays a test in promtool's format, with these rules or none; returns (status, all output)."""
    document = {"evaluation_interval": "1m", "rule_files": ["rules.yaml"], "tests": [{"interval": "1m"} | test]}
    (folder / "rules.yaml").write_text(yaml.safe_dump(rules or {"groups": []}))
    (folder / "test.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
    return promtool("test", "rules", folder / "test.yaml")
