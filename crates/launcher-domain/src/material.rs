//! The program that places course material: its configuration, and its report with one outcome for each source.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use crate::template::{MAX_MATERIAL_SOURCES, MaterialSource, is_invisible, is_material_target};
use crate::text_enum::{known, text_enum};

/// Name of the environment variable that has the configuration as JSON.
pub const MATERIAL_VARIABLE: &str = "WORKSHOP_MATERIAL";

/// Name of the environment variable with the path of the marker file. The program creates it at its start, and
/// removes it before it exits. A run that finds the file gives up, because an earlier run was killed. Without the
/// variable, each run starts anew.
pub const MATERIAL_ATTEMPT_VARIABLE: &str = "WORKSHOP_MATERIAL_ATTEMPT";

/// Maximum bytes of memory of the program while it checks sources, in the memory limit of the launcher.
pub const CHECK_MEMORY_BYTES: u64 = 96 << 20;

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
    /// Directory with one directory for each [secret](crate::material_source) of private sources. Its files are
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

/// Maximum bytes of a report: Kubernetes keeps 4,096 bytes of a container's termination message.
pub const MAX_REPORT_BYTES: usize = 4000;
/// Maximum conflicts that a report names for each source.
pub const MAX_CONFLICTS: usize = 10;
const MAX_VERSION: usize = 64;
const MAX_TEXT: usize = 500;
/// Maximum characters of a message in a report that would be too long.
const SHORT_TEXT: usize = 150;

text_enum! {
    /// Outcome of one source.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum MaterialOutcome {
        /// The files are placed for the first time.
        Placed = "placed",
        /// The files were there, and are merged with a newer version.
        Updated = "updated",
        /// The files are of the current version already.
        Unchanged = "unchanged",
        /// The source could not be placed completely. The student's own files are unchanged, and the next run continues.
        Failed = "failed",
    }
}

text_enum! {
    /// Problem of the course material, most important first.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum MaterialTrouble {
        /// A source could not be placed completely.
        Failed = "failed",
        /// Both the teacher and the student changed files.
        Conflicts = "conflicts",
    }
}

/// Result of the check of a source, without placing its files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MaterialFinding {
    /// Branch or tag of a repository.
    pub reference: Option<String>,
    /// Commit id of a repository, or SHA-256 of an archive; `None` if the source was not found.
    pub version: Option<String>,
    /// Number of files; `None` if the source is too large to count them during a check.
    pub files: Option<u64>,
    /// Bytes of all files.
    pub bytes: Option<u64>,
    /// Why the source was not found.
    pub message: Option<String>,
}

impl MaterialFinding {
    /// Returns the finding about a source that was not found.
    #[must_use]
    pub fn failed(message: impl Into<String>) -> Self {
        Self { message: Some(message.into()), ..Self::default() }
    }

    /// True if the source was found.
    #[must_use]
    pub fn is_found(&self) -> bool {
        self.version.is_some() && self.message.is_none()
    }

    /// Reads the findings in the last line of a program's output. The text is not trusted: texts are shortened, and lose
    /// invisible characters.
    #[must_use]
    pub fn parse_all(output: &str) -> Option<Vec<Self>> {
        let line = output.trim_end().lines().next_back()?;
        let findings: Vec<Self> = serde_json::from_str(line).ok()?;
        let sanitised = |finding: Self| Self {
            reference: finding.reference.map(|reference| shown(&reference, MAX_TEXT)),
            version: finding.version.map(|version| shown(&version, MAX_VERSION)),
            message: finding.message.map(|message| shown(&message, MAX_TEXT)),
            ..finding
        };
        Some(findings.into_iter().map(sanitised).collect())
    }
}

/// Report about the course material.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MaterialReport {
    /// One report for each source.
    #[serde(default)]
    pub sources: Vec<SourceReport>,
}

/// Report about one source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceReport {
    /// Directory of the source's files.
    pub target: String,
    /// Outcome: placed, updated, unchanged or failed.
    #[serde(deserialize_with = "known_or_failed")]
    pub outcome: MaterialOutcome,
    /// Commit id of a repository, or SHA-256 of an archive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Paths of files that both the teacher and the student changed, at most 10.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<String>,
    /// Number of all files that both changed.
    #[serde(default)]
    pub conflict_count: u32,
    /// Remark or failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Deserializes an outcome. An unknown outcome of a newer fleet becomes `failed`, so that its message is shown.
fn known_or_failed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<MaterialOutcome, D::Error> {
    Ok(known(deserializer)?.unwrap_or(MaterialOutcome::Failed))
}

impl SourceReport {
    /// Returns the report about a source that could not be placed completely.
    #[must_use]
    pub fn failed(target: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            target: target.into(),
            outcome: MaterialOutcome::Failed,
            version: None,
            conflicts: Vec::new(),
            conflict_count: 0,
            message: Some(message.into()),
        }
    }

    /// Returns what the user must know about this source.
    #[must_use]
    pub fn trouble(&self) -> Option<MaterialTrouble> {
        match self.outcome {
            MaterialOutcome::Failed => Some(MaterialTrouble::Failed),
            _ if self.conflict_count > 0 => Some(MaterialTrouble::Conflicts),
            _ => None,
        }
    }

    /// Returns this report with bounded texts, without invisible characters.
    fn sanitised(self) -> Self {
        let Self { target, outcome, version, conflicts, conflict_count, message } = self;
        let named = u32::try_from(conflicts.len()).unwrap_or(u32::MAX);
        Self {
            target,
            outcome,
            version: version.map(|version| shown(&version, MAX_VERSION)),
            conflicts: conflicts.iter().take(MAX_CONFLICTS).map(|path| shown(path, MAX_TEXT)).collect(),
            conflict_count: conflict_count.max(named),
            message: message.map(|message| shown(&message, MAX_TEXT)),
        }
    }
}

impl MaterialReport {
    /// Returns the most important trouble of all sources.
    #[must_use]
    pub fn trouble(&self) -> Option<MaterialTrouble> {
        let found = |trouble: &MaterialTrouble| self.sources.iter().any(|source| source.trouble() == Some(*trouble));
        MaterialTrouble::ALL.into_iter().find(found)
    }

    /// Returns the report about sources that could not be read, all for the same reason.
    #[must_use]
    pub fn all_failed<'a>(targets: impl IntoIterator<Item = &'a str>, message: &str) -> Self {
        Self { sources: targets.into_iter().map(|target| SourceReport::failed(target, message)).collect() }
    }

    /// Reads the report in the last line of a program's output. The text is not trusted: a report is at most 4,000 bytes
    /// long, and names at most 6 sources. Texts are shortened, and lose invisible characters.
    #[must_use]
    pub fn parse(output: &str) -> Option<Self> {
        let line = output.trim_end().lines().next_back()?;
        if line.len() > MAX_REPORT_BYTES {
            return None;
        }
        let report: Value = serde_json::from_str(line).ok()?;
        let is_known = |source: &Value| source["outcome"].as_str().and_then(MaterialOutcome::parse).is_some();
        if !report["sources"].as_array()?.iter().all(is_known) {
            return None;
        }
        let Self { sources } = serde_json::from_value(report).ok()?;
        let are_valid = sources.len() <= MAX_MATERIAL_SOURCES + 1
            && sources.iter().all(|source: &SourceReport| is_material_target(&source.target));
        are_valid.then(|| Self { sources: sources.into_iter().map(SourceReport::sanitised).collect() })
    }

    /// Returns the report as one line of JSON of at most 4,000 bytes. To fit, a long report names fewer conflicts, and
    /// then shortens its messages, and then omits the longest ones.
    ///
    /// # Errors
    /// An error of the JSON writer.
    pub fn to_line(&self) -> Result<String, serde_json::Error> {
        let mut report = Self { sources: self.sources.iter().cloned().map(SourceReport::sanitised).collect() };
        loop {
            let line = serde_json::to_string(&report)?;
            if line.len() <= MAX_REPORT_BYTES || !report.shorten() {
                return Ok(line);
            }
        }
    }

    /// Removes one conflict, or shortens all messages if the report names no conflict, or removes the longest message; false
    /// if the report is as short as possible.
    fn shorten(&mut self) -> bool {
        let longest = self.sources.iter_mut().max_by_key(|source| source.conflicts.len());
        if longest.is_some_and(|source| source.conflicts.pop().is_some()) {
            return true;
        }
        let mut is_shorter = false;
        for message in self.sources.iter_mut().filter_map(|source| source.message.as_mut()) {
            let short = shown(message, SHORT_TEXT);
            is_shorter |= short != *message;
            *message = short;
        }
        let length = |source: &&mut SourceReport| source.message.as_ref().map_or(0, String::len);
        is_shorter || self.sources.iter_mut().max_by_key(length).is_some_and(|source| source.message.take().is_some())
    }
}

/// Returns at most `most` characters of a text, without invisible characters.
fn shown(text: &str, most: usize) -> String {
    let is_joiner = |character: char| matches!(character, '\u{200c}' | '\u{200d}');
    let visible = |character| if is_invisible(character) && !is_joiner(character) { '\u{fffd}' } else { character };
    let mut shown: String = text.chars().take(most).map(visible).collect();
    if text.chars().nth(most).is_some() {
        shown.pop();
        shown.push('…');
    }
    shown
}
