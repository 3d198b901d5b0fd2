//! The schema of a template as admins send it. The body itself is parsed as the domain's `TemplateDraft`.

mod material;

use std::borrow::Cow;

use launcher_domain::{AppType, AtExpiry, Icon, SecurityProfile, StorageKind};
use serde_json::{Value, json};
use utoipa::openapi::schema::ObjectBuilder;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::launch_parameter::parameters_schema;

/// Declares a type whose only use is its name in the document. The document replaces the placeholder schema by the
/// schema of this module's function, which the builder cannot express.
macro_rules! named_schema {
    ($(#[$about:meta])* $type:ident = $name:literal) => {
        $(#[$about])*
        #[derive(Debug)]
        pub(crate) enum $type {}

        impl PartialSchema for $type {
            fn schema() -> RefOr<Schema> {
                ObjectBuilder::new().into()
            }
        }

        impl ToSchema for $type {
            fn name() -> Cow<'static, str> {
                $name.into()
            }
        }
    };
}

named_schema! {
    /// The name of [`template_body_schema`].
    TemplateBody = "WorkshopTemplateBody"
}
named_schema! {
    /// The name of [`template_replacement_schema`].
    TemplateReplacement = "WorkshopTemplateReplacement"
}
named_schema! {
    /// The name of [`template_patch_schema`].
    TemplatePatch = "WorkshopTemplatePatch"
}

/// Pattern of a name: one line with at least one visible character.
const NAME: &str = r"^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$";
const SLUG: &str = "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$";
const IMAGE: &str = "^[A-Za-z0-9][A-Za-z0-9._/:@+-]*$";
const NO_NUL: &str = r"^[^\x00]*$";
const VARIABLE: &str = "^(?!DISABLE_AUTH$|SERVICE_)[A-Za-z_][A-Za-z0-9_]{0,127}$";
/// Pattern of a Kubernetes quantity above zero: `1.5Gi`, or a fraction as in `0.5Gi`. The unit `m` allows no value
/// below `1m`, such as `0.5m`.
const QUANTITY: &str = concat!(
    r"^(?=0*[1-9])[0-9]{1,15}(\.[0-9]{1,3})?(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$",
    r"|^0{1,15}\.(?=0*[1-9])[0-9]{1,3}(k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$"
);

fn seconds(about: &str, default: u32) -> Value {
    json!({
        "type": ["integer", "null"], "minimum": 60, "maximum": 2_592_000,
        "description": format!("{about}. Default: {default}."), "examples": [default],
    })
}

fn quantity(about: &str, default: &str) -> Value {
    json!({
        "type": ["string", "null"], "pattern": QUANTITY,
        "description": format!("{about}. Default: {default}."), "examples": [default],
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
/// The descriptions state the rules that a schema cannot express: which duration or resource must not exceed another
/// one, and the maximum length of words and values in bytes.
pub(crate) fn template_body_schema() -> Value {
    let mut schema = settings_schema();
    if let (Some(properties), Value::Object(listing)) = (schema["properties"].as_object_mut(), listing_properties()) {
        properties.extend(listing);
    }
    schema
}

fn pod_template() -> Value {
    json!({
        "type": ["object", "null"],
        "description": "Partial Kubernetes PodTemplateSpec of the pod; at most 32 KiB as JSON. It can set only the fields \
                        and names that docs/pod-templates.md lists. Only Kubernetes uses it.",
        "examples": [{ "spec": { "nodeSelector": { "disk": "ssd" } } }],
    })
}

fn storage() -> Value {
    json!({
        "type": ["object", "null"], "additionalProperties": false, "required": ["kind"],
        "description": "Storage of the user's files. null or absent: the files end with the workshop, and on a cluster \
                        also with a crash of the app.",
        "properties": {
            "kind": {
                "type": "string", "enum": StorageKind::ALL.map(StorageKind::as_str),
                "description": "kept: one volume per user and template, which outlives the workshop. home: one volume per \
                                user, for all templates with this kind. workshop: no volume; the files outlive a \
                                crash of the app, and end with the workshop.",
            },
            "size": quantity("Size of a new volume, at least 1Mi. An existing volume keeps its size. Not used for the kind workshop", "1Gi"),
            "path": {
                "type": ["string", "null"], "maxLength": 255, "pattern": "^(/[^:,]+)?$",
                "description": "Directory of the app with the files, without `..`, and not below a \
                                directory of the system. Default: /home/rstudio for rstudio, /home/jovyan for notebook. \
                                Required for custom.",
                "examples": ["/home/jovyan"],
            },
            "at_expiry": {
                "type": "string", "enum": AtExpiry::ALL.map(AtExpiry::as_str), "default": "end",
                "description": "Effect of the expiry. end: the workshop ends. suspend: the workshop is suspended, and its \
                                owner can resume it.",
            },
        },
        "examples": [{ "kind": "kept", "size": "5Gi" }],
    })
}

fn settings_schema() -> Value {
    json!({
        "type": "object",
        "description": "A template as an administrator writes it. Absent fields take their defaults. Unknown fields \
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
                "description": "Port on which the app listens; not 8080 and 8081, which the sidecar uses. Default: \
                                8787 for rstudio, 8888 for notebook. Required for custom.",
            },
            "command": words("Replaces the image's entry point if not empty. Each word has at most 4,096 bytes. \
                              $(PORT) stands for the app's port."),
            "args": words("Replaces the image's arguments if not empty. Each word has at most 4,096 bytes. $(PORT) \
                           stands for the app's port."),
            "env": {
                "type": "object", "maxProperties": 64, "description":
                    "Environment of the app. Each value has at most 32 KiB.",
                "propertyNames": { "pattern": VARIABLE },
                "additionalProperties": { "type": "string", "maxLength": 32_768, "pattern": NO_NUL },
            },
            "resources": {
                "type": "object", "additionalProperties": false,
                "description": "Resources of the container, as Kubernetes quantities. A request cannot exceed its \
                                limit.",
                "properties": {
                    "cpu_request": quantity("CPU request: reserved for the container", "100m"),
                    "cpu_limit": quantity("CPU limit", "2"),
                    "memory_request": quantity("Memory request: reserved for the container", "256Mi"),
                    "memory_limit": quantity("Memory limit", "2Gi"),
                },
            },
            "security_profile": {
                "type": "string", "enum": SecurityProfile::ALL.map(SecurityProfile::as_str),
                "default": SecurityProfile::default().as_str(), "description": "Pod security of the container.",
            },
            "pod_template": pod_template(),
            "storage": storage(),
            "material": material::material(),
            "parameters": parameters_schema(NAME, VARIABLE),
            "lifetime_seconds": seconds("Time from ready to the first expiry; at most max_lifetime_seconds", 7200),
            "extension_seconds": seconds("Maximum that one extension adds; at most max_lifetime_seconds", 3600),
            "max_lifetime_seconds": seconds("Maximum time from ready to the expiry, with all extensions", 28_800),
            "active": { "type": "boolean", "default": true, "description": "True if users can launch it." },
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

/// Returns the schemas of the fields that belong to the catalog and not to the settings of a workshop.
fn listing_properties() -> Value {
    json!({
        "tags": {
            "type": "array", "maxItems": 8, "default": [],
            "items": { "type": "string", "minLength": 1, "maxLength": 30, "pattern": NAME },
            "description": "Tags. Two tags must not be equal, also regardless of case.",
        },
        "icon": {
            "anyOf": [{ "type": "string", "enum": Icon::ALL.map(Icon::as_str) }, { "type": "null" }],
            "description": "Icon in the catalog. Default: the icon of the kind of app.",
        },
        "unlisted": {
            "type": "boolean", "default": false,
            "description": "True if the list of templates omits it for callers who are not admins.",
        },
        "slug": {
            "type": ["string", "null"], "minLength": 2, "maxLength": 40, "pattern": SLUG,
            "description": "Slug of the template's link, unique among all templates.",
            "examples": ["statistics-101"],
        },
    })
}

/// Returns the schema of a template that replaces another one: it may have the read-only fields that the API sends.
pub(crate) fn template_replacement_schema() -> Value {
    let mut schema = template_body_schema();
    for (field, kind) in [
        ("template_id", "string"),
        ("version", "integer"),
        ("created_by", "string"),
        ("created_at", "string"),
        ("updated_at", "string"),
    ] {
        schema["properties"][field] = json!({
            "type": kind, "description": "Read-only. Accepted only with its current value.",
        });
    }
    schema
}

/// Returns the schema of a JSON merge patch of a template: each field is optional, and may be `null`.
pub(crate) fn template_patch_schema() -> Value {
    let mut schema = template_replacement_schema();
    schema["description"] = json!(
        "A JSON merge patch (RFC 7396) of a template. Absent fields do not change. `null` restores a field's default."
    );
    schema["examples"] = json!([{ "description": "Notebooks for the second week.", "env": { "COURSE": null } }]);
    // The patch of a variable may remove it, also a variable that does not exist.
    schema["properties"]["env"] = json!({
        "type": "object", "description": "Variables to set, or to remove by `null`.",
        "additionalProperties": { "type": "string", "maxLength": 32_768, "pattern": NO_NUL },
    });
    nullable(&mut schema["properties"]["env"]["additionalProperties"]);
    if let Some(schema) = schema.as_object_mut() {
        for keyword in ["required", "if", "then"] {
            schema.remove(keyword);
        }
    }
    nullable_properties(&mut schema["properties"]["resources"]);
    nullable_properties(&mut schema);
    schema
}

fn nullable_properties(schema: &mut Value) {
    schema["properties"].as_object_mut().into_iter().flatten().for_each(|(_, property)| nullable(property));
}

/// Changes a schema so that it also accepts `null`.
fn nullable(schema: &mut Value) {
    *schema = json!({ "anyOf": [schema.take(), { "type": "null" }] });
}
