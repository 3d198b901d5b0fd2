//! Simulation: runs the real launchers and operators on a simulated cluster with a simulated clock. A seed determines all
//! random numbers, but not the order of events at the same time.
//!
//! Each seed is one run. Users launch, extend and terminate workshops; programs are killed and paused; the API server
//! answers late, wrongly or not at all; pods crash. The test checks invariants during the run, and others at its end,
//! after the last fault. `SIM_SEED=7` repeats one seed and prints its events. `SIM_SEEDS=10000` runs 10,000 seeds,
//! starting at `SIM_FIRST`.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says where by panicking")]
#![expect(clippy::print_stdout, reason = "a seed that is repeated says what happens")]

mod actions;
mod cluster;
mod convergence;
mod faults;
mod fleet_contract;
mod late_extensions;
mod listeners;
mod objects;
mod pods;
mod processes;
mod request;
mod rows;
mod seeded;
mod server;
mod trace;
mod users;
mod validation;
mod watching;
mod world;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::rows::Violation;
use crate::world::World;

/// Default number of seeds.
const SEEDS: u64 = 24;
/// Step of the simulated clock while faults occur.
const STEP: Duration = Duration::from_millis(250);
/// Step of the simulated clock after the last fault.
const CALM_STEP: Duration = Duration::from_millis(1000);
/// Number of launches after the last fault.
const LAST_LAUNCHES: u32 = 3;
/// Seconds after the last fault in which watches still lag. It exceeds the lifetime of a short workshop.
const LAST_SECONDS: u32 = 90;
/// Seconds after the last fault within which rows and Workshops must agree. It exceeds the full resync interval of five
/// minutes.
const PATIENCE: u32 = 420;

/// Seconds without a launcher, in runs that kill all launchers. It exceeds the start timeout of a launcher.
const ABSENCE: u32 = 170;

/// Runs one seed to its end.
async fn live(world: &mut World) -> Result<(), Violation> {
    world.begin();
    let mut left = world.how_long();
    while !left.is_zero() {
        if world.rng.happens(300) {
            world.act().await;
        }
        world.admin_restarts();
        world.extend_before_expiry();
        world.pass(STEP).await?;
        left = left.saturating_sub(STEP);
    }
    if world.rng.happens(300) {
        world.leave().await;
        for _ in 0..ABSENCE {
            world.pass(CALM_STEP).await?;
        }
    }
    world.stop_faults().await;
    // No fault disturbs these launches until they expire. During the faults, few instances live until their expiry.
    for _ in 0..LAST_LAUNCHES {
        world.somebody_launches().await;
    }
    let upgrade = world.rng.happens(700).then(|| world.rng.below(LAST_SECONDS as usize));
    for second in 0..LAST_SECONDS as usize {
        if upgrade == Some(second) {
            world.upgrade_operators().await;
        }
        world.admin_restarts();
        world.extend_before_expiry();
        world.pass(CALM_STEP).await?;
    }
    let mut agreed = 0;
    for second in 0.. {
        world.pass(CALM_STEP).await?;
        match world.agree().await {
            Ok(()) => agreed += 1,
            Err(broken) if second >= PATIENCE => return Err(broken),
            Err(_) => agreed = 0,
        }
        // Rows and Workshops must agree for some time: a single agreement may be accidental.
        if agreed >= 20 {
            break;
        }
    }
    world.promises().await?;
    world.logged().await
}

fn run(seed: u64, aloud: bool) -> Result<Vec<String>, String> {
    // `World::settle` proceeds only when no other task can: external events are not polled after a number of tasks.
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.event_interval(u32::MAX).on_thread_park(world::wake_settled).enable_all().build().unwrap();
    runtime.block_on(async {
        let mut world = World::new(seed, aloud).await;
        match live(&mut world).await {
            Ok(()) => Ok(world.trace.all()),
            Err(broken) => Err(format!("seed {seed}: {broken}\n{}\nSIM_SEED={seed} repeats it", world.trace.last())),
        }
    })
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is not a number")))
}

#[test]
fn rows_and_workshops_converge_after_faults() {
    if let Some(seed) = number("SIM_SEED") {
        if let Err(failure) = run(seed, true) {
            panic!("{failure}");
        }
        return;
    }
    let first = number("SIM_FIRST").unwrap_or(0);
    let (next, end) = (AtomicU64::new(first), first + number("SIM_SEEDS").unwrap_or(SEEDS));
    let failures = std::thread::scope(|scope| {
        let work = || {
            let mut failures = Vec::new();
            loop {
                let seed = next.fetch_add(1, Ordering::SeqCst);
                if seed >= end {
                    return failures;
                }
                if let Err(failure) = run(seed, false) {
                    // Print each failure at once, because a long run may be aborted.
                    println!("{failure}\n");
                    failures.push(seed);
                }
            }
        };
        let workers = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(failures.is_empty(), "these seeds fail: {failures:?}");
}
