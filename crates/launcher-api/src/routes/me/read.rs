//! `GET /me`.

use axum::Json;

use crate::identity::Identity;
use crate::wire::MeResponse;

/// Read the caller
#[utoipa::path(
    get, path = "/me", operation_id = "readMe", tag = "caller",
    responses((status = 200, description = "The caller.", body = MeResponse)),
    extensions(("x-problems" = json!([])))
)]
pub(crate) async fn read_me(identity: Identity) -> Json<MeResponse> {
    Json(identity.into())
}
