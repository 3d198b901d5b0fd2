//! The findings, one line for each check.

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

    /// It works, but needs attention.
    pub(super) fn warn(check: &'static str, words: impl Into<String>) -> Self {
        Self { severity: Severity::Warn, check, words: words.into() }
    }

    /// It does not work, or it grants access to the wrong people.
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
        // Messages of other programs may have several lines.
        let words = self.words.split_whitespace().collect::<Vec<_>>().join(" ");
        write!(f, "{severity:<4}  {:<15}  {words}", self.check)
    }
}

/// All findings.
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
        write!(f, "\n{} checks: {ok} ok, {warn} to look at (warn), {fail} to put right (FAIL)", self.0.len())
    }
}
