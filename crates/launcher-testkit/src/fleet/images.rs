//! The images of the in-memory fleet. The test sets their states.

use async_trait::async_trait;
use launcher_fleet::{FleetError, ImageState, Images};

use super::FakeFleet;
use super::fault::Fault;
use super::state::FakeImages;

impl FakeFleet {
    /// Gives the fleet images. An image is missing until a test sets its state, or until a pull begins.
    pub fn add_images(&self) {
        self.lock().images = Some(FakeImages::default());
    }

    /// Sets the state of an image.
    pub fn set_image(&self, image: &str, state: ImageState) {
        self.change_images(|images| images.states.insert(image.to_owned(), state));
    }

    /// Injects a fault into all later calls about images: [`Fault::Hang`], or any other fault for an error. `None` ends
    /// it.
    pub fn fault_images(&self, fault: Option<Fault>) {
        self.change_images(|images| images.fault = fault);
    }

    /// The images whose pull has begun, in order.
    #[must_use]
    pub fn image_pulls(&self) -> Vec<String> {
        self.change_images(|images| images.pulls.clone())
    }

    fn change_images<T>(&self, change: impl FnOnce(&mut FakeImages) -> T) -> T {
        let mut state = self.lock();
        change(state.images.as_mut().unwrap_or_else(|| panic!("the fleet has no images")))
    }

    async fn answer(
        &self,
        answer: impl FnOnce(&mut FakeImages) -> ImageState + Send,
    ) -> Result<ImageState, FleetError> {
        match self.change_images(|images| images.fault) {
            Some(Fault::Hang) => std::future::pending().await,
            Some(_) => Err(FleetError::Unavailable("fault injected by the test".to_owned())),
            None => Ok(self.change_images(answer)),
        }
    }
}

#[async_trait]
impl Images for FakeFleet {
    async fn state(&self, image: &str) -> Result<ImageState, FleetError> {
        self.answer(|images| images.state(image)).await
    }

    async fn begin_pull(&self, image: &str) -> Result<ImageState, FleetError> {
        self.answer(|images| {
            if matches!(images.state(image), ImageState::Missing | ImageState::Failed(_)) {
                images.pulls.push(image.to_owned());
                images.states.insert(image.to_owned(), ImageState::Pulling { percent: 0 });
            }
            images.state(image)
        })
        .await
    }
}
