"""Runs promtool, the command-line tool of Prometheus, to check rules and evaluate queries over generated series."""

import json
import re
import subprocess

from chart import RELEASE, program

# Labels that Prometheus adds to each program's series, for the release of ci/full-values.yaml.
TARGETS = {
    "launcher": {"namespace": "launcher", "job": RELEASE},
    "operator": {"namespace": "launcher", "job": f"{RELEASE}-operator"},
    "sidecar": {"namespace": "course-2026", "job": "workshops"},
}
REPEATED = re.compile(r"(?:_|.*\d)x(\d+)")


def promtool(*words):
    """Runs promtool. Returns (status, output with errors)."""
    command = [program("promtool"), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def length(values):
    """Returns the number of minutes that these values in promtool's notation cover."""
    repeated = (REPEATED.fullmatch(value) for value in values.split())
    # `1x4` covers five minutes: a value and four repetitions. `_x4` is a gap of four minutes.
    return sum(int(one[1]) + (one[0][0] != "_") if one else 1 for one in repeated)


def presence(values):
    """Returns the values of the series `up`: 1 in each minute in which the target has a value."""
    return " ".join(one if one[0] in "_s" else f"1x{length(one) - 1}" for one in values.split())


def series(target, told):
    """Yields the series of a target, such as `launcher a`, in promtool's format. `told` is {series: values}."""
    kind, name = target.split()
    own = TARGETS[kind] | {"pod": name, "instance": name}
    labels = ", ".join(f'{label}="{value}"' for label, value in own.items())
    for one, values in ({"up": presence(next(iter(told.values())))} | told).items():
        metric, _, rest = one.partition("{")
        yield {"series": f"{metric}{{{labels}, {rest or '}'}", "values": values}


def collected(targets):
    """Returns the series of all targets, {target: {series: values}}, in promtool's format."""
    return [one for target, told in targets.items() for one in series(target, told)]


def play(folder, *tests, rules=None):
    """Runs tests in promtool's format in one process, with these rules or no rules. Returns (status, output with errors)."""
    document = {"evaluation_interval": "1m", "rule_files": ["rules.yaml"], "tests": [{"interval": "1m"} | one for one in tests]}
    (folder / "rules.yaml").write_text(json.dumps(rules or {"groups": []}))
    (folder / "test.yaml").write_text(json.dumps(document))
    return promtool("test", "rules", folder / "test.yaml")
