//! `launcher doctor`: checks a deployment, using the settings of `launcher serve`, and reports problems in plain words.
//! It changes nothing, and abandons checks that hang.

mod clock;
mod cluster;
mod database;
mod direct;
mod edge_proxy;
mod fleet;
mod local;
mod report;
mod settings;
mod web;

use std::time::Duration;

use crate::settings::{FleetKind, ServeSettings};
use report::Finding;
pub(crate) use report::Report;

/// Timeout for the checks of one section. Two rounds of checks run one after the other, so all end within twice this
/// time.
const SECTION_TIMEOUT: Duration = Duration::from_secs(9);
/// Timeout for one query. A check stops querying a system that did not answer.
const QUERY_TIMEOUT: Duration = Duration::from_secs(4);
/// One thread for each section, and some for the timers: a section may block on a disk that does not answer.
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

/// Runs the independent sections concurrently, then the checks that need the results of several sections.
async fn examine(all: ServeSettings) -> Report {
    let first = tokio::join!(
        run_section("settings", settings::check(all.clone())),
        run_section("seed templates", settings::check_seeds(all.clone())),
        run_section("database", database::check(all.clone())),
        run_section("fleet", check_fleet(all.clone())),
        run_section("the way in", edge_proxy::check(all.clone())),
        run_section("identity proof", direct::check(all.clone())),
    );
    let (settings, seeds, database, fleet, edge_proxy, direct) = first;
    let together = run_section("fleet", fleet::check(all.clone(), database.facts.clone(), fleet.facts.clone()));
    let workshops =
        run_section("workshops", edge_proxy::check_workshops(all, edge_proxy.facts, fleet.facts.url.clone()));
    let (together, workshops) = tokio::join!(together, workshops);
    let clocks = clock::compare(&[database.facts.clock, fleet.facts.clock]);
    let settings = [settings.findings, seeds.findings];
    let parts = [
        database.findings,
        fleet.findings,
        together.findings,
        direct.findings,
        edge_proxy.findings,
        workshops.findings,
    ];
    Report(settings.into_iter().chain(parts).flatten().chain(clocks).collect())
}

async fn check_fleet(settings: ServeSettings) -> Section<fleet::Facts> {
    match settings.fleet {
        FleetKind::Local => local::check(&settings),
        FleetKind::Kubernetes => cluster::check(&settings).await,
    }
}

/// Findings of a section, and facts that other checks need.
#[derive(Debug, Default)]
struct Section<F> {
    findings: Vec<Finding>,
    facts: F,
}

impl<F> Section<F> {
    fn add(&mut self, findings: impl IntoIterator<Item = Finding>) {
        self.findings.extend(findings);
    }
}

/// Runs the checks of a section in a separate task, with the timeout [`SECTION_TIMEOUT`].
async fn run_section<F>(name: &'static str, checks: impl Future<Output = Section<F>> + Send + 'static) -> Section<F>
where
    F: Default + Send + 'static,
{
    let silent = || {
        Finding::fail(
            name,
            format!(
                "no end within {} seconds. Something that it takes hangs: a disk, a name server, a network",
                SECTION_TIMEOUT.as_secs()
            ),
        )
    };
    match tokio::time::timeout(SECTION_TIMEOUT, tokio::spawn(checks)).await {
        Ok(Ok(section)) => section,
        Ok(Err(_)) => {
            Section { findings: vec![Finding::fail(name, "its checks broke off".to_owned())], facts: F::default() }
        }
        Err(_) => Section { findings: vec![silent()], facts: F::default() },
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
