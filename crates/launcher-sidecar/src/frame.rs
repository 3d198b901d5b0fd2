//! The frame page: shows the app in a frame, below a bar with the time left, notes and links to the launcher. The sidecar
//! serves this page, its files and the status below a reserved prefix of the workshop's origin, only to the owner.

mod assets;
mod expiry;
mod last_crash;
mod page;
pub(crate) mod resource;
pub(crate) mod response;
mod workshop_page;

use std::sync::Arc;

use launcher_domain::Clock;
use launcher_domain::clock::SystemClock;

pub use expiry::{Expiry, ExpiryFile};
pub use last_crash::{AppCrash, LastCrash};
pub use workshop_page::WorkshopPage;

/// Dependencies of the frame page.
#[derive(Debug, Clone)]
pub struct Frame {
    /// Source of the workshop's expiry.
    pub expiry: Expiry,
    /// Source of the last crash of the app.
    pub last_crash: LastCrash,
    /// The launcher's page of the workshop. `None`: the bar has no links, and notices have none.
    pub workshop_page: Option<WorkshopPage>,
    /// The clock that the status reports, so that the browser can correct its own.
    pub clock: Arc<dyn Clock>,
}

impl Frame {
    /// Notes that the app accepts connections.
    pub(crate) fn note_ready(&self) {
        self.expiry.note_ready(self.clock.now());
    }
}

impl Default for Frame {
    /// An unknown expiry, no crash and no links.
    fn default() -> Self {
        Self {
            expiry: Expiry::Unknown,
            last_crash: LastCrash::Unknown,
            workshop_page: None,
            clock: Arc::new(SystemClock),
        }
    }
}
