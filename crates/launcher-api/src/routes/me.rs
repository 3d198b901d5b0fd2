//! `/me`: the caller.

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::identity::Identity;
use crate::routes::Routes;

pub(super) fn routes() -> Routes {
    vec![routes!(read_me)]
}

/// Read the caller
#[utoipa::path(get, path = "/me", operation_id = "readMe", tag = "caller",
    responses((status = 200, description = "The caller.", body = MeResponse)))]
pub(crate) async fn read_me(identity: Identity) -> Json<MeResponse> {
    Json(identity.into())
}

/// The caller.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MeResponse {
    /// The identity, lower-case.
    #[schema(example = "alice@example.org")]
    email: String,
    /// The login provider's name for the caller, if there is one. For display only.
    #[schema(example = "alice")]
    user: Option<String>,
    /// True if the caller is an administrator.
    is_admin: bool,
}

impl From<Identity> for MeResponse {
    fn from(Identity { caller, user }: Identity) -> Self {
        Self { email: caller.email().to_string(), user, is_admin: caller.is_admin() }
    }
}
