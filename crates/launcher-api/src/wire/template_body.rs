//! The schema of a template as admins send it. The body itself is parsed as the domain's `TemplateDraft`.

use std::borrow::Cow;

use launcher_domain::{AppType, SecurityProfile};
use serde_json::{Value, json};
use utoipa::openapi::schema::ObjectBuilder;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// The name of [`template_body_schema`] in the document.
#[derive(Debug)]
pub(crate) enum TemplateBody {}

impl PartialSchema for TemplateBody {
    /// A placeholder: the document uses [`template_body_schema`], which the builder cannot express.
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().into()
    }
}

impl ToSchema for TemplateBody {
    fn name() -> Cow<'static, str> {
        "WorkshopTemplateBody".into()
    }
}

/// One line with at least one visible character.
const NAME: &str = r"^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$";
const IMAGE: &str = "^[A-Za-z0-9][A-Za-z0-9._/:@+-]*$";
const NO_NUL: &str = r"^[^\x00]*$";
const VARIABLE: &str = "^(?!DISABLE_AUTH$|SERVICE_)[A-Za-z_][A-Za-z0-9_]{0,127}$";
/// An amount above zero: a whole part above zero, or only a fraction. The latter excludes `m`: it would be below one.
const QUANTITY: &str = concat!(
    r"^(?=0*[1-9])[0-9]{1,15}(\.[0-9]{1,3})?(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$",
    r"|^0{1,15}\.(?=0*[1-9])[0-9]{1,3}(k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$"
);

fn seconds(about: &str, default: u32) -> Value {
    json!({
        "type": ["integer", "null"], "minimum": 60, "maximum": 2_592_000,
        "description": format!("{about}; {default} when left out."), "examples": [default],
    })
}

fn quantity(about: &str, default: &str) -> Value {
    json!({
        "type": ["string", "null"], "pattern": QUANTITY,
        "description": format!("{about}; {default} when left out."), "examples": [default],
    })
}

fn words(about: &str) -> Value {
    json!({
        "type": "array", "maxItems": 64, "description": about,
        "items": { "type": "string", "maxLength": 4096, "pattern": NO_NUL },
    })
}

/// Returns the schema of a template as admins send it (JSON Schema 2020-12).
///
/// Descriptions state the rules that a schema cannot express: the order of durations and of resources, and lengths in
/// bytes of words and values.
pub(crate) fn template_body_schema() -> Value {
    json!({
        "type": "object",
        "description": "A template as an administrator writes it. What is left out takes its default; unknown fields \
                        are refused.",
        "additionalProperties": false,
        "required": ["name", "app_type", "image"],
        "if": { "properties": { "app_type": { "const": AppType::Custom.as_str() } } },
        "then": { "required": ["port"], "properties": { "port": { "type": "integer" } } },
        "properties": {
            "name": { "type": "string", "minLength": 1, "maxLength": 80, "pattern": NAME, "description": "One line." },
            "description": {
                "type": "string", "maxLength": 4000, "pattern": NO_NUL, "default": "", "description": "Markdown.",
            },
            "app_type": {
                "type": "string", "enum": AppType::ALL.map(AppType::as_str), "description": "The kind of app.",
            },
            "image": {
                "type": "string", "minLength": 1, "maxLength": 255, "pattern": IMAGE,
                "description": "An image reference.",
            },
            "port": {
                "type": ["integer", "null"], "minimum": 1, "maximum": 65535, "not": { "enum": [8080, 8081] },
                "description": "Where the app listens, not the sidecar's 8080 and 8081. When left out: 8787 for \
                                rstudio, 8888 for notebook; required for custom.",
            },
            "command": words("Replaces the image's entry point when not empty; each word has at most 4,096 bytes, and \
                              $(PORT) in it is where the app listens."),
            "args": words("Replaces the image's arguments when not empty; each word has at most 4,096 bytes, and \
                              $(PORT) in it is where the app listens."),
            "env": {
                "type": "object", "maxProperties": 64, "description": "Environment of the app; each value has at most 32 KiB.",
                "propertyNames": { "pattern": VARIABLE },
                "additionalProperties": { "type": "string", "maxLength": 32_768, "pattern": NO_NUL },
            },
            "resources": {
                "type": "object", "additionalProperties": false,
                "description": "What the container may use, as Kubernetes quantities. A request is at most its limit.",
                "properties": {
                    "cpu_request": quantity("CPU that is set aside", "100m"),
                    "cpu_limit": quantity("CPU at most", "2"),
                    "memory_request": quantity("Memory that is set aside", "256Mi"),
                    "memory_limit": quantity("Memory at most", "2Gi"),
                },
            },
            "security_profile": {
                "type": "string", "enum": SecurityProfile::ALL.map(SecurityProfile::as_str),
                "default": SecurityProfile::default().as_str(), "description": "How tightly the container is held.",
            },
            "lifetime_seconds": seconds("From ready to the first expiry, at most max_lifetime_seconds", 7200),
            "extension_seconds": seconds("What one extension adds, at most max_lifetime_seconds", 3600),
            "max_lifetime_seconds": seconds("From ready to the end that no extension passes", 28_800),
            "active": { "type": "boolean", "default": true, "description": "Whether users see it in the catalog." },
        },
        "examples": [{
            "name": "Statistics 101",
            "description": "Notebooks for the **first** week.",
            "app_type": "notebook",
            "image": "quay.io/jupyter/base-notebook:latest",
            "env": { "COURSE": "stats-101" },
            "resources": { "memory_limit": "4Gi" },
            "lifetime_seconds": 7200,
        }],
    })
}
