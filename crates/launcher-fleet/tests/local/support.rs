//! Test support: a local fleet in a temporary directory, with a clock that tests advance.

use std::fs;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use jiff::{SignedDuration, Timestamp};
use launcher_domain::Clock;
use launcher_domain::listening::LISTEN_GRACE;
use launcher_fleet::{Fleet, FleetEvent, LocalFleet, LocalPrograms, LocalSettings, MachineFleetError};
use launcher_process::stop::Stop;
use launcher_testkit::fleet_contract::contract_workshop;
use launcher_testkit::machine_settings;
use launcher_workshop::{Phase, Workshop, WorkshopStatus};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// Deadline of every wait. It only bounds a hang.
const PATIENCE: Duration = Duration::from_secs(120);

/// A start timeout that only the test ends: see [`advance`].
pub(crate) const LONG_START: Duration = Duration::from_hours(1000);

/// An empty list of PIDs, to compare with [`Home::processes`].
pub(crate) const NONE: [i32; 0] = [];

pub(crate) const OWNER: &str = "alice@example.org";

/// A data directory. The drop kills all processes of its fleet, unless another value owns the directory.
pub(crate) struct Home {
    /// The temporary directory, which is removed with this value; `None` if another value owns the directory.
    directory: Option<TempDir>,
    pub(crate) clock: Arc<TestClock>,
    pub(crate) settings: LocalSettings,
}

impl Home {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut home = Self::at(directory.path());
        home.directory = Some(directory);
        home
    }

    /// Uses an existing data directory that another value owns.
    pub(crate) fn at(directory: &Path) -> Self {
        Self { directory: None, clock: Arc::new(TestClock::new()), settings: settings(directory) }
    }

    /// Returns a data directory that does not exist yet.
    pub(crate) fn empty() -> Self {
        let mut home = Self::new();
        home.settings.machine.data_dir.push("data");
        home
    }

    /// Copies this data directory with `cp`.
    pub(crate) fn copy(&self) -> Self {
        let copy = Self::empty();
        assert!(Command::new("cp").arg("-a").args([self.path(), copy.path()]).status().unwrap().success());
        copy
    }

    pub(crate) fn path(&self) -> &Path {
        &self.settings.machine.data_dir
    }

    pub(crate) fn open(&self) -> LocalFleet {
        self.try_open().unwrap()
    }

    pub(crate) fn try_open(&self) -> Result<LocalFleet, MachineFleetError> {
        LocalFleet::open(self.settings.clone(), self.clock.clone(), Stop::new())
    }

    pub(crate) fn working(&self, name: &str) -> PathBuf {
        self.path().join("workshops").join(name)
    }

    /// Reads a number from a file that the app has written to its working directory.
    pub(crate) fn noted(&self, name: &str, file: &str) -> i32 {
        fs::read_to_string(self.working(name).join(file)).unwrap().trim().parse().unwrap()
    }

    /// Returns the state directory of a Workshop.
    pub(crate) fn record(&self, name: &str) -> PathBuf {
        self.path().join("fleet/workshops").join(name)
    }

    /// Returns the identity of this directory's fleet, or an empty string before its first start.
    pub(crate) fn fleet_id(&self) -> String {
        fs::read_to_string(self.path().join("fleet/id")).unwrap_or_default()
    }

    /// Returns the identifier of the processes that were started from this directory.
    fn data_dir_id(&self) -> Option<String> {
        let identity: Value = serde_json::from_slice(&fs::read(self.path().join("fleet/place.json")).ok()?).unwrap();
        Some(identity["id"].as_str().unwrap().to_owned())
    }

    /// Returns the PIDs of this fleet's processes, which have its marker in their environment.
    pub(crate) fn processes(&self) -> Vec<i32> {
        let line = format!("WORKSHOP_LAUNCHER_ID={}/", self.data_dir_id().unwrap_or_else(|| self.fleet_id()));
        let numbers = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        numbers
            .filter(|pid: &i32| {
                let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
                environment.split(|byte| *byte == 0).any(|held| held.starts_with(line.as_bytes()))
            })
            .collect()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if self.directory.is_some() && !self.fleet_id().is_empty() {
            self.processes().into_iter().for_each(kill);
        }
    }
}

pub(crate) fn kill(pid: i32) {
    let _ = kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL);
}

/// True if a process has exited. A zombie has exited, too.
pub(crate) fn has_ended(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_none_or(|(_, fields)| fields.starts_with('Z'))
}

pub(crate) fn settings(data_dir: &Path) -> LocalSettings {
    LocalSettings {
        machine: machine_settings(data_dir),
        programs: LocalPrograms {
            local_jupyter: "no-such-jupyter-lab".into(),
            local_rstudio: "no-such-rserver".into(),
        },
        keeper: env!("CARGO_BIN_EXE_workshop-keeper").into(),
        material_timeout: Duration::from_secs(185),
    }
}

/// A clock that only the test advances.
#[derive(Debug)]
pub(crate) struct TestClock(Mutex<Timestamp>);

impl TestClock {
    pub(crate) fn new() -> Self {
        Self(Mutex::new("2026-03-01T09:00:00Z".parse().unwrap()))
    }

    pub(crate) fn advance(&self, seconds: i64) {
        *self.0.lock().unwrap() += SignedDuration::from_secs(seconds);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

/// A Workshop that runs a command, with a lifetime of one hour.
pub(crate) fn custom(name: &str, command: &[&str]) -> Workshop {
    let mut workshop = contract_workshop(name);
    let spec = &mut workshop.spec;
    OWNER.clone_into(&mut spec.owner);
    spec.port = 9000;
    spec.command = command.iter().map(|word| (*word).to_owned()).collect();
    "512Mi".clone_into(&mut spec.resources.memory_limit);
    workshop
}

/// A Workshop whose app serves its working directory over HTTP.
pub(crate) fn server(name: &str) -> Workshop {
    custom(name, &["python3", "-m", "http.server", "$(PORT)", "--bind", "127.0.0.1"])
}

/// A Workshop whose app is a shell script.
pub(crate) fn script(name: &str, text: &str) -> Workshop {
    custom(name, &["sh", "-c", text])
}

/// A Workshop whose app appends its PID to a file at each start, and has a child process in another session.
pub(crate) fn numbered(name: &str) -> Workshop {
    let text = "echo $$ >> pid; setsid sleep 1000 & exec python3 -m http.server \"$PORT\" --bind 127.0.0.1";
    script(name, text)
}

/// Returns the file with the PIDs of a [`numbered`] Workshop, one per start.
pub(crate) fn pid_file(home: &Home, name: &str) -> PathBuf {
    home.working(name).join("pid")
}

/// Waits until the Workshop is in this phase.
pub(crate) async fn wait_for(fleet: &LocalFleet, name: &str, phase: Phase) -> Workshop {
    wait_for_status(fleet, name, |status| status.phase == phase).await
}

/// Kills the leading process of a ready app, and waits until the fleet reports the crash and the app is ready again.
pub(crate) async fn crash(home: &Home, fleet: &LocalFleet, name: &str, leader: i32) -> WorkshopStatus {
    home.clock.advance(1);
    let now = home.clock.now();
    kill(leader);
    let is_back = |status: &WorkshopStatus| {
        status.phase == Phase::Running && status.report.last_crash.as_ref().is_some_and(|crash| crash.at == now)
    };
    wait_for_status(fleet, name, is_back).await.status.unwrap()
}

pub(crate) async fn wait_for_status(
    fleet: &LocalFleet,
    name: &str,
    is_wanted: impl Fn(&WorkshopStatus) -> bool,
) -> Workshop {
    let is = |workshop: &Workshop| {
        workshop.metadata.name.as_deref() == Some(name) && workshop.status.as_ref().is_some_and(&is_wanted)
    };
    let seen = find(fleet, |event| match event {
        FleetEvent::Applied(workshop) => Some(*workshop).filter(&is),
        FleetEvent::Relisted(all) => all.into_iter().find(&is),
        FleetEvent::Deleted(_) => None,
    });
    let Ok(seen) = tokio::time::timeout(PATIENCE, seen).await else {
        panic!("{name} has not the expected status but {:?}", fleet.get(name).await.unwrap());
    };
    seen
}

/// Advances tokio's clock by this duration.
pub(crate) async fn advance(duration: Duration) {
    tokio::time::pause();
    tokio::time::advance(duration).await; // simulated time
    tokio::time::resume();
}

/// Advances tokio's clock until the fleet reports that the app listens elsewhere, by a part of the start timeout of
/// [`LONG_START`] only. An advance may come before the fleet has set its timer. Afterwards, the start timeout runs.
pub(crate) async fn advance_until_listening_elsewhere(fleet: &LocalFleet, name: &str) -> WorkshopStatus {
    // Not a timeout of tokio, whose clock advances.
    let deadline = Instant::now() + PATIENCE;
    loop {
        advance(LISTEN_GRACE).await;
        let status = fleet.get(name).await.unwrap().unwrap().status.unwrap_or_default();
        if status.report.listens_elsewhere.is_some() {
            return status;
        }
        assert!(Instant::now() < deadline, "{name} has not the expected status but {status:?}");
        tokio::time::sleep(Duration::from_millis(20)).await; // pacing: interval of the poll
    }
}

/// Waits until the Workshop and its workload are gone.
pub(crate) async fn wait_until_gone(fleet: &LocalFleet, name: &str) {
    let gone = find(fleet, |event| match event {
        FleetEvent::Deleted(workshop) => (workshop.metadata.name.as_deref() == Some(name)).then_some(()),
        FleetEvent::Relisted(all) => {
            all.iter().all(|workshop| workshop.metadata.name.as_deref() != Some(name)).then_some(())
        }
        FleetEvent::Applied(_) => None,
    });
    in_time(gone).await;
}

/// Opens a new watch and returns the first match among its events.
async fn find<T>(fleet: &LocalFleet, wanted: impl Fn(FleetEvent) -> Option<T>) -> T {
    let mut events = fleet.watch();
    loop {
        if let Some(found) = wanted(events.next().await.unwrap()) {
            return found;
        }
    }
}

pub(crate) async fn in_time<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("it takes too long")
}

/// Polls until the condition is true. `what` describes the condition in the failure message.
pub(crate) async fn eventually(what: &str, condition: impl Fn() -> bool) {
    let asked = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(20)).await; // pacing: interval of the poll
        }
    };
    assert!(tokio::time::timeout(PATIENCE, asked).await.is_ok(), "{what}");
}
