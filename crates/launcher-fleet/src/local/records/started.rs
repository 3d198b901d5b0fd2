//! The app process of a Workshop, as stored in its record.

use serde::{Deserialize, Serialize};

use super::token::Token;
use crate::local::process::PersistentProcessId;

/// The app process that was started for a Workshop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Started {
    /// The leader of the app's process group.
    pub(crate) leader: PersistentProcessId,
    /// The app's loopback port.
    pub(crate) port: u16,
    /// The app's token. `None` if the app supports no token, or if an earlier launcher version started it without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) token: Option<Token>,
}
