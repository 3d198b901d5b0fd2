"""Finds the components whose pods change with each value of the chart: their pod templates, and the ConfigMaps and Secrets
that these name. No cluster is needed.

For each value, it removes the value from each values file in ci/ that has it. If the chart then refuses the values, it
changes the value instead.

As a program, it writes reached-pods.txt: `render.sh write` runs it.
"""

import collections
import concurrent.futures
import copy
import functools
import json
import os
import re
import textwrap

from chart import ALL_SETS, CHART, COMPONENTS, LOGIN, Rendering, template, value_in, values_in, values_of, values_schema

REACHED = LOGIN / "reached-pods.txt"
ABOUT = """\
# Components and the values that change their pods. A change of a value that is missing here replaces no pod.
# Written by e2e/login/render.sh write.
"""
# Fixed secrets for the sets without these values, because the chart generates different ones at each rendering.
SECRETS = {"launcher": ["secret-of-the-launcher-for-tests-0001"], "workshops": ["secret-of-the-workshops-for-tests-001"]}
TYPES = values_schema()
# Values of each component, which reach its pods only: test_chart_reach.py tests all of them together. The others are no
# part of a pod.
OF_PODS = sorted(
    name for name in {one.partition(".")[2] for one in TYPES}
    if all(f"{component}.{name}" in TYPES for component in COMPONENTS)
    and name not in ("serviceAccount.create", "serviceAccount.annotations")
)
OTHER_VALUES = sorted(TYPES.keys() - {f"{component}.{name}" for component in COMPONENTS for name in OF_PODS})


@functools.cache
def values_file(name):
    """Returns the values of a set. The caller must not change them."""
    values = values_in(values_of(name))
    return values | {"proxySecret": SECRETS | values.get("proxySecret", {})}


def changed(values, **others):
    """Returns a copy of the values with other values. None removes a value, so that the chart uses its default."""
    values = copy.deepcopy(values)
    for name, other in others.items():
        *groups, last = name.split(".")
        group = functools.reduce(lambda found, word: found.setdefault(word, {}), groups, values)
        if other is None:
            group.pop(last, None)
        else:
            group[last] = other
    return values


def pods(values):
    """Renders the chart with these values. Returns {component: (pod template, data that it names)}, or None if the chart
    refuses the values. The checksums of the templates are left out: they only repeat the data."""
    status, text = template(None, "--values=-", stdin=json.dumps(values))
    if status != 0:
        return None
    rendering, found = Rendering(text), {}
    for component, one in rendering.templates.items():
        notes = {key: value for key, value in one["metadata"].get("annotations", {}).items() if not key.startswith("checksum/")}
        spec = json.dumps(one["spec"])
        used = {
            key: stored["data"] for key, stored in rendering.keyed.items()
            if key[0] in ("ConfigMap", "Secret") and key[1] == "launcher" and f'"{key[2]}"' in spec
        }
        found[component] = one["metadata"]["labels"], notes, spec, used
    return found


unchanged = functools.cache(lambda name: pods(values_file(name)))


def reached(name, **others):
    """Returns the components whose pods change with these other values, or None if the chart refuses them."""
    before, after = unchanged(name), pods(changed(values_file(name), **others))
    return after and {component for component in {*before, *after} if before.get(component) != after.get(component)}


def others(name, value):
    """Returns valid other values for a value: other words of an enumeration, another tag of an image, or a longer text."""
    if "enum" in TYPES[name]:
        return [one for one in TYPES[name]["enum"] if one not in ("", value)]
    if isinstance(value, dict):
        return [value | {"tag": "other"}]
    return [f"{value}x"] if isinstance(value, str) else []


def trials(name):
    """Yields the components that a value reaches in each set of values that has it."""
    default = value_in(values_in(CHART / "values.yaml"), name)
    for case in ALL_SETS:
        value = value_in(values_file(case), name)
        if value in (None, default):
            continue
        found = reached(case, **{name: None})
        if found is None:
            changes = (reached(case, **{name: other}) for other in others(name, value))
            found = set().union(*filter(None, changes))
        yield found


def entries():
    """Returns the entries of reached-pods.txt: {value: components}."""
    text = "".join(line for line in REACHED.read_text().splitlines(keepends=True) if not line.startswith("#"))
    entries = (entry.partition(":") for entry in re.split(r"\n(?! )", text))
    return {name: set(components.split()) for components, _, names in entries for name in names.split()}


if __name__ == "__main__":
    values = collections.defaultdict(list)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, found in zip(OTHER_VALUES, pool.map(lambda name: set().union(*trials(name)), OTHER_VALUES), strict=True):
            values[" ".join(sorted(found))].append(name)
    lines = (f"{components}: {' '.join(names)}" for components, names in sorted(values.items()) if components)
    wrapped = (textwrap.fill(line, 120, subsequent_indent="  ", break_on_hyphens=False) for line in lines)
    REACHED.write_text(ABOUT + "".join(f"{line}\n" for line in wrapped))
