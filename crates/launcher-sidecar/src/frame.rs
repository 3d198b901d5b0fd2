//! The frame page: shows the app in a frame, below a bar with the time left and links to the launcher. The sidecar
//! serves this page, its files and the status below a reserved prefix of the workshop's origin, only to the owner.

mod assets;
mod expiry;
mod page;
pub(crate) mod resource;
pub(crate) mod response;
mod workshop_page;

use std::sync::Arc;

use launcher_domain::Clock;
use launcher_domain::clock::SystemClock;

pub use expiry::Expiry;
pub use workshop_page::WorkshopPage;

/// Dependencies of the frame page.
#[derive(Debug, Clone)]
pub struct Frame {
    /// Source of the workshop's expiry.
    pub expiry: Expiry,
    /// The launcher's page of the workshop. `None`: the bar has no links, and notices have none.
    pub workshop_page: Option<WorkshopPage>,
    /// The clock that the status reports, so that the browser can correct its own.
    pub clock: Arc<dyn Clock>,
}

impl Default for Frame {
    /// An unknown expiry and no links.
    fn default() -> Self {
        Self { expiry: Expiry::Unknown, workshop_page: None, clock: Arc::new(SystemClock) }
    }
}
