//! Configuration of the program that places course material.

use serde::{Deserialize, Serialize};

use crate::template::MaterialSource;

/// Name of the environment variable that has the configuration as JSON.
pub const MATERIAL_VARIABLE: &str = "WORKSHOP_MATERIAL";

/// Configuration of one run of the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaterialConfig {
    /// Directory in which each source has its own directory.
    pub directory: String,
    /// Sources, placed in this order.
    pub sources: Vec<MaterialSource>,
    /// Maximum duration of the run, in seconds.
    pub deadline_seconds: u32,
    /// File that gets the report, in addition to the standard output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<String>,
}
