//! `/classes/`: classes with their templates, members and workshops. A class is hidden from people without a role in it.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::header::{ETAG, LOCATION};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use launcher_domain::lifetime::Bound;
use launcher_domain::{
    Audience, ClassAccess, ClassAction, ClassContent, ClassRole, EmailAddress, FieldError, FieldRule, JoinRules,
    JsonObject, Member,
};
use launcher_service::{InstanceFilter, ListedInstance, MemberDraft, NewClass, TemplateUpdate};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa_axum::routes;
use uuid::Uuid;

use crate::extract::{
    IfMatch, InstanceName, Json as Body, ListQuery, MemberEmail, OptionalJson, RequestBody, TemplateId, etag,
    is_unchanged, list_page,
};
use crate::permission::{
    Allowed, CreateClasses, EditClass, EndInClass, ExtendInClass, InClass, LaunchInClass, ManageClassTemplates,
    ManageMembers, ReadClass, WatchClass,
};
use crate::problem::{Problem, ProblemCode};
use crate::routes::Routes;
use crate::routes::instances::{ExtendBody, ReasonResponse, WorkshopInstanceResponse};
use crate::routes::templates::{
    self, Launched, TemplateBody, TemplateReplacement, WorkshopTemplateResponse, launch, with_read_only,
    written_version,
};
use crate::state::Call;
use crate::wire::{ClassRoleName, LaunchBody, MemberSourceName, StateName, named_schema, rfc3339};

type Changed = ([(HeaderName, HeaderValue); 1], Json<ClassResponse>);

pub(super) fn routes() -> Routes {
    vec![
        routes!(list_classes, create_class),
        routes!(read_class, update_class),
        routes!(list_members, set_members),
        routes!(set_member, remove_member),
        routes!(list_class_templates, create_class_template),
        routes!(read_class_template, update_class_template, archive_class_template),
        routes!(launch_class_template),
        routes!(list_class_instances),
        routes!(end_class_instance),
        routes!(extend_class_instance),
    ]
}

/// List classes
///
/// The classes in which the caller has a role; for an admin all classes. Newest first.
#[utoipa::path(get, path = "/classes/", operation_id = "listClasses", tag = "classes",
    responses((status = 200, description = "A page of classes.", body = [ClassResponse])),
    extensions(("x-parameters" = json!(["limit", "cursor"]))))]
pub(crate) async fn list_classes(call: Call, mut query: ListQuery) -> Result<Response, Problem> {
    let page = query.page()?;
    let path = query.finish(&call, "/classes/")?;
    let rows = call.launcher.classes(&call.caller, &page).await?;
    Ok(list_page(rows, &page, &path, |access| access.class().class_id, |access| ClassResponse::from(&access)))
}

/// Create a class
///
/// Only admins and the people of SERVICE_CLASS_CREATORS may call it. `teachers` lists the first teachers; the caller if it is
/// absent. A caller who is no admin is always one of them, cannot choose the `slug`, and may have at most
/// SERVICE_MAX_CLASSES_PER_CREATOR classes that are not `archived`. Without `max_workshops`, that class gets
/// SERVICE_MAX_WORKSHOPS_PER_CREATED_CLASS, and it cannot have more.
#[utoipa::path(post, path = "/classes/", operation_id = "createClass", tag = "classes", request_body = ClassBody,
    responses((status = 201, description = "The new class.", body = ClassResponse, headers(("Location"), ("ETag")))),
    extensions(("x-problems" = json!([ProblemCode::AdminOnly]))))]
pub(crate) async fn create_class(
    call: Allowed<CreateClasses>,
    Body(mut body): Body<JsonObject>,
) -> Result<Response, Problem> {
    let teachers = teachers(body.remove("teachers").unwrap_or_default())?;
    let access = call.launcher.create_class(&call.caller, &NewClass { body, teachers }).await?;
    let location = call.api_path(&format!("/classes/{}", access.class().content.slug));
    Ok((StatusCode::CREATED, [(LOCATION, location)], changed(&access)).into_response())
}

fn teachers(value: Value) -> Result<Vec<EmailAddress>, Problem> {
    let given = match value {
        Value::Null => return Ok(Vec::new()),
        Value::Array(given) => given,
        _ => return Err(Problem::invalid_fields(vec![FieldError::new("/teachers", FieldRule::Addresses)])),
    };
    let read = |(index, value): (usize, &Value)| {
        let address = value.as_str().and_then(|text| EmailAddress::parse(text).ok());
        address.ok_or_else(|| FieldError::new(format!("/teachers/{index}"), FieldRule::Address))
    };
    let (mut addresses, mut errors) = (Vec::new(), Vec::new());
    for read in given.iter().enumerate().map(read) {
        match read {
            Ok(address) => addresses.push(address),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(addresses) } else { Err(Problem::invalid_fields(errors)) }
}

/// Read a class
///
/// For a person without a role in the class, the response is the same as for a missing class.
#[utoipa::path(get, path = "/classes/{class}", operation_id = "readClass", tag = "classes",
    responses((status = 200, description = "The class.", body = ClassResponse, headers(("ETag"))),
        (status = 304, description = "The caller has the current version.", headers(("ETag")))),
    extensions(("x-parameters" = json!(["If-None-Match"]))))]
pub(crate) async fn read_class(call: InClass<ReadClass>, headers: HeaderMap) -> Result<Response, Problem> {
    let version = call.access.class().version;
    if is_unchanged(&headers, version) {
        return Ok((StatusCode::NOT_MODIFIED, [(ETAG, etag(version))]).into_response());
    }
    Ok(changed(&call.access).into_response())
}

/// Replace a class
///
/// Only its teachers and admins may call it. Fields that are absent from the body take their defaults, except for `slug`. Only
/// admins may change the slug and the policy (`allowed_images`, `allowed_sizes`, `allows_baseline`), and raise or remove a
/// limit. A changed policy ends no workshop: it refuses launches of templates that it does not allow. Students of an
/// `archived` class cannot launch its templates; their running workshops continue.
#[utoipa::path(put, path = "/classes/{class}", operation_id = "updateClass", tag = "classes",
    request_body = ClassReplacement,
    responses((status = 200, description = "The changed class.", body = ClassResponse, headers(("ETag")))),
    extensions(("x-parameters" = json!(["If-Match"])), ("x-problems" = json!([ProblemCode::ClassRole]))))]
pub(crate) async fn update_class(
    call: InClass<EditClass>,
    if_match: IfMatch,
    Body(body): Body<JsonObject>,
) -> Result<Changed, Problem> {
    let expected = if_match.required(call.access.class().version, ProblemCode::ClassVersionMismatch)?;
    Ok(changed(&call.launcher.update_class(&call.access, &body, expected).await?))
}

fn changed(access: &ClassAccess) -> Changed {
    ([(ETAG, etag(access.class().version))], Json(ClassResponse::from(access)))
}

/// List the members of a class
///
/// Only its teachers, its assistants and admins may call it. By address.
#[utoipa::path(get, path = "/classes/{class}/members/", operation_id = "listMembers", tag = "classes",
    responses((status = 200, description = "All current members.", body = [MemberResponse])),
    extensions(("x-problems" = json!([ProblemCode::ClassRole]))))]
pub(crate) async fn list_members(call: InClass<WatchClass>) -> Result<Json<Vec<MemberResponse>>, Problem> {
    let members = call.launcher.members(&call.access).await?;
    Ok(Json(members.into_iter().map(MemberResponse::from).collect()))
}

/// Add members to a class, or change several
///
/// Only its teachers and admins may call it. All or none: if one member is refused, nothing changes. Members who are not in the
/// list stay as they are. A repeated request changes nothing.
#[utoipa::path(post, path = "/classes/{class}/members/", operation_id = "setMembers", tag = "classes",
    request_body = MembersBody,
    responses((status = 200, description = "All current members.", body = [MemberResponse])),
    extensions(("x-problems" = json!([ProblemCode::ClassRole]))))]
pub(crate) async fn set_members(
    call: InClass<ManageMembers>,
    Body(MembersBody { members }): Body<MembersBody>,
) -> Result<Json<Vec<MemberResponse>>, Problem> {
    let draft = |NamedMember { email, role, name }| MemberDraft { email, role, name: name.unwrap_or_default() };
    let members = call.launcher.set_members(&call.access, members.into_iter().map(draft).collect()).await?;
    Ok(Json(members.into_iter().map(MemberResponse::from).collect()))
}

/// Add a member to a class, or change the role of one
///
/// Only its teachers and admins may call it. A class always has a teacher. A repeated request changes nothing.
#[utoipa::path(put, path = "/classes/{class}/members/{email}", operation_id = "setMember", tag = "classes",
    request_body = MemberBody, responses((status = 200, description = "The member.", body = MemberResponse)),
    extensions(("x-problems" = json!([ProblemCode::ClassRole]))))]
pub(crate) async fn set_member(
    call: InClass<ManageMembers>,
    MemberEmail(email): MemberEmail,
    Body(MemberBody { role, name }): Body<MemberBody>,
) -> Result<Json<MemberResponse>, Problem> {
    let draft = MemberDraft { email: email.clone(), role, name: name.unwrap_or_default() };
    let members = call.launcher.set_members(&call.access, vec![draft]).await?;
    let member = members.into_iter().find(|member| member.email == email);
    member.map(|member| Json(member.into())).ok_or_else(Problem::not_found)
}

/// Remove a member from a class
///
/// Only its teachers and admins may call it. Ends the workshops of the person in the class. Saved files stay the person's. A
/// class always has a teacher. A repeated request changes nothing.
#[utoipa::path(delete, path = "/classes/{class}/members/{email}", operation_id = "removeMember", tag = "classes",
    responses((status = 204, description = "The person is no longer a member.")),
    extensions(("x-problems" = json!([ProblemCode::ClassRole, ProblemCode::InvalidFields]))))]
pub(crate) async fn remove_member(
    call: InClass<ManageMembers>,
    MemberEmail(email): MemberEmail,
) -> Result<StatusCode, Problem> {
    call.launcher.remove_member(&call.access, &email).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// List the templates of a class
///
/// Members get the active templates that are not unlisted, teachers and admins all templates. Newest first. `command`, `args`
/// and `env` are empty unless the caller may edit them.
#[utoipa::path(get, path = "/classes/{class}/templates/", operation_id = "listClassTemplates", tag = "classes",
    responses((status = 200, description = "A page of templates.", body = [WorkshopTemplateResponse])),
    extensions(("x-parameters" = json!(["limit", "cursor"]))))]
pub(crate) async fn list_class_templates(call: InClass<ReadClass>, mut query: ListQuery) -> Result<Response, Problem> {
    let page = query.page()?;
    let path = query.finish(&call, &format!("/classes/{}/templates/", call.access.class().content.slug))?;
    let rows = call.launcher.templates(&call.access, &page).await?;
    let shows_all = call.access.allows(ClassAction::ManageTemplates);
    let response = |template| WorkshopTemplateResponse::new(template, shows_all);
    Ok(list_page(rows, &page, &path, |template| template.template_id, response))
}

/// Create a template of a class
///
/// Only its teachers and admins may call it. Only admins may set `pod_template`, and `secret` of a source of course material.
/// The shared catalog does not show the template.
#[utoipa::path(post, path = "/classes/{class}/templates/", operation_id = "createClassTemplate", tag = "classes",
    request_body = TemplateBody,
    responses((status = 201, description = "The new template.", body = WorkshopTemplateResponse, headers(("Location"),
            ("ETag")))), extensions(("x-problems" = json!([ProblemCode::ClassRole]))))]
pub(crate) async fn create_class_template(
    call: InClass<ManageClassTemplates>,
    Body(body): Body<JsonObject>,
) -> Result<Response, Problem> {
    let template = call.launcher.create_template(&call.access, &body).await?;
    let class = &call.access.class().content.slug;
    let location = call.api_path(&format!("/classes/{class}/templates/{}", template.template_id));
    Ok((StatusCode::CREATED, [(LOCATION, location)], templates::changed(template, true)).into_response())
}

/// Read a template of a class
///
/// Every member may read every template, also an archived or unlisted one. `command`, `args` and `env` are empty unless the
/// caller may edit them.
#[utoipa::path(get, path = "/classes/{class}/templates/{template_id}", operation_id = "readClassTemplate",
    tag = "classes",
    responses((status = 200, description = "The template.", body = WorkshopTemplateResponse, headers(("ETag")))))]
pub(crate) async fn read_class_template(
    call: InClass<ReadClass>,
    TemplateId(id): TemplateId,
) -> Result<templates::Changed, Problem> {
    let template = call.launcher.template(&call.access, id).await?;
    Ok(templates::changed(template, call.access.allows(ClassAction::ManageTemplates)))
}

/// Replace a template of a class
///
/// Only its teachers and admins may call it. Fields that are absent from the body take their defaults. The body may be a
/// template as it was read: read-only fields with their current values are ignored. Running workshops do not change.
#[utoipa::path(put, path = "/classes/{class}/templates/{template_id}", operation_id = "updateClassTemplate",
    tag = "classes", request_body = TemplateReplacement,
    responses((status = 200, description = "The changed template.", body = WorkshopTemplateResponse,
            headers(("ETag")))),
    extensions(("x-parameters" = json!(["If-Match"])), ("x-problems" = json!([ProblemCode::ClassRole]))))]
pub(crate) async fn update_class_template(
    call: InClass<ManageClassTemplates>,
    TemplateId(id): TemplateId,
    if_match: IfMatch,
    Body(mut body): Body<JsonObject>,
) -> Result<templates::Changed, Problem> {
    let current = call.launcher.template(&call.access, id).await?;
    let expected = if_match.required(current.version, ProblemCode::VersionMismatch)?;
    let expected_version = written_version(&mut body, current, expected)?;
    let update = TemplateUpdate { body, expected_version };
    let template = call.launcher.update_template(&call.access, id, update).await?;
    Ok(templates::changed(template, true))
}

/// Archive a template of a class
///
/// Only its teachers and admins may call it. Running workshops keep running. A repeated request changes nothing. A PUT with
/// `"active": true` restores the template.
#[utoipa::path(delete, path = "/classes/{class}/templates/{template_id}", operation_id = "archiveClassTemplate",
    tag = "classes", responses((status = 204, description = "The template is archived.")),
    extensions(("x-problems" = json!([ProblemCode::ClassRole]))))]
pub(crate) async fn archive_class_template(
    call: InClass<ManageClassTemplates>,
    TemplateId(id): TemplateId,
) -> Result<StatusCode, Problem> {
    call.launcher.archive_template(&call.access, id, None).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Launch a template of a class
///
/// Every member may call it. Creates an instance in state queued, which the caller owns, as the launch of a template of the
/// shared catalog does. The limits of the class apply as well.
#[utoipa::path(post, path = "/classes/{class}/templates/{template_id}/launch", operation_id = "launchClassTemplate",
    tag = "classes",
    request_body(content = Option<LaunchBody>, description = "Optional, unless a parameter needs a value."),
    responses((status = 201, description = "The new instance.", body = WorkshopInstanceResponse, headers(("Location"))),
        (status = 200, description = "The instance that an earlier launch with the same key created.",
            body = WorkshopInstanceResponse, headers(("Location")))),
    extensions(("x-parameters" = json!(["Idempotency-Key"])),
        ("x-problems" = json!([ProblemCode::TemplateInactive, ProblemCode::TemplateNotAllowed, ProblemCode::ClassOver,
            ProblemCode::ClassNotBegun, ProblemCode::ClassLimitReached, ProblemCode::InstanceLimitReached,
            ProblemCode::VolumeInUse, ProblemCode::StorageLimitReached, ProblemCode::IdempotencyKeyReused,
            ProblemCode::TooManyLaunches, ProblemCode::AtCapacity, ProblemCode::SnapshotsUnavailable]))))]
pub(crate) async fn launch_class_template(
    call: InClass<LaunchInClass>,
    TemplateId(id): TemplateId,
    headers: HeaderMap,
    OptionalJson(body): OptionalJson<LaunchBody>,
) -> Result<Launched, Problem> {
    launch(&call, (&call.access).into(), id, &headers, body).await
}

/// List the instances of a class
///
/// Instances of the templates of the class, newest first: of all members for teachers, assistants and admins, else the
/// caller's own.
#[utoipa::path(get, path = "/classes/{class}/instances/", operation_id = "listClassInstances", tag = "classes",
    responses((status = 200, description = "A page of instances.", body = [ClassInstanceResponse])),
    extensions(("x-parameters" = json!(["state", "limit", "cursor"]))))]
pub(crate) async fn list_class_instances(call: InClass<ReadClass>, mut query: ListQuery) -> Result<Response, Problem> {
    let (page, state) = (query.page()?, query.state()?);
    let path = query.finish(&call, &format!("/classes/{}/instances/", call.access.class().content.slug))?;
    let filter = InstanceFilter { state, ..InstanceFilter::default() };
    let rows = call.launcher.class_instances(&call.access, &filter, &page).await?;
    Ok(list_page(rows, &page, &path, |listed| listed.instance.instance_id, ClassInstanceResponse::from))
}

/// Extend an instance of a class
///
/// Only teachers, assistants and admins may call it. Adds the template's `extension_seconds` to `expires_at`. Teachers can
/// exceed the maximum lifetime with `beyond_maximum`, up to 30 days after the start.
#[utoipa::path(post, path = "/classes/{class}/instances/{k8s_name}/extend", operation_id = "extendClassInstance",
    tag = "classes", request_body(content = Option<ExtendBody>, description = "Optional."),
    responses((status = 200, description = "The extended instance.", body = ClassInstanceResponse)),
    extensions(("x-problems" = json!([ProblemCode::ClassRole, ProblemCode::NotRunning,
            ProblemCode::LifetimeLimitReached, ProblemCode::ExpiryChanged]))))]
pub(crate) async fn extend_class_instance(
    call: InClass<ExtendInClass>,
    InstanceName(name): InstanceName,
    OptionalJson(body): OptionalJson<ExtendBody>,
) -> Result<Json<ClassInstanceResponse>, Problem> {
    let bound = Bound::new(body.beyond_maximum);
    let listed = call.launcher.extend_in_class(&call.access, &name, body.expected_expires_at, bound).await?;
    Ok(Json(listed.into()))
}

/// End an instance of a class
///
/// Only teachers and admins may call it. Ends an instance of a member in any state, and dismisses a failed one. A repeated
/// request changes nothing.
#[utoipa::path(delete, path = "/classes/{class}/instances/{k8s_name}", operation_id = "endClassInstance",
    tag = "classes",
    responses((status = 202, description = "The instance, which is terminating or terminated.",
            body = ClassInstanceResponse)), extensions(("x-problems" = json!([ProblemCode::ClassRole]))))]
pub(crate) async fn end_class_instance(
    call: InClass<EndInClass>,
    InstanceName(name): InstanceName,
) -> Result<(StatusCode, Json<ClassInstanceResponse>), Problem> {
    let listed = call.launcher.end_in_class(&call.access, &name).await?;
    Ok((StatusCode::ACCEPTED, Json(listed.into())))
}

#[derive(Debug, Serialize)]
pub(crate) struct ClassResponse {
    class_id: Uuid,
    #[serde(flatten)]
    content: ClassContent,
    role: Option<ClassRole>,
    version: i64,
    created_by: EmailAddress,
    created_at: String,
    updated_at: String,
}

impl From<&ClassAccess> for ClassResponse {
    fn from(access: &ClassAccess) -> Self {
        let class = access.class().clone();
        Self {
            class_id: class.class_id,
            content: class.content,
            role: access.role(),
            version: class.version,
            created_by: class.created_by,
            created_at: rfc3339(class.created_at),
            updated_at: rfc3339(class.updated_at),
        }
    }
}

named_schema!(ClassResponse = "ClassResponse");
named_schema!(type ClassBody = "ClassBody");
named_schema!(type ClassReplacement = "ClassReplacement");

/// Fields of a class that only the service sets: name, and schema in a response.
const READ_ONLY: [(&str, &str, &str, &str); 5] = [
    ("class_id", "string", "uuid", "The identifier."),
    ("version", "integer", "int64", "Starts at 1 and increases with each change. The ETag contains it."),
    ("created_by", "string", "email", "The person who created the class. For information only."),
    ("created_at", "string", "date-time", "Time of the creation."),
    ("updated_at", "string", "date-time", "Time of the last change."),
];

pub(crate) fn class_schemas() -> [(&'static str, Value); 4] {
    let mut response = with_read_only(ClassContent::schema(Audience::Response), &READ_ONLY);
    let roles: Vec<_> = ClassRole::ALL.map(|role| Some(role.as_str())).into_iter().chain([None]).collect();
    response["properties"]["role"] = json!({
        "type": ["string", "null"], "enum": roles,
        "description": "Role of the caller; null for an admin without a role in the class.",
    });
    let mut replacement = ClassContent::schema(Audience::Request);
    replacement["examples"] = json!([{ "name": "Statistics 101", "max_workshops": 40 }]);
    let mut body = replacement.clone();
    body["properties"]["teachers"] = json!({
        "type": "array", "items": { "type": "string", "format": "email" },
        "description": "Addresses of the first teachers. Default: the caller.",
    });
    let mut link = JoinRules::schema(Audience::Request);
    link["examples"] = json!([{ "valid_seconds": 604_800, "seats": 40 }]);
    [("ClassResponse", response), ("ClassBody", body), ("ClassReplacement", replacement), ("JoinLinkBody", link)]
}

/// A member as a teacher writes it.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemberBody {
    #[schema(value_type = ClassRoleName)]
    role: ClassRole,
    /// Name of the person.
    #[serde(default)]
    #[schema(max_length = 80, example = "Bob Brown")]
    name: Option<String>,
}

impl RequestBody for MemberBody {}

/// Members as a teacher writes them.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MembersBody {
    /// The members. The last entry of a person counts.
    #[schema(max_items = 1000, example = json!([{ "email": "bob@example.org", "role": "student", "name": "Bob Brown" }]))]
    members: Vec<NamedMember>,
}

impl RequestBody for MembersBody {}

/// A member with the address.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NamedMember {
    /// Address of the person.
    #[schema(value_type = String, format = Email, example = "bob@example.org")]
    email: EmailAddress,
    #[schema(value_type = ClassRoleName)]
    role: ClassRole,
    /// Name of the person.
    #[serde(default)]
    #[schema(max_length = 80, example = "Bob Brown")]
    name: Option<String>,
}

/// A member of a class.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MemberResponse {
    /// Address of the person.
    #[schema(example = "bob@example.org")]
    email: String,
    /// Name of the person; empty if unknown.
    name: String,
    role: ClassRoleName,
    /// Origins of the membership.
    sources: Vec<MemberSourceName>,
    /// Time of joining.
    joined_at: String,
}

impl From<Member> for MemberResponse {
    fn from(Member { email, name, role, sources, joined_at }: Member) -> Self {
        let sources = sources.into_iter().map(MemberSourceName::from).collect();
        Self { email: email.to_string(), name, role: role.into(), sources, joined_at: rfc3339(joined_at) }
    }
}

/// Instance of a class for its teachers. Omits the fields that give access to it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ClassInstanceResponse {
    /// Name of the instance in paths.
    k8s_name: String,
    /// Person who launched the instance.
    owner_email: String,
    /// The template.
    template_id: Uuid,
    /// Name of the template at the launch.
    template_name: String,
    state: StateName,
    /// Position in the queue, 1 for the next to start; null unless queued.
    queue_position: Option<u32>,
    /// Reason of the failure; null unless failed.
    reason: Option<ReasonResponse>,
    /// Time of the launch.
    created_at: String,
    /// Expiry; null unless the instance runs.
    expires_at: Option<String>,
    /// Time at which the owner last used the app; null if the bar above the app reported none.
    used_at: Option<String>,
}

impl From<ListedInstance> for ClassInstanceResponse {
    fn from(ListedInstance { instance, queue_position, used_at }: ListedInstance) -> Self {
        Self {
            reason: instance.failure().as_ref().map(ReasonResponse::from),
            created_at: rfc3339(instance.created_at),
            expires_at: instance.expires_at.map(rfc3339),
            k8s_name: instance.k8s_name,
            owner_email: instance.owner_email.to_string(),
            template_id: instance.template_id,
            template_name: instance.settings.name,
            state: instance.state.into(),
            queue_position,
            used_at: used_at.map(rfc3339),
        }
    }
}
