//! `launcher doctor`: checks a deployment, using the settings of `launcher serve`, and reports problems in plain words.
//! It changes nothing. It abandons checks that hang.

mod clock;
mod cluster;
mod database;
mod edge_proxy;
mod fleet;
mod report;
mod settings;
mod web;

use crate::doctor::report::{FleetFacts, Section, run_section};
use crate::settings::{FleetKind, ServeSettings};
pub(crate) use report::Report;

/// Number of threads: one for each section of checks, and more for the timers. A section can block its thread on a disk
/// that does not answer.
const THREADS: usize = 9;

/// Runs all checks.
pub(crate) fn run(settings: ServeSettings) -> Result<Report, String> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .enable_all()
        .build()
        .map_err(|error| format!("the runtime cannot be started: {error}"))?;
    let report = runtime.block_on(examine(settings));
    // Does not wait for checks that hang.
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
        run_section("edge proxy", edge_proxy::check(all.clone())),
        run_section("identity proof", edge_proxy::check_identity_proof(all.clone())),
    );
    let (settings, seeds, database, fleet, edge_proxy, direct) = first;
    let together =
        run_section("fleet", fleet::check_with_database(all.clone(), database.facts.clone(), fleet.facts.clone()));
    let workshops =
        run_section("workshops", edge_proxy::check_workshops(all, edge_proxy.facts, fleet.facts.example.clone()));
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

async fn check_fleet(settings: ServeSettings) -> Section<FleetFacts> {
    match settings.fleet {
        FleetKind::Local => fleet::check_local(&settings),
        FleetKind::Containers => fleet::check_containers(&settings).await,
        FleetKind::Kubernetes => cluster::check(&settings).await,
    }
}
