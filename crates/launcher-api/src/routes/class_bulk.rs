//! `/classes/{class}/instances/…`: actions on all instances of a class.

use axum::Json;
use launcher_domain::lifetime::Bound;
use launcher_service::{BulkOutcome, BulkResult};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::routes;
use uuid::Uuid;

use crate::extract::{Json as Body, RequestBody};
use crate::permission::{EndInClass, ExtendInClass, InClass, LaunchForMembers};
use crate::problem::{Problem, ProblemCode};
use crate::routes::Routes;
use crate::routes::templates::{ExtendAllBody, ExtendedInstanceResponse};

pub(super) fn routes() -> Routes {
    vec![
        routes!(launch_for_class),
        routes!(extend_class_instances),
        routes!(suspend_class_instances),
        routes!(end_class_instances),
    ]
}

/// Launch a template for all students of a class
///
/// Only teachers and admins may call it. Launches the template for each student without an instance of it that is queued, starting,
/// running or paused. The student is the owner, so the limits of the student and of the class apply. A repeated request
/// launches nothing twice. If a request fails, some instances may already be launched: repeat the request.
#[utoipa::path(post, path = "/classes/{class}/instances/launch", operation_id = "launchForClass", tag = "classes",
    request_body = LaunchForClassBody,
    responses((status = 200, description = "The result for each student, by address.", body = [ClassActionResponse])),
    extensions(("x-problems" = json!([ProblemCode::ClassRole, ProblemCode::TemplateInactive,
            ProblemCode::TemplateNotAllowed, ProblemCode::ClassNotBegun, ProblemCode::ClassOver]))))]
pub(crate) async fn launch_for_class(
    call: InClass<LaunchForMembers>,
    Body(LaunchForClassBody { template_id }): Body<LaunchForClassBody>,
) -> Result<Json<Vec<ClassActionResponse>>, Problem> {
    let results = call.launcher.launch_for_class(&call.access, template_id).await?;
    Ok(Json(results.into_iter().map(ClassActionResponse::from).collect()))
}

/// Extend all instances of a class
///
/// Only teachers, assistants and admins may call it. Extends each running instance until `until`, but not beyond its
/// `extension.latest_expires_at`. Teachers can exceed the maximum lifetime with `beyond_maximum`. No instance expires earlier
/// than before. A repeated request changes nothing. If a request fails, some instances may already be extended: repeat the
/// request.
#[utoipa::path(post, path = "/classes/{class}/instances/extend", operation_id = "extendClassInstances", tag = "classes",
    request_body = ExtendAllBody,
    responses((status = 200, description = "The result for each running instance, newest first.",
            body = [ExtendedInstanceResponse])), extensions(("x-problems" = json!([ProblemCode::ClassRole]))))]
pub(crate) async fn extend_class_instances(
    call: InClass<ExtendInClass>,
    Body(ExtendAllBody { until, beyond_maximum }): Body<ExtendAllBody>,
) -> Result<Json<Vec<ExtendedInstanceResponse>>, Problem> {
    let results = call.launcher.extend_all_in_class(&call.access, until, Bound::new(beyond_maximum)).await?;
    Ok(Json(results.into_iter().map(ExtendedInstanceResponse::from).collect()))
}

/// Pause all instances of a class
///
/// Only teachers and admins may call it. Pauses each running instance that keeps files. A repeated request changes nothing. If
/// a request fails, some instances may already be paused: repeat the request.
#[utoipa::path(post, path = "/classes/{class}/instances/suspend", operation_id = "suspendClassInstances",
    tag = "classes",
    responses((status = 200, description = "The result for each running instance, newest first.",
            body = [ClassActionResponse])), extensions(("x-problems" = json!([ProblemCode::ClassRole]))))]
pub(crate) async fn suspend_class_instances(
    call: InClass<EndInClass>,
) -> Result<Json<Vec<ClassActionResponse>>, Problem> {
    let results = call.launcher.suspend_class(&call.access).await?;
    Ok(Json(results.into_iter().map(ClassActionResponse::from).collect()))
}

/// End all instances of a class
///
/// Only teachers and admins may call it. Ends each instance in any state, and dismisses the failed ones. A repeated request
/// changes nothing. If a request fails, some instances may already have ended: repeat the request.
#[utoipa::path(post, path = "/classes/{class}/instances/end", operation_id = "endClassInstances", tag = "classes",
    responses((status = 200, description = "The result for each instance that has not ended, newest first.",
            body = [ClassActionResponse])), extensions(("x-problems" = json!([ProblemCode::ClassRole]))))]
pub(crate) async fn end_class_instances(call: InClass<EndInClass>) -> Result<Json<Vec<ClassActionResponse>>, Problem> {
    let results = call.launcher.end_class(&call.access).await?;
    Ok(Json(results.into_iter().map(ClassActionResponse::from).collect()))
}

/// The template that a teacher launches for all students.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LaunchForClassBody {
    /// An active template of the class.
    #[schema(example = "0195d6c0-5d3c-7b7e-9b1e-3f0f6a1c2d4e")]
    template_id: Uuid,
}

impl RequestBody for LaunchForClassBody {}

/// Result of an action for one instance or student.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ClassActionResponse {
    /// Owner of the instance.
    owner_email: String,
    /// Name of the instance in paths; null for a launch without a new instance.
    k8s_name: Option<String>,
    outcome: ClassActionOutcome,
    /// Code of the reason, if the outcome is `refused`; null otherwise.
    #[schema(example = "class-limit-reached")]
    denied_reason: Option<&'static str>,
}

/// Outcome for one instance or student. done: the action was performed. unchanged: the student has an instance of the template
/// already, or the instance was ending already. refused: the action was not performed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ClassActionOutcome {
    Done,
    Unchanged,
    Refused,
}

impl From<BulkResult> for ClassActionResponse {
    fn from(BulkResult { owner_email, k8s_name, outcome }: BulkResult) -> Self {
        let (outcome, denied_reason) = match outcome {
            BulkOutcome::Done => (ClassActionOutcome::Done, None),
            BulkOutcome::Unchanged => (ClassActionOutcome::Unchanged, None),
            BulkOutcome::Refused(error) => (ClassActionOutcome::Refused, Some(ProblemCode::from(&error).as_str())),
        };
        Self { owner_email: owner_email.to_string(), k8s_name, outcome, denied_reason }
    }
}
