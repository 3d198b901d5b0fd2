//! The OpenAPI document: collected from the handlers, then completed with the parts common to all operations.

mod problems;

use std::borrow::Cow;

use launcher_domain::InstanceState;
use serde_json::{Value, json};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};
use utoipa_axum::router::OpenApiRouter;

use crate::routes;
use crate::wire::template_body_schema;

/// The values of the parameter `state`.
#[derive(Debug)]
pub(crate) enum StateParameter {}

impl PartialSchema for StateParameter {
    fn schema() -> RefOr<Schema> {
        let names = ["live", "ended", "all"].into_iter().chain(InstanceState::ALL.map(InstanceState::as_str));
        ObjectBuilder::new().schema_type(Type::String).enum_values(Some(names)).into()
    }
}

impl ToSchema for StateParameter {
    fn name() -> Cow<'static, str> {
        "StateParameter".into()
    }
}

/// Returns the OpenAPI 3.1 document of the API under a base path.
#[must_use]
pub fn openapi(base_path: &str) -> Value {
    let documented = routes::documented().into_iter().fold(OpenApiRouter::default(), OpenApiRouter::routes);
    let mut document = serde_json::to_value(documented.into_openapi()).unwrap_or_default();
    document["openapi"] = json!("3.1.0");
    document["info"] = info();
    document["servers"] = json!([{ "url": base_path }]);
    document["tags"] = json!([
        { "name": "caller", "description": "Who is calling." },
        { "name": "instances", "description": "Launched workshops." },
        { "name": "templates", "description": "The catalog of what can be launched." },
        { "name": "activity", "description": "Who did what." },
        { "name": "reference", "description": "What the API says about itself." },
    ]);
    document["security"] = json!([{ "loginProxy": [] }]);
    document["components"]["securitySchemes"] = json!({ "loginProxy": {
        "type": "apiKey", "in": "header", "name": "X-Auth-Request-Email",
        "description": "Set by the login proxy, never by a client: the proxy takes it off every request from outside.",
    }});
    document["components"]["schemas"]["WorkshopTemplateBody"] = template_body_schema();
    document["paths"]["/events"]["get"]["responses"]["200"]["content"]["text/event-stream"]["schema"] = event();
    problems::complete(&mut document, base_path);
    document
}

/// Returns the schema of one event of the stream.
fn event() -> Value {
    json!({
        "type": "object",
        "required": ["id", "event", "data"],
        "properties": {
            "id": { "type": "string", "description": "For `Last-Event-ID`." },
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
        "description": "Launches short-lived workshops from a shared catalog.\n\nJSON, snake_case, times in RFC 3339 \
                        (UTC), durations in seconds. A path works with and without a slash at its end, and HEAD \
                        wherever GET does. Lists are arrays, newest first; a `Link` with `rel=\"next\"` announces \
                        more. Errors are problem documents (RFC 9457); see `/problems`. Every answer names its \
                        request in `X-Request-Id`.",
    })
}
