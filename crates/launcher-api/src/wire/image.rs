//! The image of a template, as the API sends it.

use launcher_service::ImageState;
use serde::Serialize;
use utoipa::ToSchema;

use super::instance::ReasonResponse;

/// The image of a template on the server of the fleet.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TemplateImageResponse {
    state: ImageStateName,
    /// Downloaded part of the image in percent, if the state is `pulling`; 100 while the server unpacks the image. Null
    /// in other states.
    #[schema(required, minimum = 0, maximum = 100)]
    percent: Option<u32>,
    /// Reason of the failure, if the state is `failed`; null otherwise.
    #[schema(required)]
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
