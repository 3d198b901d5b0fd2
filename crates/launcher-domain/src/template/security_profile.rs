//! Security profile of a template.

use serde::{Deserialize, Serialize};

use crate::text_enum::text_enum;

text_enum! {
    /// Security profile of a workshop's container.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum SecurityProfile {
        /// The container runs without privileges and not as root: Pod Security `restricted`.
        #[default]
        Restricted = "restricted",
        /// The container may run as root, which stock RStudio images need: Pod Security `baseline`.
        Baseline = "baseline",
    }
}
