#!/usr/bin/env python3
"""Writes the schema of seed templates into values.schema.json: the API's schema of a template, and `template_id`.

Helm checks the values with it before an installation. `--check` compares instead of writing.
"""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent
TARGET = ROOT / "workshop-launcher/values.schema.json"
# Texts for people, and keywords that draft 7 of JSON Schema does not know.
DROPPED = {"description", "examples", "default", "format", "if", "then"}
WIDTH = 120
UUID = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"


def reduced(schema):
    """Returns a schema as Helm can use it. Go has no look-ahead in patterns: the service checks these rules at its start."""
    if isinstance(schema, list):
        return [reduced(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if key not in DROPPED and not ("pattern" == key and "(?" in value)}
    properties = {name: reduced(value) for name, value in schema.get("properties", {}).items()}
    rest = {key: reduced(value) for key, value in kept.items() if key != "properties"}
    rest = {key: value for key, value in rest.items() if value != {}}
    return {**rest, **({"properties": properties} if properties else {})}


def laid_out(value, indent):
    """Returns JSON with short values on one line."""
    line = json.dumps(value)
    if not isinstance(value, dict) or len(indent + line) <= WIDTH:
        return line
    inner = indent + "  "
    fields = [f"{inner}{json.dumps(key)}: {laid_out(field, inner)}" for key, field in value.items()]
    return "{\n" + ",\n".join(fields) + f"\n{indent}}}"


def generated(text):
    """Returns the text of values.schema.json with the schema of the seed templates."""
    document = json.loads((ROOT.parent / "docs/openapi.json").read_text())
    items = reduced(document["components"]["schemas"]["WorkshopTemplateBody"])
    items["properties"] = {"template_id": {"type": "string", "pattern": UUID}, **items["properties"]}
    items["required"] = ["template_id", *items["required"]]
    label = '"items": '
    start = text.index(label, text.index('"templates": {')) + len(label)
    _, end = json.JSONDecoder().raw_decode(text, start)
    return text[:start] + laid_out(items, "      ") + text[end:]


def main():
    text = TARGET.read_text()
    wanted = generated(text)
    if "--check" in sys.argv and text != wanted:
        sys.exit(f"{TARGET} is old: run make generated")
    TARGET.write_text(wanted)


if __name__ == "__main__":
    main()
