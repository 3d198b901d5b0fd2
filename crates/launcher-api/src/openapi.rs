//! The OpenAPI document: collected from the handlers, then completed with the parts common to all operations. Each
//! handler lists its own problems in `x-problems`; this module adds the problems that any request can cause.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use utoipa_axum::router::OpenApiRouter;

use crate::problem::{PROBLEM_JSON, Problem, ProblemCode, ProblemDocument};
use crate::routes;
use crate::routes::classes::class_schemas;
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
        { "name": "classes", "description": "Templates, members and workshops of a course." },
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
    for (name, schema) in template_schemas().into_iter().chain(class_schemas()) {
        schemas[name] = schema;
    }
    document["paths"]["/events"]["get"]["responses"]["200"]["content"]["text/event-stream"]["schema"] = event();
    document["paths"]["/classes/{class}/news/events"]["get"]["responses"]["200"]["content"]["text/event-stream"]["schema"] = json!({
        "type": "object",
        "required": ["event", "data"],
        "properties": {
            "event": { "type": "string" },
            "data": { "type": "string", "description": "The news as JSON, as `GET /classes/{class}/news` returns them." },
        },
    });
    complete_problems(&mut document, base_path);
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

const ALWAYS: [ProblemCode; 8] = [
    ProblemCode::IdentityInvalid,
    ProblemCode::AuthenticationRequired,
    ProblemCode::IdentityUnproven,
    ProblemCode::UnknownHost,
    ProblemCode::TooManyRequests,
    ProblemCode::Internal,
    ProblemCode::Overloaded,
    ProblemCode::Unavailable,
];

/// Adds the problem schema, the problems of each operation, and the common headers.
fn complete_problems(document: &mut Value, base_path: &str) {
    document["components"]["schemas"]["Problem"] = problem_schema();
    document["components"]["headers"] = json!({
        "X-Request-Id": { "description": "The request's id in the service's log.", "required": true,
            "schema": { "type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$" } },
        "Retry-After": { "description": "Seconds after which to try again.", "required": true,
            "schema": { "type": "integer", "minimum": 1 } },
        "WWW-Authenticate": { "description": "The scheme: a browser logs in, and a cookie keeps the session.",
            "required": true, "schema": { "type": "string" } },
    });
    let mut shared = Map::new();
    let Some(paths) = document["paths"].as_object_mut() else { return };
    for (method, operation) in paths.values_mut().filter_map(Value::as_object_mut).flatten() {
        complete_operation(method, operation, base_path, &mut shared);
    }
    document["components"]["responses"] = Value::Object(shared);
}

/// Adds the error responses of one operation. Operations with the same problems share one response component.
fn complete_operation(method: &str, operation: &mut Value, base_path: &str, shared: &mut Map<String, Value>) {
    let named = operation.as_object_mut().and_then(|operation| operation.remove("x-problems")).unwrap_or_default();
    let mut codes: Vec<ProblemCode> = ProblemCode::ALL
        .iter()
        .copied()
        .filter(|code| {
            ALWAYS.contains(code) || named.as_array().is_some_and(|named| named.contains(&json!(code.as_str())))
        })
        .collect();
    if method != "get" {
        codes.push(ProblemCode::CrossSiteRequest);
    }
    let mut by_status: BTreeMap<u16, Vec<ProblemCode>> = BTreeMap::new();
    for code in codes {
        by_status.entry(code.status().as_u16()).or_default().push(code);
    }
    let Some(responses) = operation["responses"].as_object_mut() else { return };
    for response in responses.values_mut() {
        response["headers"]["X-Request-Id"] = request_id_header();
    }
    for (status, codes) in by_status {
        let names: Vec<&str> = codes.iter().map(|code| code.as_str()).collect();
        let name = format!("{status}.{}", names.join("."));
        responses.insert(status.to_string(), json!({ "$ref": format!("#/components/responses/{name}") }));
        shared.entry(name).or_insert_with(|| problem_response(&codes, base_path));
    }
}

fn request_id_header() -> Value {
    json!({ "$ref": "#/components/headers/X-Request-Id" })
}

fn problem_response(codes: &[ProblemCode], base_path: &str) -> Value {
    let descriptions: Vec<String> =
        codes.iter().map(|code| format!("`{}`: {}.", code.as_str(), code.entry().title)).collect();
    let examples: Map<String, Value> =
        codes.iter().map(|code| (code.as_str().to_owned(), json!({ "value": example(*code, base_path) }))).collect();
    let mut response = json!({
        "description": descriptions.join(" "),
        "headers": { "X-Request-Id": request_id_header() },
        "content": { PROBLEM_JSON: {
            "schema": { "allOf": [
                { "$ref": "#/components/schemas/Problem" },
                { "properties": {
                    "code": { "enum": codes.iter().map(|code| code.as_str()).collect::<Vec<_>>() },
                    "status": { "const": codes.first().map(|code| code.status().as_u16()) },
                }},
            ]},
            "examples": examples,
        }},
    });
    if codes.contains(&ProblemCode::AuthenticationRequired) {
        response["headers"]["WWW-Authenticate"] = json!({ "$ref": "#/components/headers/WWW-Authenticate" });
    }
    if codes.iter().any(|code| code.entry().retry_after.is_some()) {
        response["headers"]["Retry-After"] = json!({ "$ref": "#/components/headers/Retry-After" });
    }
    response
}

fn example(code: ProblemCode, base_path: &str) -> Value {
    let mut problem = Problem::new(code, code.entry().title);
    if code == ProblemCode::AuthenticationRequired {
        problem = problem.login_at("/oauth2/start".to_owned());
    }
    serde_json::to_value(ProblemDocument::new(&problem, base_path, "b9e1a4c07d52")).unwrap_or_default()
}

fn problem_schema() -> Value {
    json!({
        "type": "object",
        "description": "An error (RFC 9457).",
        "required": ["type", "title", "status", "detail", "code"],
        "additionalProperties": false,
        "properties": {
            "type": { "type": "string", "format": "uri-reference", "description": "URL of the code's explanation." },
            "title": { "type": "string", "description": "The kind of problem." },
            "status": { "type": "integer", "minimum": 400, "maximum": 599 },
            "detail": { "type": "string", "description": "The error in this request, and how to correct it." },
            "code": { "type": "string", "enum": ProblemCode::ALL.iter().map(|code| code.as_str()).collect::<Vec<_>>() },
            "request_id": { "type": "string", "description": "The value of `X-Request-Id`. Absent from `not-found`." },
            "login_url": { "type": "string", "format": "uri-reference", "description": "With 401: the URL to log in." },
            "errors": { "type": "array", "description": "With 422: each invalid field or parameter.", "items": {
                "type": "object", "required": ["pointer", "detail"], "additionalProperties": false,
                "properties": {
                    "pointer": { "type": "string", "format": "json-pointer" },
                    "detail": { "type": "string" },
                },
            }},
        },
    })
}
