//! The findings, one line for each check.

use std::fmt::{self, Display};

/// Severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Ok,
    Warn,
    Fail,
}

/// Result of a check.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    verdict: Verdict,
    check: &'static str,
    words: String,
}

impl Finding {
    pub(super) fn ok(check: &'static str, words: impl Into<String>) -> Self {
        Self { verdict: Verdict::Ok, check, words: words.into() }
    }

    /// It works, but needs attention.
    pub(super) fn warn(check: &'static str, words: impl Into<String>) -> Self {
        Self { verdict: Verdict::Warn, check, words: words.into() }
    }

    /// It does not work, or it grants access to the wrong people.
    pub(super) fn fail(check: &'static str, words: impl Into<String>) -> Self {
        Self { verdict: Verdict::Fail, check, words: words.into() }
    }
}

impl Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match self.verdict {
            Verdict::Ok => "ok",
            Verdict::Warn => "warn",
            Verdict::Fail => "FAIL",
        };
        // Messages of other programs may have several lines.
        let words = self.words.split_whitespace().collect::<Vec<_>>().join(" ");
        write!(f, "{verdict:<4}  {:<15}  {words}", self.check)
    }
}

/// All findings.
#[derive(Debug)]
pub(crate) struct Report(pub(super) Vec<Finding>);

impl Report {
    /// Returns true if any check failed.
    pub(crate) fn has_failures(&self) -> bool {
        self.count(Verdict::Fail) > 0
    }

    fn count(&self, verdict: Verdict) -> usize {
        self.0.iter().filter(|finding| finding.verdict == verdict).count()
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.0 {
            writeln!(f, "{finding}")?;
        }
        let [ok, warn, fail] = [Verdict::Ok, Verdict::Warn, Verdict::Fail].map(|verdict| self.count(verdict));
        write!(f, "\n{} checks: {ok} ok, {warn} to look at (warn), {fail} to put right (FAIL)", self.0.len())
    }
}
