//! The findings of the doctor, printed as one line for each check.

use std::fmt::{self, Display};

/// Severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Severity {
    Ok,
    Warn,
    Fail,
}

/// Result of a check.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    severity: Severity,
    check: &'static str,
    words: String,
}

impl Finding {
    pub(super) fn ok(check: &'static str, words: impl Into<String>) -> Self {
        Self { severity: Severity::Ok, check, words: words.into() }
    }

    /// Creates a warning: the checked part works, but needs attention.
    pub(super) fn warn(check: &'static str, words: impl Into<String>) -> Self {
        Self { severity: Severity::Warn, check, words: words.into() }
    }

    /// Creates a failure: the checked part does not work, or it grants access to the wrong people.
    pub(super) fn fail(check: &'static str, words: impl Into<String>) -> Self {
        Self { severity: Severity::Fail, check, words: words.into() }
    }
}

impl Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Ok => "ok",
            Severity::Warn => "warn",
            Severity::Fail => "FAIL",
        };
        // A message of another program may have several lines, but a finding must be one line.
        let words = self.words.split_whitespace().collect::<Vec<_>>().join(" ");
        write!(f, "{severity:<4}  {:<15}  {words}", self.check)
    }
}

/// All findings of the doctor.
#[derive(Debug)]
pub(crate) struct Report(pub(super) Vec<Finding>);

impl Report {
    /// Returns true if any check failed.
    pub(crate) fn has_failures(&self) -> bool {
        self.count(Severity::Fail) > 0
    }

    fn count(&self, severity: Severity) -> usize {
        self.0.iter().filter(|finding| finding.severity == severity).count()
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.0 {
            writeln!(f, "{finding}")?;
        }
        let [ok, warn, fail] = [Severity::Ok, Severity::Warn, Severity::Fail].map(|severity| self.count(severity));
        write!(f, "\n{} checks: {ok} ok, {warn} warn, {fail} FAIL", self.0.len())
    }
}
