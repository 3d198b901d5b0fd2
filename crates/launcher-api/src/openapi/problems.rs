//! Error responses of every operation. Each handler lists its own problems in `x-problems`. This module adds the
//! problems that any request can cause.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::problem::{PROBLEM_JSON, Problem, ProblemCode, ProblemDocument};

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
pub(super) fn complete(document: &mut Value, base_path: &str) {
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
        shared.entry(name).or_insert_with(|| response(&codes, base_path));
    }
}

fn request_id_header() -> Value {
    json!({ "$ref": "#/components/headers/X-Request-Id" })
}

fn response(codes: &[ProblemCode], base_path: &str) -> Value {
    let descriptions: Vec<String> =
        codes.iter().map(|code| format!("`{}`: {}.", code.as_str(), code.title())).collect();
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
    if codes.iter().any(|code| code.retry_after().is_some()) {
        response["headers"]["Retry-After"] = json!({ "$ref": "#/components/headers/Retry-After" });
    }
    response
}

fn example(code: ProblemCode, base_path: &str) -> Value {
    let mut problem = Problem::new(code, code.title());
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
