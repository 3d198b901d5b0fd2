//! Crash of an app that starts again in place, and the rule that limits such restarts.

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::failure::FailureCode;
use crate::text_enum::known;

/// Number of crashes within [`WINDOW`] after which the app is not started again.
pub const MAX_CRASHES: usize = 3;
/// Period in which crashes count together.
pub const WINDOW: SignedDuration = SignedDuration::from_mins(10);

/// A crash of an app, after which the fleet started the app again. The end of a pod by the cluster counts as one if another
/// pod continues.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Crash {
    /// Time of the crash.
    pub at: Timestamp,
    /// Code of the crash: `crashed` or `out-of-memory`. If the cluster drained or lost the node: `evicted` or `node-lost`.
    #[serde(rename = "reason", deserialize_with = "known_or_crashed")]
    pub code: FailureCode,
    /// True if the restart lost the files of the workshop.
    #[serde(default)]
    pub files_lost: bool,
}

/// Deserializes the code of a crash. An unknown code of a newer fleet becomes `crashed`.
fn known_or_crashed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<FailureCode, D::Error> {
    Ok(known(deserializer)?.unwrap_or(FailureCode::Crashed))
}

/// Word after the code in the text of a crash that lost files.
const FILES_LOST: &str = "files-lost";

impl Crash {
    /// Returns the text from which the sidecar of a workshop reads the crash: the time in RFC 3339, the code, and
    /// `files-lost` if the restart lost files.
    #[must_use]
    pub fn to_text(&self) -> String {
        let Self { at, code, files_lost } = self;
        let lost = if *files_lost { format!(" {FILES_LOST}") } else { String::new() };
        format!("{at} {}{lost}", code.as_str())
    }

    /// Parses the text of a crash. An unknown code of a newer fleet becomes `crashed`.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let (at, code) = (words.next()?.parse().ok()?, words.next()?);
        let code = FailureCode::parse(code).unwrap_or(FailureCode::Crashed);
        Some(Self { at, code, files_lost: words.any(|word| word == FILES_LOST) })
    }
}

/// Reaction to a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrashVerdict {
    /// Start the app again in place.
    StartAgain,
    /// The workshop fails for the reason of this crash.
    Fail,
}

/// Times of the recent crashes of one app.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CrashHistory(Vec<Timestamp>);

impl CrashHistory {
    /// Adds a crash at `now`. The history keeps only crashes less than [`WINDOW`] away from it. The distance counts in both
    /// directions, so a small correction of the clock removes no crash.
    pub fn record(&mut self, now: Timestamp) {
        self.0.retain(|at| now.duration_since(*at).abs() < WINDOW);
        self.0.push(now);
    }

    /// Returns the reaction to the latest crash. `was_ready` is true if the app was ready at any time before: an app that was
    /// never ready is not started again, because it would probably crash at each start.
    #[must_use]
    pub fn verdict(&self, was_ready: bool) -> CrashVerdict {
        if was_ready && self.0.len() < MAX_CRASHES { CrashVerdict::StartAgain } else { CrashVerdict::Fail }
    }

    /// True if the history has no crash.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
