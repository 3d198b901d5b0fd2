//! Sections: checks that run together, with a timeout.

use std::time::Duration;

use super::report::Finding;

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

/// Runs the checks of a section in a separate task, for at most [`SECTION_TIMEOUT`].
pub(super) async fn run_section<F>(
    name: &'static str,
    checks: impl Future<Output = Section<F>> + Send + 'static,
) -> Section<F>
where
    F: Default + Send + 'static,
{
    let silent = || {
        Finding::fail(
            name,
            format!(
                "the checks did not end within {} seconds: a disk, a name server or a network hangs",
                SECTION_TIMEOUT.as_secs()
            ),
        )
    };
    match tokio::time::timeout(SECTION_TIMEOUT, tokio::spawn(checks)).await {
        Ok(Ok(section)) => section,
        Ok(Err(_)) => Section {
            findings: vec![Finding::fail(
                name,
                "the checks failed with an internal error: report it, with the output of the doctor".to_owned(),
            )],
            facts: F::default(),
        },
        Err(_) => Section { findings: vec![silent()], facts: F::default() },
    }
}

/// Awaits an answer for at most `patience`.
pub(super) async fn within<T, E: std::fmt::Display>(
    patience: Duration,
    answer: impl Future<Output = Result<T, E>>,
) -> Result<T, String> {
    match tokio::time::timeout(patience, answer).await {
        Ok(answer) => answer.map_err(|error| error.to_string()),
        Err(_) => Err(format!("no answer within {} seconds", patience.as_secs())),
    }
}
