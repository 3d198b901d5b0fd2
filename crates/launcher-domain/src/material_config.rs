//! Configuration of the program that places course material.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use crate::template::MaterialSource;

/// Name of the environment variable that has the configuration as JSON.
pub const MATERIAL_VARIABLE: &str = "WORKSHOP_MATERIAL";

/// Name of the environment variable with the path of the marker file. The program creates it at its start, and
/// removes it before it exits. A run that finds the file gives up, because an earlier run was killed. Without the
/// variable, each run starts anew.
pub const MATERIAL_ATTEMPT_VARIABLE: &str = "WORKSHOP_MATERIAL_ATTEMPT";

/// Configuration of one run of the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaterialConfig {
    /// Directory in which each source has its own directory.
    pub directory: String,
    /// Sources, placed in this order.
    #[serde(serialize_with = "without_nulls")]
    pub sources: Vec<MaterialSource>,
    /// Maximum duration of the run, in seconds.
    pub deadline_seconds: u32,
    /// File that gets the report, in addition to the standard output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<String>,
    /// Directory with one directory for each [secret](crate::material_secret) of private sources. Its files are
    /// `username` and `password`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secrets: Option<String>,
}

/// Omits absent fields: the configuration is an environment variable of each pod.
fn without_nulls<S: Serializer>(sources: &[MaterialSource], serializer: S) -> Result<S::Ok, S::Error> {
    let mut sources = json!(sources);
    for source in sources.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        source.retain(|_, value| !value.is_null());
    }
    sources.serialize(serializer)
}
