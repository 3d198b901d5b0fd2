#!/usr/bin/env python3
"""Writes what values.yaml declares about the chart's values: the properties of values.schema.json, and the tables in docs/.
Also writes the ids and positions of the dashboards' panels, from their order.

The comment directly above a value describes it, in Markdown. Links start at the root of the repository. Two kinds of
lines in this comment are no description:

| line | meaning |
|---|---|
| `# @schema NAME` | the type `NAME` of the definitions of values.schema.json, or `template` or `size`, from the schema of the API |
| `# @schema {...}` | keywords of JSON Schema, as YAML. Without `type` or `enum`, that of the default. Integers need `maximum` |
| `# @schema [...]` | a list whose items have this schema |
| `# @default TEXT` | TEXT for the table instead of the default, for example `*required*` |

Only a value that is true or false needs no line `@schema`. A value of a component without a comment has the comment of
the launcher's value with the same name.

In docs/helm-*.md, a table is between `<!-- values: NAME... -->` and `<!-- end of values -->`. It has the values with these
names or below them, except those that another table names more precisely.
"""

import dataclasses
import json
import pathlib
import re
import sys

import yaml

from seed_schema import seed_template

ROOT = pathlib.Path(__file__).resolve().parents[1]
CHART = ROOT / "charts/workshop-launcher"
SCHEMA = CHART / "values.schema.json"
PAGES = sorted((ROOT / "docs").glob("helm-*.md"))
# Groups of values with the same values for pods. A row for `COMPONENT.name` stands for the value `name` of each.
COMPONENTS = ("launcher", "operator", "login", "front", "notice")
TYPES = {bool: "boolean", int: "integer", str: "string", list: "array"}
TABLE = re.compile(r"(?<=<!-- values: )([^>]+)( -->\n).*?(?=<!-- end of values -->)", re.DOTALL)
WIDTH = 120


@dataclasses.dataclass
class Value:
    """A value, or a group of values."""

    name: str
    text: str
    # Content of the line @schema; None without this line.
    schema: object
    # The default in Markdown, or the text of the line @default.
    shown: str
    default: object
    # Values of a group: {name: Value}.
    below: dict

    def rows(self):
        """Yields all values of a group, or the value itself."""
        for value in self.below.values():
            yield from value.rows()
        if not self.below:
            yield self


class Reader:
    """Reads values.yaml."""

    def __init__(self, source):
        self.source, self.lines = source, source.splitlines()
        root = yaml.compose(source, yaml.SafeLoader)
        # Values of the launcher below the group: {name: Value}.
        self.common = {}
        launcher = next(self.value("launcher", *one) for one in root.value if one[0].value == "launcher")
        self.common = {name.partition(".")[2]: value for name, value in flattened(launcher)}
        self.values = {key.value: self.value(key.value, key, node) for key, node in root.value}

    def comment(self, line):
        """Returns (text, lines that begin with @) of the comment above a line."""
        first = line
        while first and self.lines[first - 1].lstrip().startswith("#"):
            first -= 1
        words = [one.strip().removeprefix("#").strip() for one in self.lines[first:line]]
        marked = dict(one.removeprefix("@").split(" ", 1) for one in words if one.startswith("@"))
        if unknown := marked.keys() - {"schema", "default"}:
            sys.exit(f"values.yaml, line {line}: unknown annotation {', '.join(unknown)}")
        return " ".join(one for one in words if not one.startswith("@")), marked

    def value(self, name, key, node):
        text, marked = self.comment(key.start_mark.line)
        schema = yaml.safe_load(marked["schema"]) if "schema" in marked else None
        group, _, rest = name.partition(".")
        if group in COMPONENTS and (common := self.common.get(rest)):
            schema, text = schema or common.schema, text or common.text
        below = {}
        if isinstance(node, yaml.MappingNode) and node.value and schema is None:
            below = {one.value: self.value(f"{name}.{one.value}", one, other) for one, other in node.value}
        default = self.source[node.start_mark.index : node.end_mark.index].strip()
        shown = marked.get("default", "none" if default == '""' else f"`{default}`")
        return Value(name, text, schema, shown, None if below else yaml.safe_load(default), below)


def flattened(value):
    """Yields (name, value) for a value and all values below it."""
    yield value.name, value
    for one in value.below.values():
        yield from flattened(one)


def expanded(schema, default):
    """Returns the JSON Schema for the content of a line @schema."""
    if schema == "template":
        return seed_template()
    if schema == "size":
        name = {"type": "string", "minLength": 1, "maxLength": 80}
        properties = {"name": name, "resources": seed_template()["properties"]["resources"]}
        return {**group(properties), "required": list(properties)}
    if isinstance(schema, str):
        return {"$ref": f"#/definitions/{schema}"}
    if isinstance(schema, list):
        return {"type": "array", "items": expanded(schema[0], "")}
    found = dict(schema or {})
    if "items" in found:
        found["items"] = expanded(found["items"], "")
    return found if {"type", "enum"} & found.keys() else {"type": TYPES[type(default)], **found}


def plain(text):
    """Returns Markdown without its links."""
    return re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", text)


def schema_of(value):
    about = {"description": plain(value.text)} if value.text else {}
    if value.below:
        return {**about, **group({name: schema_of(one) for name, one in value.below.items()})}
    if not value.text:
        sys.exit(f"values.yaml: {value.name} has no description")
    if value.schema is None and not isinstance(value.default, bool):
        sys.exit(f"values.yaml: {value.name} needs a line @schema")
    found = expanded(value.schema, value.default)
    if found.get("type") == "integer" and "maximum" not in found:
        sys.exit(f"values.yaml: {value.name} needs a maximum")
    return {**about, **found}


def group(properties):
    return {"type": "object", "additionalProperties": False, "properties": properties}


def laid_out(value, indent):
    """Returns JSON with short values on one line."""
    line = json.dumps(value)
    if not isinstance(value, dict) or len(indent + line) <= WIDTH:
        return line
    inner = indent + "  "
    fields = [f"{inner}{json.dumps(key)}: {laid_out(field, inner)}" for key, field in value.items()]
    return "{\n" + ",\n".join(fields) + f"\n{indent}}}"


def with_properties(text, values):
    """Returns the text of values.schema.json with the schemas of these values, and of `global`, which Helm adds."""
    properties = {name: schema_of(value) for name, value in values.items()} | {"global": {"type": "object"}}
    before, label, _ = text.partition('\n  "properties": ')
    return before + label + laid_out(properties, "  ") + "\n}\n"


def documented(values):
    """Yields (name, value) for each row of the tables."""
    rows = [value for one in values.values() for value in one.rows()]
    known = {value.name: value for value in rows}
    for value in rows:
        component, _, rest = value.name.partition(".")
        same = [known.get(f"{one}.{rest}") for one in COMPONENTS] if component in COMPONENTS else [None]
        if not all(one and one.text == value.text for one in same):
            yield value.name, value
        elif component == "launcher":
            yield f"COMPONENT.{rest}", value


def row(name, value):
    # Links in a page are relative to its folder.
    cells = re.sub(r"\]\((?!https?:)", "](../", f"{value.shown} | {value.text}").replace("](../docs/", "](")
    return f"| `{name}` | {cells} |\n"


def with_tables(pages, values):
    """Returns the texts of the pages with the rows of these values: {path: text}."""
    names = {name for text in pages.values() for found in TABLE.finditer(text) for name in found[1].split()}
    rows = {name: "" for name in names}
    for name, value in documented(values):
        words = name.split(".")
        tables = [".".join(words[:depth]) for depth in range(len(words), 0, -1)]
        table = next((one for one in tables if one in names), None)
        if table is None:
            sys.exit(f"values.yaml: no table in docs/helm-*.md has {name}")
        rows[table] += row(name, value)

    def filled(found):
        # In the order of values.yaml.
        lines = "".join(rows[name] for name in found[1].split())
        return f"{found[1]}{found[2]}\n| value | default | meaning |\n|---|---|---|\n{lines}\n"

    return {path: TABLE.sub(filled, text) for path, text in pages.items()}


def with_positions(text):
    """Returns the text of a dashboard whose panels have ids and positions by their order. A panel may have a height `h`
    and a width `w` in its `gridPos`."""
    dashboard = json.loads(text)
    x = y = height = 0
    for number, panel in enumerate(dashboard["panels"], 1):
        usual = {"h": 1, "w": 24} if panel["type"] == "row" else {"h": 8, "w": 12}
        size = usual | {key: value for key, value in panel.get("gridPos", {}).items() if key in usual}
        if x + size["w"] > 24:
            x, y = 0, y + height
        panel["id"], panel["gridPos"] = number, size | {"x": x, "y": y}
        x, height = x + size["w"], size["h"]
    return json.dumps(dashboard, indent=2) + "\n"


def read():
    """Returns the values and groups in values.yaml: {name: Value}."""
    return Reader((CHART / "values.yaml").read_text()).values


def generated():
    """Returns the texts of all files that this script writes: {path: text}."""
    values = read()
    tables = with_tables({path: path.read_text() for path in PAGES}, values)
    dashboards = {path: with_positions(path.read_text()) for path in (CHART / "dashboards").glob("*.json")}
    return {SCHEMA: with_properties(SCHEMA.read_text(), values), **tables, **dashboards}


if __name__ == "__main__":
    for path, text in generated().items():
        path.write_text(text)
