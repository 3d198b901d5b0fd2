//! `launcher doctor`: checks a deployment, using the settings of `launcher serve`, and reports problems in plain words.
//! It changes nothing, and abandons checks that hang.

mod clock;
mod cluster;
mod database;
mod direct;
mod fleet;
mod front;
mod local;
mod report;
mod settings;
mod web;

use std::time::Duration;

use crate::settings::{FleetKind, ServeSettings};
use report::Finding;
pub(crate) use report::Report;

/// Timeout for the checks of one part. Two rounds of checks run one after the other, so all end within twice this time.
const PART: Duration = Duration::from_secs(9);
/// Timeout for one query. A check stops querying a system that did not answer.
const QUESTION: Duration = Duration::from_secs(4);
/// One thread for each part, and some for the timers of all parts: a part may block on a disk that does not answer.
const THREADS: usize = 9;

/// Runs all checks.
pub(crate) fn run(settings: ServeSettings) -> Result<Report, String> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .enable_all()
        .build()
        .map_err(|error| format!("the runtime cannot be started: {error}"))?;
    let report = runtime.block_on(examine(settings));
    // Checks that hang are abandoned.
    runtime.shutdown_background();
    Ok(report)
}

/// Runs the independent parts concurrently, then the checks that need the results of several parts.
async fn examine(all: ServeSettings) -> Report {
    let first = tokio::join!(
        part("settings", settings::look(all.clone())),
        part("seed templates", settings::look_at_seeds(all.clone())),
        part("database", database::look(all.clone())),
        part("fleet", look_at_fleet(all.clone())),
        part("the way in", front::look(all.clone())),
        part("identity proof", direct::look(all.clone())),
    );
    let (settings, seeds, database, fleet, front, direct) = first;
    let together = part("fleet", fleet::look(all.clone(), database.facts.clone(), fleet.facts.clone()));
    let workshops = part("workshops", front::look_at_workshops(all, front.facts, fleet.facts.url.clone()));
    let (together, workshops) = tokio::join!(together, workshops);
    let clocks = clock::compare(&[database.facts.clock, fleet.facts.clock]);
    let settings = [settings.findings, seeds.findings];
    let parts =
        [database.findings, fleet.findings, together.findings, direct.findings, front.findings, workshops.findings];
    Report(settings.into_iter().chain(parts).flatten().chain(clocks).collect())
}

async fn look_at_fleet(settings: ServeSettings) -> Part<fleet::Facts> {
    match settings.fleet {
        FleetKind::Local => local::look(&settings),
        FleetKind::Kubernetes => cluster::look(&settings).await,
    }
}

/// Findings of a part, and facts that other checks need.
#[derive(Debug, Default)]
struct Part<F> {
    findings: Vec<Finding>,
    facts: F,
}

impl<F> Part<F> {
    fn add(&mut self, findings: impl IntoIterator<Item = Finding>) {
        self.findings.extend(findings);
    }
}

/// Runs the checks of a part in a separate task, with the timeout [`PART`].
async fn part<F>(name: &'static str, look: impl Future<Output = Part<F>> + Send + 'static) -> Part<F>
where
    F: Default + Send + 'static,
{
    let silent = || {
        Finding::fail(
            name,
            format!(
                "no end within {} seconds. Something that it takes hangs: a disk, a name server, a network",
                PART.as_secs()
            ),
        )
    };
    match tokio::time::timeout(PART, tokio::spawn(look)).await {
        Ok(Ok(part)) => part,
        Ok(Err(_)) => {
            Part { findings: vec![Finding::fail(name, "its checks broke off".to_owned())], facts: F::default() }
        }
        Err(_) => Part { findings: vec![silent()], facts: F::default() },
    }
}

/// Awaits an answer, for at most this long.
async fn within<T, E: std::fmt::Display>(
    patience: Duration,
    answer: impl Future<Output = Result<T, E>>,
) -> Result<T, String> {
    match tokio::time::timeout(patience, answer).await {
        Ok(answer) => answer.map_err(|error| error.to_string()),
        Err(_) => Err(format!("no answer within {} seconds", patience.as_secs())),
    }
}
