//! Use cases of images: admins see if a template's image is on the fleet's machine, and pull it ahead of a launch.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::iter;
use launcher_domain::Caller;
use launcher_domain::access::Action;
use launcher_fleet::{FleetError, ImageState, Images};
use tokio::time::{Instant, timeout, timeout_at};
use uuid::Uuid;

use crate::error::{ServiceError, require};
use crate::launcher::Launcher;

/// Timeout for the state of one image.
const ONE_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout for the states of a list. A page must not wait long for a fleet that does not answer.
const LIST_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum number of images of which the fleet is asked at the same time.
const PARALLEL: usize = 16;

impl Launcher {
    /// Returns the state of a template's image, for admins.
    ///
    /// # Errors
    /// Forbidden, NotFound, FleetWithoutImages, FleetUnavailable, Unavailable.
    pub async fn image_state(&self, caller: &Caller, template_id: Uuid) -> Result<ImageState, ServiceError> {
        let (images, image) = self.template_image(caller, template_id).await?;
        within(images.state(&image)).await
    }

    /// Begins to pull a template's image, for admins. Idempotent: an image that is ready or is being pulled is not pulled
    /// again. Returns the new state.
    ///
    /// # Errors
    /// Forbidden, NotFound, FleetWithoutImages, FleetUnavailable, Unavailable.
    pub async fn pull_image(&self, caller: &Caller, template_id: Uuid) -> Result<ImageState, ServiceError> {
        let (images, image) = self.template_image(caller, template_id).await?;
        let state = within(images.begin_pull(&image)).await?;
        tracing::info!(template = %template_id, image, ?state, by = %caller.email(), "image requested");
        Ok(state)
    }

    /// Returns the states of these images, for admins. Images whose state is not known within two seconds are absent, and
    /// so are all images if the fleet has none.
    ///
    /// # Errors
    /// Forbidden.
    pub async fn image_states(
        &self,
        caller: &Caller,
        images: impl IntoIterator<Item = String> + Send,
    ) -> Result<BTreeMap<String, ImageState>, ServiceError> {
        require(caller, Action::ManageTemplates)?;
        let Some(fleet) = self.0.fleets.main().images() else { return Ok(BTreeMap::new()) };
        let deadline = Instant::now() + LIST_TIMEOUT;
        let images: BTreeSet<String> = images.into_iter().collect();
        let states = iter(images).map(|image| async move {
            let state = timeout_at(deadline, fleet.state(&image)).await;
            state.ok().and_then(Result::ok).map(|state| (image, state))
        });
        Ok(states.buffer_unordered(PARALLEL).filter_map(std::future::ready).collect().await)
    }

    /// Returns the fleet's images, and the image of a template.
    async fn template_image(&self, caller: &Caller, template_id: Uuid) -> Result<(&dyn Images, String), ServiceError> {
        require(caller, Action::ManageTemplates)?;
        let template = self.template(caller, template_id).await?;
        let images = self.0.fleets.main().images().ok_or(ServiceError::FleetWithoutImages)?;
        Ok((images, template.settings.image))
    }
}

/// Awaits an answer of the fleet about one image.
async fn within(answer: impl Future<Output = Result<ImageState, FleetError>>) -> Result<ImageState, ServiceError> {
    match timeout(ONE_TIMEOUT, answer).await {
        Ok(answer) => answer.map_err(ServiceError::FleetUnavailable),
        Err(_) => {
            let problem = format!("no answer within {} seconds", ONE_TIMEOUT.as_secs());
            Err(ServiceError::FleetUnavailable(FleetError::Unavailable(problem)))
        }
    }
}
