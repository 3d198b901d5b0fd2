//! The images of the container engine: their states, and pulls ahead of a launch.

use async_trait::async_trait;

use super::context::Context;
use super::diagnose;
use super::engine::EngineError;
use super::fleet::ContainerFleet;
use crate::port::{FleetError, ImageState, Images};

#[async_trait]
impl Images for ContainerFleet {
    async fn state(&self, image: &str) -> Result<ImageState, FleetError> {
        state(&self.0.context, image).await
    }

    async fn begin_pull(&self, image: &str) -> Result<ImageState, FleetError> {
        let context = &self.0.context;
        let state = state(context, image).await?;
        if state == ImageState::Ready {
            return Ok(state);
        }
        let closing = context.closing().clone();
        if closing.is_cancelled() {
            return Err(FleetError::Unavailable("the fleet is stopping".to_owned()));
        }
        if let Some(pull) = context.pulls.ahead(&context.engine, image) {
            self.0.tasks.spawn(async move { closing.run_until_cancelled(pull).await });
        }
        Ok(ImageState::Pulling { percent: context.pulls.percent(image).unwrap_or_default() })
    }
}

async fn state(context: &Context, image: &str) -> Result<ImageState, FleetError> {
    if let Some(percent) = context.pulls.percent(image) {
        return Ok(ImageState::Pulling { percent });
    }
    match context.engine.has_image(image).await {
        Ok(true) => Ok(ImageState::Ready),
        Ok(false) => {
            let failure = context.pulls.failure(image);
            Ok(failure.map_or(ImageState::Missing, |reason| ImageState::Failed(Box::new(reason))))
        }
        // No pull can succeed: the text is not an image reference.
        Err(error @ EngineError::BadParameter(_)) => {
            Ok(ImageState::Failed(Box::new(diagnose::pull_failed(image, &error))))
        }
        Err(error) => Err(FleetError::Unavailable(error.to_string())),
    }
}
