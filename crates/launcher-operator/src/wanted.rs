//! The resources that one Workshop should have.

use k8s_openapi::api::core::v1::Pod;
use launcher_domain::FailureReason;
use launcher_workshop::Workshop;

use crate::build::{Manifests, build};
use crate::pod_policy::admit;
use crate::settings::OperatorSettings;
use crate::validate::Validated;

/// A Workshop that the installation's policy admits, and its resources. Each reconcile builds them once.
pub(crate) struct Wanted {
    pub(crate) validated: Validated,
    pub(crate) manifests: Manifests,
}

impl Wanted {
    /// Validates the Workshop, which has these `pods`, and builds its resources.
    ///
    /// # Errors
    /// A failure with the code `InvalidSpec`, as of [`admit`].
    pub(crate) fn of(workshop: &Workshop, settings: &OperatorSettings, pods: &[Pod]) -> Result<Self, FailureReason> {
        let validated = admit(workshop, settings, pods)?;
        let manifests = build(&validated, settings);
        Ok(Self { validated, manifests })
    }
}
