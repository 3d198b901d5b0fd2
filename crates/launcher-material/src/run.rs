//! One run: all sources at the same time, and the deadline.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use launcher_domain::material::{MATERIAL_ATTEMPT_VARIABLE, MaterialConfig, MaterialReport, SourceReport};
use launcher_domain::template::MaterialSource;

use crate::limits::Limits;
use crate::meter::Meter;
use crate::source::{Surroundings, place};
use crate::threads::run_all;

/// Maximum duration of a run, in seconds.
const MAX_SECONDS: u32 = 3600;

/// Places all sources, and returns at the deadline at the latest. A source that is not ready then has failed; its thread
/// stops at its next step, or with the process.
#[must_use]
pub fn run(config: &MaterialConfig, limits: Limits) -> MaterialReport {
    let seconds = config.deadline_seconds.clamp(1, MAX_SECONDS);
    let deadline = Instant::now() + Duration::from_secs(seconds.into());
    let surroundings = Arc::new(Surroundings {
        directory: PathBuf::from(&config.directory),
        secrets: config.secrets.as_ref().map(PathBuf::from),
        limits,
        deadline,
        unpacking: Mutex::new(()),
    });
    let meters: Vec<Arc<Meter>> = config.sources.iter().map(|_| Arc::default()).collect();
    let mut targets = BTreeSet::new();
    let tasks = config.sources.iter().zip(&meters).map(|(source, meter)| {
        let (surroundings, meter, source) = (Arc::clone(&surroundings), Arc::clone(meter), source.clone());
        let name = source.target.clone();
        let is_repeated = !targets.insert(name.clone());
        let task = move || {
            if is_repeated {
                return failed(&source, "Two sources have this target: correct the template.");
            }
            place(&surroundings, &source, &meter)
        };
        (name, task)
    });
    let reports = run_all(tasks, deadline);
    let late = format!("The source was not ready after {seconds} seconds. The next launch tries again.");
    let fault = "The program ended unexpectedly. Launch the workshop again.";
    let cause = if Instant::now() < deadline { fault } else { &late };
    let sources = config.sources.iter().zip(&meters).zip(reports).map(|((source, meter), report)| match report {
        Some(Ok(report)) => report,
        Some(Err(error)) => failed(source, &format!("The program cannot start a thread: {error}.")),
        None => {
            meter.stop();
            SourceReport { version: meter.last_version(), ..failed(source, cause) }
        }
    });
    MaterialReport { sources: sources.collect() }
}

fn failed(source: &MaterialSource, message: &str) -> SourceReport {
    SourceReport::failed(&source.target, message)
}

const KILLED: &str = "An earlier attempt was killed, perhaps because it needed too much memory: choose a smaller source, or a \
                      folder of it.";

/// Runs `run`, unless the marker file of an earlier attempt exists. Without a path, or if the file cannot be created, it
/// runs anyway.
///
/// The marker file exists while the program runs. If an earlier attempt was killed, for example at a memory limit, the
/// next one finds this file, and gives up. Without it, the kubelet would run a killed program again and again, because an
/// app starts only after the program has ended with success.
pub fn once(
    marker: Option<&Path>,
    config: &MaterialConfig,
    run: impl FnOnce(&MaterialConfig) -> MaterialReport,
) -> MaterialReport {
    let Some(marker) = marker else { return run(config) };
    let report = match File::create_new(marker) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            MaterialReport::all_failed(config.sources.iter().map(|source| source.target.as_str()), KILLED)
        }
        Ok(_) | Err(_) => run(config),
    };
    // After a restart of the node, the kubelet runs the program again, in the same pod.
    let _ = std::fs::remove_file(marker);
    report
}

/// Returns the path of the marker file, if one is set.
#[must_use]
pub fn marker() -> Option<PathBuf> {
    std::env::var_os(MATERIAL_ATTEMPT_VARIABLE).map(PathBuf::from)
}
