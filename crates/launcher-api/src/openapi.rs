//! The OpenAPI document: collected from the handlers, then completed with the parts that several operations have. Each
//! handler lists in `x-parameters` the shared parameters that are not in its path, and in `x-problems` the problems that
//! do not follow from its parameters and its body.

use std::collections::BTreeMap;

use launcher_domain::InstanceState;
use serde_json::{Map, Value, json};
use utoipa_axum::router::OpenApiRouter;

use crate::extract::{LONGEST_KEY, MAX_LIMIT};
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
    let responses = schemas.as_object_mut().into_iter().flatten().filter(|(name, _)| name.ends_with("Response"));
    responses.for_each(|(_, schema)| complete_response(schema));
    document["paths"]["/events"]["get"]["responses"]["200"]["content"]["text/event-stream"]["schema"] = event();
    document["paths"]["/classes/{class}/news/events"]["get"]["responses"]["200"]["content"]["text/event-stream"]["schema"] = json!({
        "type": "object",
        "required": ["event", "data"],
        "properties": {
            "event": { "type": "string" },
            "data": { "type": "string", "description": "The news as JSON, as `GET /classes/{class}/news` returns them." },
        },
    });
    complete_operations(&mut document, base_path);
    document
}

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

/// Completes the schema of a response: each field is present, and the name of a field tells if it is a time.
fn complete_response(schema: &mut Value) {
    let Some(properties) = schema["properties"].as_object_mut() else { return };
    for (name, property) in properties.iter_mut().filter_map(|(name, property)| Some((name, property.as_object_mut()?)))
    {
        let example = match name.as_str() {
            "k8s_name" => "statistics-101-a7k3m9qz2x",
            "owner_email" | "actor_email" | "created_by" => "alice@example.org",
            "created_at" => "2026-03-02T08:00:00.000Z",
            "started_at" => "2026-03-02T08:00:12.345Z",
            "deleted_after" => "2026-03-09T10:00:00.000Z",
            name if name == "at" || name.ends_with("_at") => "2026-03-02T10:00:12.345Z",
            _ => continue,
        };
        if example.ends_with('Z') {
            property.insert("format".to_owned(), json!("date-time"));
        }
        property.entry("example").or_insert(json!(example));
    }
    let names: Vec<String> = properties.keys().cloned().collect();
    schema["required"] = json!(names);
}

/// Adds the problem schema, the common headers, and the shared parts of each operation.
fn complete_operations(document: &mut Value, base_path: &str) {
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
    for (path, operations) in paths {
        for (method, operation) in operations.as_object_mut().into_iter().flatten() {
            complete_parameters(path, operation);
            complete_headers(operation);
            let codes = problems(path, method, operation);
            complete_problems(operation, codes, base_path, &mut shared);
        }
    }
    document["components"]["responses"] = Value::Object(shared);
}

/// Removes and returns the texts of an extension that a handler has.
fn take(operation: &mut Value, extension: &str) -> Vec<String> {
    let texts = operation.as_object_mut().and_then(|operation| operation.remove(extension)).unwrap_or_default();
    serde_json::from_value(texts).unwrap_or_default()
}

/// Adds the parameters of the path, and those that `x-parameters` names.
fn complete_parameters(path: &str, operation: &mut Value) {
    let in_path = path.split(['{', '}']).skip(1).step_by(2).map(|name| parameter(name, "path"));
    let own = operation["parameters"].take();
    let own = own.as_array().into_iter().flatten().cloned();
    let named = take(operation, "x-parameters");
    let all: Vec<Value> = in_path.chain(own).chain(named.iter().map(|name| parameter(name, "query"))).collect();
    if all.is_empty() {
        operation.as_object_mut().and_then(|operation| operation.remove("parameters"));
    } else {
        operation["parameters"] = json!(all);
    }
}

/// Returns a parameter that several operations have. Its place is the header if its name is capitalised.
fn parameter(name: &str, place: &str) -> Value {
    let text = json!({ "type": "string" });
    let header = json!({ "type": ["string", "null"] });
    let uuid = json!({ "type": "string", "format": "uuid" });
    let (schema, description, example) = match name {
        "class" => (text, "The slug or the identifier of the class.", Some("statistics-101")),
        "code" => (text, "The code of the link.", Some("a7k3m-9qz2x")),
        "email" => (text, "The address of the member, lower-case.", Some("bob@example.org")),
        "k8s_name" => (text, "The instance's name.", Some("statistics-101-a7k3m9qz2x")),
        "snapshot_id" => (uuid, "The snapshot's identifier.", None),
        "template_id" => (uuid, "The template's identifier.", None),
        "volume" => (text, "The volume's name.", Some("work-a7k3m9qz2x")),
        "cursor" => (
            json!({ "type": "string", "pattern": "^[0-9a-f]{32}$" }),
            "Start of the next page, from the `Link` of the previous page.",
            None,
        ),
        "format" => (
            json!({ "type": "string", "enum": ["tar.gz", "zip"] }),
            "Format of the archive. Default: tar.gz. A zip archive with a list of files above 1 MiB ends with an error.",
            None,
        ),
        "limit" => (
            json!({ "type": "integer", "format": "int32", "minimum": 1, "maximum": MAX_LIMIT }),
            "Maximum number of entries. Default: 500.",
            None,
        ),
        "state" => {
            let states = [&["live", "ended", "all"][..], &InstanceState::ALL.map(InstanceState::as_str)].concat();
            let about =
                "live: all states except terminated (default). ended: terminated. all: all states. Or one state.";
            (json!({ "type": "string", "enum": states }), about, None)
        }
        "Idempotency-Key" => (
            json!({ "type": header["type"], "minLength": 1, "maxLength": LONGEST_KEY, "pattern": "^[!-~]+$" }),
            "Makes a launch safe to repeat: the same key of the same caller returns the same instance.",
            None,
        ),
        "If-Match" => (
            header,
            "ETags. If none is current, the request is refused, so that it overwrites no other change. `*` matches any.",
            None,
        ),
        "If-None-Match" => (header, "ETags that the caller has. The response is 304 if one is current.", None),
        _ => (text, "", None),
    };
    let place = if name.starts_with(char::is_uppercase) { "header" } else { place };
    let mut parameter = json!({
        "name": name, "in": place, "required": place == "path", "description": description, "schema": schema,
    });
    if let Some(example) = example {
        parameter["example"] = json!(example);
    }
    parameter
}

fn has_parameter(operation: &Value, is_wanted: impl Fn(&Value) -> bool) -> bool {
    operation["parameters"].as_array().into_iter().flatten().any(is_wanted)
}

/// Adds the headers of the responses. A handler only names `ETag` and `Location`.
fn complete_headers(operation: &mut Value) {
    let is_list = has_parameter(operation, |parameter| parameter["name"] == "limit");
    for (status, response) in operation["responses"].as_object_mut().into_iter().flatten() {
        if is_list && status == "200" {
            response["headers"]["Link"] = json!({
                "description": "`rel=\"next\"`: the next page, if there is one.", "schema": { "type": ["string", "null"] },
            });
        }
        for (name, about) in [("ETag", "The version, for `If-Match`."), ("Location", "The path of the resource.")] {
            if response["headers"].get(name).is_some() {
                response["headers"][name] = json!({ "description": about, "schema": { "type": "string" } });
            }
        }
        response["headers"]["X-Request-Id"] = request_id_header();
    }
}

/// Returns the problems of an operation: those that any request can cause, those that follow from the parameters and the
/// body, and those that `x-problems` names.
fn problems(path: &str, method: &str, operation: &mut Value) -> Vec<ProblemCode> {
    let named = take(operation, "x-problems");
    let has = |is_wanted: fn(&Value) -> bool| has_parameter(operation, is_wanted);
    let is_present = |code: &ProblemCode| match code {
        ProblemCode::MalformedBody
        | ProblemCode::BodyTooLarge
        | ProblemCode::UnsupportedMediaType
        | ProblemCode::InvalidFields => operation.get("requestBody").is_some(),
        ProblemCode::NotFound => has(|parameter| parameter["in"] == "path" && parameter["name"] != "code"),
        ProblemCode::InvalidParameters => {
            has(|parameter| parameter["in"] == "query" || parameter["name"] == "Idempotency-Key")
        }
        ProblemCode::ClassVersionMismatch => {
            has(|parameter| parameter["name"] == "If-Match") && path == "/classes/{class}"
        }
        ProblemCode::VersionMismatch => has(|parameter| parameter["name"] == "If-Match") && path != "/classes/{class}",
        ProblemCode::CrossSiteRequest => method != "get",
        _ => ALWAYS.contains(code),
    };
    let is_named = |code: &ProblemCode| named.iter().any(|name| name == code.as_str());
    ProblemCode::ALL.iter().copied().filter(|code| is_present(code) || is_named(code)).collect()
}

/// Adds the error responses of one operation. Operations with the same problems share one response component.
fn complete_problems(operation: &mut Value, codes: Vec<ProblemCode>, base_path: &str, shared: &mut Map<String, Value>) {
    let mut by_status: BTreeMap<u16, Vec<ProblemCode>> = BTreeMap::new();
    for code in codes {
        by_status.entry(code.status().as_u16()).or_default().push(code);
    }
    let Some(responses) = operation["responses"].as_object_mut() else { return };
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
