//! The OpenAPI document: collected from the handlers, then completed with the parts common to all operations.

mod problems;

use serde_json::{Value, json};
use utoipa_axum::router::OpenApiRouter;

use crate::routes;
use crate::routes::docs::DESCRIPTION;
use crate::routes::templates::template_schemas;

/// Returns the OpenAPI 3.1 document of the API under a base path.
#[must_use]
pub fn openapi(base_path: &str) -> Value {
    let documented = routes::documented().into_iter().fold(OpenApiRouter::default(), OpenApiRouter::routes);
    let mut document = serde_json::to_value(documented.into_openapi()).unwrap_or_default();
    document["openapi"] = json!("3.1.0");
    document["info"] = info();
    document["servers"] = json!([{ "url": base_path }]);
    document["tags"] = json!([
        { "name": "caller", "description": "The caller." },
        { "name": "instances", "description": "Launched workshops." },
        { "name": "templates", "description": "The catalog." },
        { "name": "volumes", "description": "Kept files of users." },
        { "name": "snapshots", "description": "Files of ended workshops, saved for some days." },
        { "name": "activity", "description": "The activity log." },
        { "name": "reference", "description": "The API's own documentation." },
    ]);
    document["security"] = json!([{ "loginProxy": [] }]);
    document["components"]["securitySchemes"] = json!({ "loginProxy": {
        "type": "apiKey", "in": "header", "name": "X-Auth-Request-Email",
        "description": "The auth proxy sets this header. It removes the header from requests of clients.",
    }});
    let schemas = &mut document["components"]["schemas"];
    for (name, schema) in template_schemas() {
        schemas[name] = schema;
    }
    document["paths"]["/events"]["get"]["responses"]["200"]["content"]["text/event-stream"]["schema"] = event();
    problems::complete(&mut document, base_path);
    document
}

/// Returns the schema of one event of the event stream.
fn event() -> Value {
    json!({
        "type": "object",
        "required": ["id", "event", "data"],
        "properties": {
            "id": { "type": "string", "description": "Value for `Last-Event-ID`." },
            "event": { "type": "string", "const": "instance" },
            "data": {
                "type": "string", "contentMediaType": "application/json",
                "contentSchema": { "$ref": "#/components/schemas/WorkshopInstanceResponse" },
            },
        },
    })
}

fn info() -> Value {
    json!({
        "title": "Workshop Launcher",
        "version": env!("CARGO_PKG_VERSION"),
        "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        "description": DESCRIPTION,
    })
}
