//! The images on the machine of a fleet.

use std::fmt::Debug;

use async_trait::async_trait;
use launcher_domain::FailureReason;

use super::FleetError;

/// The images on the machine of a fleet.
#[async_trait]
pub trait Images: Debug + Send + Sync {
    /// Returns the state of an image.
    ///
    /// # Errors
    /// [`FleetError::Unavailable`]: the state is unknown, and the caller should retry.
    async fn state(&self, image: &str) -> Result<ImageState, FleetError>;

    /// Begins to pull an image in the background, unless the image is ready or is already pulled. Returns the new state.
    /// The pull ends without the image if the fleet is closed.
    ///
    /// # Errors
    /// [`FleetError::Unavailable`]: no pull has begun, and the caller should retry.
    async fn begin_pull(&self, image: &str) -> Result<ImageState, FleetError>;
}

/// State of an image on the machine of a fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImageState {
    /// The image is not on the machine. The next launch pulls it.
    Missing,
    /// The image is being pulled.
    Pulling {
        /// Downloaded part of the known bytes, 0 to 100. 0 before the download begins.
        percent: u32,
    },
    /// The image is on the machine.
    Ready,
    /// The image is not on the machine, and its last pull has failed. The next launch pulls it again.
    Failed(Box<FailureReason>),
}
