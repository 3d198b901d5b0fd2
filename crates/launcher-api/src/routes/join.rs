//! Join links of classes: `/classes/{class}/join-link` for teachers, `/join/{code}` for the people who join.

use axum::Json;
use http::StatusCode;
use launcher_domain::join::shown_join_code;
use launcher_domain::{EmailAddress, Invitation, JoinLink, JsonObject};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::extract::{JoinCode, Json as Body};
use crate::permission::{InClass, ManageMembers};
use crate::problem::{Problem, ProblemCode};
use crate::routes::Routes;
use crate::routes::classes::ClassResponse;
use crate::state::Call;
use crate::wire::{named_schema, rfc3339};

pub(super) fn routes() -> Routes {
    vec![routes!(read_join_link, create_join_link, revoke_join_link), routes!(read_invitation, join)]
}

/// Read the join link of a class
///
/// Only its teachers and admins may call it. The link may be expired or full. 404: the class has none.
#[utoipa::path(get, path = "/classes/{class}/join-link", operation_id = "readJoinLink", tag = "classes",
    responses((status = 200, description = "The link.", body = JoinLinkResponse)),
    extensions(("x-problems" = json!([ProblemCode::ClassRole]))))]
pub(crate) async fn read_join_link(call: InClass<ManageMembers>) -> Result<Json<JoinLinkResponse>, Problem> {
    let link = call.launcher.join_link(&call.access).await?;
    link.map(|link| Json(JoinLinkResponse::new(&call, link))).ok_or_else(Problem::not_found)
}

/// Create the join link of a class
///
/// Only its teachers and admins may call it. A person with the link becomes a student of the class. Revokes the former link.
#[utoipa::path(post, path = "/classes/{class}/join-link", operation_id = "createJoinLink", tag = "classes",
    request_body = JoinLinkBody, responses((status = 201, description = "The new link.", body = JoinLinkResponse)),
    extensions(("x-problems" = json!([ProblemCode::ClassRole]))))]
pub(crate) async fn create_join_link(
    call: InClass<ManageMembers>,
    Body(body): Body<JsonObject>,
) -> Result<(StatusCode, Json<JoinLinkResponse>), Problem> {
    let link = call.launcher.create_join_link(&call.access, &body).await?;
    Ok((StatusCode::CREATED, Json(JoinLinkResponse::new(&call, link))))
}

/// Revoke the join link of a class
///
/// Only its teachers and admins may call it. The people who have joined stay members. A repeated request changes nothing.
#[utoipa::path(delete, path = "/classes/{class}/join-link", operation_id = "revokeJoinLink", tag = "classes",
    responses((status = 204, description = "The class has no link.")),
    extensions(("x-problems" = json!([ProblemCode::ClassRole]))))]
pub(crate) async fn revoke_join_link(call: InClass<ManageMembers>) -> Result<StatusCode, Problem> {
    call.launcher.revoke_join_link(&call.access).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Read an invitation
///
/// The class of a join link, and whether the link admits the caller. A person who tries many wrong codes gets 429.
#[utoipa::path(get, path = "/join/{code}", operation_id = "readInvitation", tag = "classes",
    responses((status = 200, description = "The invitation.", body = InvitationResponse)),
    extensions(("x-problems" = json!([ProblemCode::UnknownJoinCode, ProblemCode::TooManyJoinCodes]))))]
pub(crate) async fn read_invitation(call: Call, JoinCode(code): JoinCode) -> Result<Json<InvitationResponse>, Problem> {
    let invitation = call.launcher.invitation(&call.caller, &code).await?;
    let now = call.launcher.clock().now();
    Ok(Json(InvitationResponse::new(invitation, call.caller.email(), now)))
}

/// Join a class
///
/// The caller becomes a student of the class. A member stays as before, whatever the state of the link.
#[utoipa::path(post, path = "/join/{code}", operation_id = "joinClass", tag = "classes",
    responses((status = 200, description = "The class.", body = ClassResponse)),
    extensions(("x-problems" = json!([ProblemCode::JoinRefused, ProblemCode::UnknownJoinCode,
            ProblemCode::TooManyJoinCodes]))))]
pub(crate) async fn join(call: Call, JoinCode(code): JoinCode) -> Result<Json<ClassResponse>, Problem> {
    let access = call.launcher.join(&call.caller, &code).await?;
    Ok(Json(ClassResponse::from(&access)))
}

named_schema!(type JoinLinkBody = "JoinLinkBody");

/// A join link.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct JoinLinkResponse {
    /// Code of the link.
    #[schema(example = "a7k3m-9qz2x")]
    code: String,
    /// Address of the link.
    #[schema(example = "https://workshops.example.org/join/a7k3m-9qz2x")]
    url: String,
    /// Maximum number of people who join by the link; null: only the limits of the class.
    seats: Option<u32>,
    /// Domain of the addresses of the people who may join; null: any.
    domain: Option<String>,
    /// True if the link only leads members to the class.
    members_only: bool,
    /// Number of people who joined by the link.
    joined: u32,
    /// The person who created the link.
    created_by: String,
    /// Time of the creation.
    created_at: String,
    /// Time from which the link no longer works.
    expires_at: String,
}

impl JoinLinkResponse {
    fn new(call: &Call, link: JoinLink) -> Self {
        Self {
            code: shown_join_code(&link.code),
            url: join_url(call.settings.origin(), &link.code),
            seats: link.rules.seats,
            domain: link.rules.domain,
            members_only: link.rules.members_only,
            joined: link.joined,
            created_by: link.created_by.to_string(),
            created_at: rfc3339(link.created_at),
            expires_at: rfc3339(link.expires_at),
        }
    }
}

pub(crate) fn join_url(origin: &str, code: &str) -> String {
    format!("{origin}/join/{}", shown_join_code(code))
}

/// An invitation to a class.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct InvitationResponse {
    /// Name of the class.
    class_name: String,
    /// Description of the class in Markdown; empty if the link does not admit the caller.
    description: String,
    /// True if the caller is a member already.
    is_member: bool,
    /// Why the link does not admit the caller, who is no member; null if it does.
    refusal: Option<RefusalResponse>,
}

/// Why a join link does not admit a person.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RefusalResponse {
    /// Code of the reason, for programs. Later versions may add codes.
    #[schema(example = "expired")]
    code: String,
    /// The reason, and what to do.
    message: String,
}

impl InvitationResponse {
    fn new(invitation: Invitation, email: &EmailAddress, now: jiff::Timestamp) -> Self {
        let is_member = invitation.is_member();
        let refusal = invitation.refusal(email, now).filter(|_| !is_member);
        let refusal =
            refusal.map(|refusal| RefusalResponse { code: refusal.code().to_owned(), message: refusal.to_string() });
        let content = invitation.class.content;
        let description = if refusal.is_some() { String::new() } else { content.description };
        Self { class_name: content.name, description, is_member, refusal }
    }
}
