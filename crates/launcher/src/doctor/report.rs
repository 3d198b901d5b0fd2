//! The findings of the doctor, printed as one line for each check. Checks that run together form a section with a timeout.
//! A section also has the facts that checks of other sections need.

use std::fmt;
use std::fmt::Display;
use std::time::Duration;

use launcher_fleet::doctor::ExampleWorkshop;
use launcher_store::doctor::CatalogNeeds;

use crate::doctor::clock::Reading;

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

/// Creates the finding of a check from a format string and its arguments.
macro_rules! ok {
    ($check:expr, $($words:tt)+) => { Finding::ok($check, format!($($words)+)) };
}
macro_rules! warning {
    ($check:expr, $($words:tt)+) => { Finding::warn($check, format!($($words)+)) };
}
macro_rules! fail {
    ($check:expr, $($words:tt)+) => { Finding::fail($check, format!($($words)+)) };
}
pub(super) use {fail, ok, warning};

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

/// Timeout for the checks of one section. The doctor runs two rounds of sections, one after the other, so it ends
/// within twice this time.
const SECTION_TIMEOUT: Duration = Duration::from_secs(9);
/// Timeout for one query. After a timeout, a check sends no further query to that system.
pub(super) const QUERY_TIMEOUT: Duration = Duration::from_secs(4);

/// Findings of a section, and facts that other checks need.
#[derive(Debug, Default)]
pub(super) struct Section<F> {
    pub(super) findings: Vec<Finding>,
    pub(super) facts: F,
}

impl<F> Section<F> {
    pub(super) fn add(&mut self, findings: impl IntoIterator<Item = Finding>) {
        self.findings.extend(findings);
    }
}

/// A section that ends with its first check.
impl<F: Default> From<Finding> for Section<F> {
    fn from(finding: Finding) -> Self {
        Self { findings: vec![finding], facts: F::default() }
    }
}

/// Runs the checks of a section in a separate task, for at most [`SECTION_TIMEOUT`].
pub(super) async fn run_section<F>(
    name: &'static str,
    checks: impl Future<Output = Section<F>> + Send + 'static,
) -> Section<F>
where
    F: Default + Send + 'static,
{
    match tokio::time::timeout(SECTION_TIMEOUT, tokio::spawn(checks)).await {
        Ok(Ok(section)) => section,
        Ok(Err(_)) => {
            let words = "the checks failed with an internal error: report it, with the output of the doctor";
            Finding::fail(name, words).into()
        }
        Err(_) => {
            let seconds = SECTION_TIMEOUT.as_secs();
            let words = "a disk, a name server or a network hangs";
            fail!(name, "the checks did not end within {seconds} seconds: {words}").into()
        }
    }
}

/// Awaits an answer for at most `patience`.
pub(super) async fn within<T, E: Display>(
    patience: Duration,
    answer: impl Future<Output = Result<T, E>>,
) -> Result<T, String> {
    match tokio::time::timeout(patience, answer).await {
        Ok(answer) => answer.map_err(|error| error.to_string()),
        Err(_) => Err(format!("no answer within {} seconds", patience.as_secs())),
    }
}

/// Facts that other checks need from the database.
#[derive(Debug, Clone, Default)]
pub(super) struct DatabaseFacts {
    /// Fleet that the rows of the database are bound to. `Some(None)` if they are unbound, `None` if the query failed.
    pub(super) bound: Option<Option<String>>,
    /// Needs of the templates that people can launch.
    pub(super) catalog: CatalogNeeds,
    pub(super) clock: Option<Reading>,
}

/// Facts that other checks need from the fleet.
#[derive(Debug, Clone, Default)]
pub(super) struct FleetFacts {
    pub(super) identity: Option<String>,
    /// Number of Workshops of the fleet, if known.
    pub(super) workshops: Option<usize>,
    /// Any workshop of the fleet.
    pub(super) example: Option<ExampleWorkshop>,
    pub(super) clock: Option<Reading>,
}

/// Facts that other checks need from the edge proxy.
#[derive(Debug, Clone, Default)]
pub(super) struct EdgeProxyFacts {
    /// True if the public address answers this machine. The doctor can then check the workshops' domain from here too.
    pub(super) answers: bool,
}
