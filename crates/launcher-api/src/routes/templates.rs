//! `/templates/`: the catalog.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::header::{ETAG, LOCATION};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use jiff::Timestamp;
use launcher_domain::lifetime::{Bound, ExtensionOutcome};
use launcher_domain::template::MaterialSource;
use launcher_domain::{
    Audience, EmailAddress, FieldError, FieldRule, Instance, JsonObject, Listing, MaterialFinding, Template,
    TemplateContent, TemplateSettings,
};
use launcher_service::{Catalog, Extension, ImageState, LaunchRequest, ServiceError, TemplateUpdate};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa_axum::routes;
use uuid::Uuid;

use crate::admission::MAX_BODY_BYTES;
use crate::extract::{
    IfMatch, Json as Body, ListQuery, MergePatch, OptionalJson, RequestBody, TemplateId, escaped, etag,
    idempotency_key, is_unchanged, list_page,
};
use crate::permission::{Allowed, ManageTemplates, ManageWorkshops};
use crate::problem::{Problem, ProblemCode};
use crate::routes::Routes;
use crate::routes::instances::{ReasonResponse, WorkshopInstanceResponse};
use crate::state::Call;
use crate::wire::{LaunchBody, named_schema, rfc3339};

pub(crate) type Launched = (StatusCode, [(HeaderName, String); 1], Json<WorkshopInstanceResponse>);
pub(super) type Changed = ([(HeaderName, HeaderValue); 1], Json<WorkshopTemplateResponse>);

/// Number of attempts if another request changes the template between reading and writing it.
const ATTEMPTS: usize = 5;

pub(super) fn routes() -> Routes {
    vec![
        routes!(list_templates, create_template),
        routes!(read_template, update_template, patch_template, archive_template),
        routes!(launch_template),
        routes!(extend_template),
        routes!(apply_maximum),
        routes!(check_material),
        routes!(read_template_image),
        routes!(pull_template_image),
    ]
}

/// List templates
///
/// Every user may call it. Users get the active templates that are not unlisted, admins get all templates. Newest first.
/// `command`, `args` and `env` are empty unless the caller is an admin.
#[utoipa::path(get, path = "/templates/", operation_id = "listTemplates", tag = "templates",
    responses((status = 200, description = "A page of templates.", body = [WorkshopTemplateResponse])),
    extensions(("x-parameters" = json!(["limit", "cursor"]))))]
pub(crate) async fn list_templates(
    call: Call,
    manager: Result<Allowed<ManageTemplates>, Problem>,
    mut query: ListQuery,
) -> Result<Response, Problem> {
    let page = query.page()?;
    let path = query.finish(&call, "/templates/")?;
    let rows = call.launcher.templates(&call.caller, &page).await?;
    let response = |template| WorkshopTemplateResponse::new(template, manager.is_ok());
    Ok(list_page(rows, &page, &path, |template| template.template_id, response))
}

/// Create a template
///
/// Only admins may call it.
#[utoipa::path(post, path = "/templates/", operation_id = "createTemplate", tag = "templates",
    request_body = TemplateBody,
    responses((status = 201, description = "The new template.", body = WorkshopTemplateResponse, headers(("Location"),
            ("ETag")))), extensions(("x-problems" = json!([ProblemCode::AdminOnly]))))]
pub(crate) async fn create_template(
    manager: Allowed<ManageTemplates>,
    Body(body): Body<JsonObject>,
) -> Result<Response, Problem> {
    let template = manager.launcher.create_template(&manager.caller, &body).await?;
    let location = manager.api_path(&format!("/templates/{}", template.template_id));
    Ok((StatusCode::CREATED, [(LOCATION, location)], changed(template, true)).into_response())
}

/// Read a template
///
/// Every user may read every template, also an archived or unlisted one. `command`, `args` and `env` are empty unless the
/// caller is an admin.
#[utoipa::path(get, path = "/templates/{template_id}", operation_id = "readTemplate", tag = "templates",
    responses((status = 200, description = "The template.", body = WorkshopTemplateResponse, headers(("ETag"))),
        (status = 304, description = "The caller has the current version.", headers(("ETag")))),
    extensions(("x-parameters" = json!(["If-None-Match"]))))]
pub(crate) async fn read_template(
    call: Call,
    manager: Result<Allowed<ManageTemplates>, Problem>,
    TemplateId(id): TemplateId,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let template = call.launcher.template(&call.caller, id).await?;
    if is_unchanged(&headers, template.version) {
        return Ok((StatusCode::NOT_MODIFIED, [(ETAG, etag(template.version))]).into_response());
    }
    Ok(changed(template, manager.is_ok()).into_response())
}

/// Replace a template
///
/// Only admins may call it. Fields that are absent from the body take their defaults. The body may be a template as it
/// was read: read-only fields with their current values are ignored. Running workshops do not change.
#[utoipa::path(put, path = "/templates/{template_id}", operation_id = "updateTemplate", tag = "templates",
    request_body = TemplateReplacement,
    responses((status = 200, description = "The changed template.", body = WorkshopTemplateResponse,
            headers(("ETag")))),
    extensions(("x-parameters" = json!(["If-Match"])), ("x-problems" = json!([ProblemCode::AdminOnly]))))]
pub(crate) async fn update_template(
    manager: Allowed<ManageTemplates>,
    TemplateId(id): TemplateId,
    if_match: IfMatch,
    Body(mut body): Body<JsonObject>,
) -> Result<Changed, Problem> {
    let mut expected_version = if_match.expected_version(&manager, id).await?;
    if READ_ONLY.iter().any(|field| body.contains_key(field.0)) {
        let current = manager.launcher.template(&manager.caller, id).await?;
        expected_version = written_version(&mut body, current, expected_version)?;
    }
    let update = TemplateUpdate { body, expected_version };
    Ok(changed(manager.launcher.update_template(&manager.caller, id, update).await?, true))
}

/// Change fields of a template
///
/// Only admins may call it. The body is a JSON merge patch (RFC 7396): absent fields do not change, and `null` restores
/// the default of a field or removes a variable of `env`. Running workshops do not change.
#[utoipa::path(patch, path = "/templates/{template_id}", operation_id = "patchTemplate", tag = "templates",
    request_body(content = TemplatePatch, content_type = "application/merge-patch+json"),
    responses((status = 200, description = "The changed template.", body = WorkshopTemplateResponse,
            headers(("ETag")))),
    extensions(("x-parameters" = json!(["If-Match"])), ("x-problems" = json!([ProblemCode::AdminOnly]))))]
pub(crate) async fn patch_template(
    manager: Allowed<ManageTemplates>,
    TemplateId(id): TemplateId,
    if_match: IfMatch,
    MergePatch(patch): MergePatch,
) -> Result<Changed, Problem> {
    let required = if_match.expected_version(&manager, id).await?;
    for _ in 0..ATTEMPTS {
        let before = manager.launcher.template(&manager.caller, id).await?;
        let expected_version = Some(required.unwrap_or(before.version));
        let update = TemplateUpdate { body: patched(&before, patch.clone())?, expected_version };
        match manager.launcher.update_template(&manager.caller, id, update).await {
            Err(ServiceError::VersionMismatch) if required.is_none() => {}
            outcome => return Ok(changed(outcome?, true)),
        }
    }
    Err(ServiceError::VersionMismatch.into())
}

/// Returns a template with its ETag. Only people who may manage it get all settings.
pub(super) fn changed(template: Template, shows_all: bool) -> Changed {
    ([(ETAG, etag(template.version))], Json(WorkshopTemplateResponse::new(template, shows_all)))
}

/// Removes the read-only fields from a body that replaces a template, and returns the version that it changes: the
/// expected one, or the current one if the body has the version or the time of the last change.
pub(super) fn written_version(
    body: &mut JsonObject,
    current: Template,
    expected: Option<i64>,
) -> Result<Option<i64>, Problem> {
    let names_version = ["version", "updated_at"].iter().any(|field| body.contains_key(*field));
    let version = expected.or_else(|| names_version.then_some(current.version));
    remove_read_only(body, &json!(WorkshopTemplateResponse::new(current, true)))?;
    Ok(version)
}

/// Applies a patch to the fields that an admin can write.
fn patched(before: &Template, mut patch: JsonObject) -> Result<JsonObject, Problem> {
    remove_read_only(&mut patch, &json!(WorkshopTemplateResponse::new(before.clone(), true)))?;
    let mut body = Value::Object(TemplateContent::from(before).to_json());
    check_names(&body, &patch)?;
    json_patch::merge(&mut body, &Value::Object(patch));
    // Several small patches must not build a template that is too large to send as a whole.
    if body.to_string().len() > MAX_BODY_BYTES {
        let detail = format!("The changed template would be larger than {} KiB.", MAX_BODY_BYTES / 1024);
        return Err(Problem::new(ProblemCode::BodyTooLarge, detail));
    }
    if let Value::Object(body) = body { Ok(body) } else { Ok(JsonObject::new()) }
}

/// Refuses unknown fields with the value `null`. A merge removes them, so the later check of the fields cannot see them.
fn check_names(body: &Value, patch: &JsonObject) -> Result<(), Problem> {
    let unknown = |known: &Value, patch: &JsonObject, start: &str| -> Vec<FieldError> {
        let names = patch.keys().filter(|name| known.get(name.as_str()).is_none());
        let pointer = |name: &String| format!("{start}/{}", escaped(name));
        let fields = known.as_object().into_iter().flatten().map(|(name, _)| &**name).collect::<Vec<_>>().join(", ");
        let rule = || FieldRule::FieldUnknown { fields: fields.clone() };
        names.map(|name| FieldError::new(pointer(name), rule())).collect()
    };
    let mut errors = unknown(body, patch, "");
    if let Some(Value::Object(resources)) = patch.get("resources") {
        errors.extend(unknown(&body["resources"], resources, "/resources"));
    }
    if errors.is_empty() { Ok(()) } else { Err(Problem::invalid_fields(errors)) }
}

/// Archive a template
///
/// Only admins may call it. Removes the template from the catalog. Running workshops keep running. A repeated request
/// changes nothing. A PUT with `"active": true` restores the template.
#[utoipa::path(delete, path = "/templates/{template_id}", operation_id = "archiveTemplate", tag = "templates",
    responses((status = 204, description = "The template is archived.")),
    extensions(("x-parameters" = json!(["If-Match"])), ("x-problems" = json!([ProblemCode::AdminOnly]))))]
pub(crate) async fn archive_template(
    call: Allowed<ManageTemplates>,
    TemplateId(id): TemplateId,
    if_match: IfMatch,
) -> Result<StatusCode, Problem> {
    let expected_version = if_match.expected_version(&call, id).await?;
    call.launcher.archive_template(&call.caller, id, expected_version).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Launch a template
///
/// Creates an instance in state queued, which the caller owns, and responds at once. Every user may
/// launch an active template, also an unlisted one. Only admins may launch archived templates, to test them. A
/// repository is refused unless its URL begins with an address that the template allows.
#[utoipa::path(post, path = "/templates/{template_id}/launch", operation_id = "launchTemplate", tag = "templates",
    request_body(content = Option<LaunchBody>, description = "Optional, unless a parameter needs a value."),
    responses((status = 201, description = "The new instance.", body = WorkshopInstanceResponse, headers(("Location"))),
        (status = 200, description = "The instance that an earlier launch with the same key created.",
            body = WorkshopInstanceResponse, headers(("Location")))),
    extensions(("x-parameters" = json!(["Idempotency-Key"])),
        ("x-problems" = json!([ProblemCode::TemplateInactive, ProblemCode::InstanceLimitReached,
            ProblemCode::VolumeInUse, ProblemCode::StorageLimitReached, ProblemCode::IdempotencyKeyReused,
            ProblemCode::TooManyLaunches, ProblemCode::AtCapacity, ProblemCode::SnapshotsUnavailable]))))]
pub(crate) async fn launch_template(
    call: Call,
    TemplateId(id): TemplateId,
    headers: HeaderMap,
    OptionalJson(body): OptionalJson<LaunchBody>,
) -> Result<Launched, Problem> {
    launch(&call, (&call.caller).into(), id, &headers, body).await
}

pub(crate) async fn launch(
    call: &Call,
    catalog: Catalog<'_>,
    id: Uuid,
    headers: &HeaderMap,
    LaunchBody { repository, snapshot, parameters }: LaunchBody,
) -> Result<Launched, Problem> {
    let mut body = repository.as_ref().map_or_else(|| json!({}), |repository| json!({ "repository": repository }));
    if let Some(snapshot) = snapshot {
        body["snapshot"] = json!(snapshot);
    }
    // A request without a body counts as one with an empty object: requests with the same key must have the same body.
    let idempotency_key = idempotency_key(headers)?;
    let request = LaunchRequest { idempotency_key, repository, snapshot, body, parameters: parameters.0 };
    let launched = call.launcher.launch(catalog, id, &request).await?;
    let status = if launched.created { StatusCode::CREATED } else { StatusCode::OK };
    let location = call.api_path(&format!("/instances/{}", launched.listed.instance.k8s_name));
    let body = WorkshopInstanceResponse::new(&call.launcher, &launched.listed);
    Ok((status, [(LOCATION, location)], Json(body)))
}

/// Extend all running instances of a template
///
/// Only admins may call it. Extends each running instance until `until`, but not beyond its
/// `extension.latest_expires_at`, unless `beyond_maximum` is true. No instance expires earlier than before. A repeated request changes nothing. If a
/// request fails, some instances may already be extended: repeat the request.
#[utoipa::path(post, path = "/templates/{template_id}/extend", operation_id = "extendClass", tag = "templates",
    request_body = ExtendAllBody,
    responses((status = 200, description = "The result for each running instance, newest first.",
            body = [ExtendedInstanceResponse])), extensions(("x-problems" = json!([ProblemCode::AdminOnly]))))]
pub(crate) async fn extend_template(
    call: Allowed<ManageWorkshops>,
    TemplateId(id): TemplateId,
    Body(ExtendAllBody { until, beyond_maximum }): Body<ExtendAllBody>,
) -> Result<Json<Vec<ExtendedInstanceResponse>>, Problem> {
    let results = call.launcher.extend_template(&call.caller, id, until, Bound::new(beyond_maximum)).await?;
    Ok(Json(results.into_iter().map(ExtendedInstanceResponse::from).collect()))
}

/// Apply a template's maximum lifetime to its instances
///
/// Only admins may call it. A change of `max_lifetime_seconds` does not change instances that were launched before. This
/// request applies the current value to each instance that has not ended and has a smaller one. No `expires_at` changes. A
/// repeated request changes nothing. If a request fails, some instances may already be changed: repeat the request.
#[utoipa::path(post, path = "/templates/{template_id}/apply-maximum", operation_id = "applyMaximumLifetime",
    tag = "templates",
    responses((status = 200, description = "The changed instances, newest first.", body = [RaisedMaximumResponse])),
    extensions(("x-problems" = json!([ProblemCode::AdminOnly]))))]
pub(crate) async fn apply_maximum(
    call: Allowed<ManageWorkshops>,
    TemplateId(id): TemplateId,
) -> Result<Json<Vec<RaisedMaximumResponse>>, Problem> {
    let changed = call.launcher.apply_maximum(&call.caller, id).await?;
    let response = |instance: Instance| RaisedMaximumResponse {
        max_lifetime_seconds: instance.max_lifetime_seconds(),
        k8s_name: instance.k8s_name,
        owner_email: instance.owner_email.to_string(),
    };
    Ok(Json(changed.into_iter().map(response).collect()))
}

/// An instance with a larger maximum lifetime than before.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RaisedMaximumResponse {
    /// Name of the instance in paths.
    k8s_name: String,
    /// Person who launched the instance.
    owner_email: String,
    /// The new maximum lifetime.
    #[schema(example = 36000)]
    max_lifetime_seconds: u32,
}

/// An extension of all running instances of a template.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExtendAllBody {
    /// Time until which the instances are extended.
    #[schema(value_type = String, format = DateTime, example = "2026-03-02T12:30:00Z")]
    pub(crate) until: Timestamp,
    /// True: extend the instances also beyond their maximum lifetime, up to 30 days after `started_at`. The activity log
    /// records by how much each maximum is exceeded.
    #[serde(default)]
    pub(crate) beyond_maximum: bool,
}

impl RequestBody for ExtendAllBody {}

/// Check a source of course material
///
/// Only admins may call it. Loads a public source without placing its files, as a workshop would, and within the same rules
/// of the network. The response says what was found, or why the source was not found. A check takes at most 30 seconds. A
/// source with more than 256 MiB is found without its number of files.
#[utoipa::path(post, path = "/templates/check-material", operation_id = "checkMaterial", tag = "templates",
    request_body = MaterialCheckBody,
    responses((status = 200, description = "The result.", body = MaterialCheckResponse)),
    extensions(("x-problems" = json!([ProblemCode::AdminOnly, ProblemCode::FleetWithoutChecks,
            ProblemCode::TooManyChecks]))))]
pub(crate) async fn check_material(
    call: Allowed<ManageTemplates>,
    Body(body): Body<JsonObject>,
) -> Result<Json<MaterialCheckResponse>, Problem> {
    let source = MaterialSource::read_to_check(&body).map_err(Problem::invalid_fields)?;
    let found = call.launcher.check_sources(&call.caller, &[source]).await?.pop().unwrap_or_default();
    Ok(Json(found.into()))
}

/// Result of the check of a source.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MaterialCheckResponse {
    /// True if the source was found.
    found: bool,
    /// Branch or tag of a repository; null for an archive, or if the server does not say the default branch.
    #[schema(example = "main")]
    r#ref: Option<String>,
    /// Commit id of a repository, or SHA-256 of an archive; null if the source was not found.
    #[schema(example = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")]
    version: Option<String>,
    /// Number of files; null if the source was not found, or is too large for a check.
    #[schema(example = 12)]
    files: Option<u64>,
    /// Bytes of all files; null if `files` is null.
    #[schema(example = 34567)]
    bytes: Option<u64>,
    /// Why the source was not found, in English; null if it was found.
    message: Option<String>,
}

impl From<MaterialFinding> for MaterialCheckResponse {
    fn from(finding: MaterialFinding) -> Self {
        let found = finding.is_found();
        let MaterialFinding { reference, version, files, bytes, message } = finding;
        Self { found, r#ref: reference, version, files, bytes, message }
    }
}

/// Read the state of a template's image
///
/// Only admins may call it. Says if the image is on the server of the container fleet, so that a launch needs no
/// download. Other fleets do not manage images.
#[utoipa::path(get, path = "/templates/{template_id}/image", operation_id = "readTemplateImage", tag = "templates",
    responses((status = 200, description = "The state of the image.", body = TemplateImageResponse)),
    extensions(("x-problems" = json!([ProblemCode::AdminOnly, ProblemCode::FleetWithoutImages]))))]
pub(crate) async fn read_template_image(
    call: Allowed<ManageTemplates>,
    TemplateId(id): TemplateId,
) -> Result<Json<TemplateImageResponse>, Problem> {
    Ok(Json(call.launcher.image_state(&call.caller, id).await?.into()))
}

/// Pull a template's image ahead of a launch
///
/// Only admins may call it. The container fleet pulls the image in the background: follow its state with a GET of
/// `/templates/{template_id}/image`. A repeated request changes nothing while the image is being pulled, or if it is
/// ready. Other fleets do not manage images.
#[utoipa::path(post, path = "/templates/{template_id}/image/pull", operation_id = "pullTemplateImage",
    tag = "templates",
    responses((status = 202, description = "The state of the image after the request.", body = TemplateImageResponse)),
    extensions(("x-problems" = json!([ProblemCode::AdminOnly, ProblemCode::FleetWithoutImages]))))]
pub(crate) async fn pull_template_image(
    call: Allowed<ManageTemplates>,
    TemplateId(id): TemplateId,
) -> Result<(StatusCode, Json<TemplateImageResponse>), Problem> {
    let image = call.launcher.pull_image(&call.caller, id).await?;
    Ok((StatusCode::ACCEPTED, Json(image.into())))
}

/// Fields of a template that only the service sets: name, and schema in a response. A client may send them back as it
/// has read them.
const READ_ONLY: [(&str, &str, &str, &str); 5] = [
    ("template_id", "string", "uuid", "The identifier in paths."),
    ("version", "integer", "int64", "Starts at 1 and increases with each change. The ETag contains it."),
    ("created_by", "string", "email", "The admin who created the template. For information only."),
    ("created_at", "string", "date-time", "Time of the template's creation."),
    ("updated_at", "string", "date-time", "Time of the template's last change."),
];

/// Removes the read-only fields from a body. `current` is the template as the API sends it.
///
/// # Errors
/// 422 if a read-only field differs from the current value.
fn remove_read_only(body: &mut JsonObject, current: &Value) -> Result<(), Problem> {
    let mut errors = Vec::new();
    for (field, ..) in READ_ONLY {
        if body.remove(field).is_some_and(|sent| sent != current[field]) {
            errors.push(FieldError::new(format!("/{field}"), FieldRule::ReadOnly));
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(Problem::invalid_fields(errors)) }
}

/// A shared catalog entry, as the API sends it. Times are RFC 3339 in UTC with milliseconds, durations in seconds.
#[derive(Debug, Serialize)]
pub(crate) struct WorkshopTemplateResponse {
    template_id: Uuid,
    #[serde(flatten)]
    settings: TemplateSettings,
    #[serde(flatten)]
    listing: Listing,
    active: bool,
    version: i64,
    created_by: EmailAddress,
    created_at: String,
    updated_at: String,
}

impl WorkshopTemplateResponse {
    /// Converts a template. Only people who may manage it get all settings.
    pub(crate) fn new(template: Template, shows_all: bool) -> Self {
        let Template {
            template_id,
            settings,
            listing,
            active,
            version,
            created_by,
            created_at,
            updated_at,
            class_id: _,
        } = template;
        let settings = if shows_all { settings } else { settings.public() };
        let (created_at, updated_at) = (rfc3339(created_at), rfc3339(updated_at));
        Self { template_id, settings, listing, active, version, created_by, created_at, updated_at }
    }
}

named_schema!(WorkshopTemplateResponse = "WorkshopTemplateResponse");
named_schema!(type TemplateBody = "WorkshopTemplateBody");
named_schema!(type TemplateReplacement = "WorkshopTemplateReplacement");
named_schema!(type TemplatePatch = "WorkshopTemplatePatch");
named_schema!(type MaterialCheckBody = "MaterialCheckBody");

pub(crate) fn template_schemas() -> [(&'static str, Value); 5] {
    [
        ("MaterialCheckBody", MaterialSource::schema_to_check()),
        ("WorkshopTemplateResponse", response_schema()),
        ("WorkshopTemplateBody", body_schema()),
        ("WorkshopTemplateReplacement", replacement_schema()),
        ("WorkshopTemplatePatch", patch_schema()),
    ]
}

fn response_schema() -> Value {
    let mut schema = TemplateContent::schema(Audience::Response);
    schema["description"] =
        json!("A shared catalog entry. Times are RFC 3339 in UTC with milliseconds, durations in seconds.");
    with_read_only(schema, &READ_ONLY)
}

/// Adds the fields that only the service sets to the schema of a response.
pub(super) fn with_read_only(mut schema: Value, fields: &[(&str, &str, &str, &str)]) -> Value {
    for (field, kind, format, about) in fields {
        schema["properties"][field] = json!({ "type": kind, "format": format, "description": about });
    }
    schema
}

/// Returns the schema of a template as admins send it.
fn body_schema() -> Value {
    let mut schema = TemplateContent::schema(Audience::Request);
    schema["description"] = json!(
        "A template as an administrator writes it. Absent fields take their defaults. Unknown fields are refused."
    );
    schema["if"] = json!({ "properties": { "app_type": { "const": "custom" } } });
    schema["then"] = json!({ "required": ["port"], "properties": { "port": { "type": "integer" } } });
    schema["examples"] = json!([{
        "name": "Statistics 101",
        "description": "Notebooks for the **first** week.",
        "app_type": "notebook",
        "image": "quay.io/jupyter/base-notebook:latest",
        "env": { "COURSE": "stats-101" },
        "resources": { "memory_limit": "4Gi" },
        "lifetime_seconds": 7200,
    }]);
    schema
}

/// Returns the schema of a template that replaces another one: it may have the read-only fields that the API sends.
fn replacement_schema() -> Value {
    let mut schema = body_schema();
    for (field, kind, ..) in READ_ONLY {
        let about = "Read-only. Accepted only with its current value.";
        schema["properties"][field] = json!({ "type": kind, "description": about });
    }
    schema
}

/// Returns the schema of a JSON merge patch of a template: each field is optional, and may be `null`.
fn patch_schema() -> Value {
    let mut schema = replacement_schema();
    schema["description"] = json!(
        "A JSON merge patch (RFC 7396) of a template. Absent fields do not change. `null` restores a field's default."
    );
    schema["examples"] = json!([{ "description": "Notebooks for the second week.", "env": { "COURSE": null } }]);
    // The patch of a variable may remove it, also a variable that does not exist.
    let env = &mut schema["properties"]["env"];
    env["description"] = json!("Variables to set, or to remove by `null`.");
    nullable(&mut env["additionalProperties"]);
    for keyword in ["maxProperties", "propertyNames", "default"] {
        env.as_object_mut().and_then(|env| env.remove(keyword));
    }
    for keyword in ["required", "if", "then"] {
        schema.as_object_mut().and_then(|schema| schema.remove(keyword));
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

/// Result of the extension for one instance.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ExtendedInstanceResponse {
    /// Name of the instance in paths.
    k8s_name: String,
    /// Person who launched the instance.
    owner_email: String,
    outcome: ExtensionOutcomeName,
    /// Code of the reason, if the outcome is `refused`; null otherwise.
    #[schema(example = "lifetime-limit-reached")]
    denied_reason: Option<&'static str>,
    /// Expiry after the request; null if the instance does not run any more.
    expires_at: Option<String>,
}

/// Outcome for one instance. extended: it was extended until `until`. shortened: it was extended until its latest
/// possible expiry, which is before `until`. unchanged: it already lasted until `until` or longer. refused: it has
/// ended, or already had its latest possible expiry.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ExtensionOutcomeName {
    Extended,
    Shortened,
    Unchanged,
    Refused,
}

impl From<Extension> for ExtendedInstanceResponse {
    fn from(Extension { k8s_name, owner_email, expires_at, outcome }: Extension) -> Self {
        let (outcome, denied_reason) = match outcome {
            ExtensionOutcome::Extended => (ExtensionOutcomeName::Extended, None),
            ExtensionOutcome::Shortened => (ExtensionOutcomeName::Shortened, None),
            ExtensionOutcome::Unchanged => (ExtensionOutcomeName::Unchanged, None),
            ExtensionOutcome::Refused(error) => (ExtensionOutcomeName::Refused, Some(error.code())),
        };
        let (owner_email, expires_at) = (owner_email.to_string(), expires_at.map(rfc3339));
        Self { k8s_name, owner_email, outcome, denied_reason, expires_at }
    }
}

/// The image of a template on the server of the fleet.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TemplateImageResponse {
    state: ImageStateName,
    /// Downloaded part of the image in percent, if the state is `pulling`; 100 while the server unpacks the image. Null
    /// in other states.
    #[schema(minimum = 0, maximum = 100)]
    percent: Option<u32>,
    /// Reason of the failure, if the state is `failed`; null otherwise.
    reason: Option<ReasonResponse>,
}

/// State of an image. missing: it is not on the server, and the next launch pulls it. pulling: it is being pulled.
/// ready: it is on the server. failed: it is not on the server, and its last pull has failed. The next launch pulls it
/// again.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ImageStateName {
    Missing,
    Pulling,
    Ready,
    Failed,
}

impl From<ImageState> for TemplateImageResponse {
    fn from(state: ImageState) -> Self {
        let (state, percent, reason) = match state {
            ImageState::Missing => (ImageStateName::Missing, None, None),
            ImageState::Pulling { percent } => (ImageStateName::Pulling, Some(percent), None),
            ImageState::Ready => (ImageStateName::Ready, None, None),
            ImageState::Failed(reason) => (ImageStateName::Failed, None, Some(ReasonResponse::from(&*reason))),
        };
        Self { state, percent, reason }
    }
}
