"""The schema of seed templates in the chart's values: the API's schema of a template, and `template_id`."""

import json
import pathlib

API = pathlib.Path(__file__).resolve().parents[1] / "docs/openapi.json"
# Texts for people, and keywords that draft 7 of JSON Schema does not know.
DROPPED = {"description", "examples", "default", "format", "if", "then"}
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


def seed_template():
    """Returns the schema of one seed template."""
    schema = reduced(json.loads(API.read_text())["components"]["schemas"]["WorkshopTemplateBody"])
    schema["properties"] = {"template_id": {"type": "string", "pattern": UUID}, **schema["properties"]}
    schema["required"] = ["template_id", *schema["required"]]
    return schema
