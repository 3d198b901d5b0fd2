//! Tests of the supervisor with an app in memory: the launcher is killed at each step, and its successor continues.

use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt;
use http::{HeaderMap, Uri};
use launcher_domain::brand::Brand;
use launcher_domain::clock::SystemClock;
use launcher_domain::identity::TrustedHeader;
use launcher_domain::sync::lock;
use launcher_domain::{FailureCode, FailureReason, ListensElsewhere, MaterialReport, SecretValues, StartStep};
use launcher_process::stop::Stop;
use launcher_workshop::{Phase, Workshop, WorkshopMaterial, WorkshopRestore, WorkshopStatus};
use serde_json::json;
use tokio::runtime::Builder;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use crate::FleetEvent;
use crate::machine::record::StoredRecord;
use crate::machine::{
    Attempt, Backend, Connection, DataDir, Look, MachineSettings, NotPlaced, OriginSettings, Registry, Setback, Shared,
    SidecarConnector, Workload,
};

const NAME: &str = "lab-a";
const LAST_WORDS: &str = "last words";

/// The app and its files, which outlive the launcher.
#[derive(Debug, Default)]
struct World {
    /// Steps of the launchers until now.
    steps: usize,
    /// The step at which the launcher is killed.
    kill_at: Option<usize>,
    /// True if an app that has ended leaves a container, in which it starts again.
    has_container: bool,
    /// True if a workload exists. It has the log of the app.
    exists: bool,
    runs: bool,
    /// True if the app has ended alone, since its last start.
    crashed: bool,
    /// True while an attempt has placed a part of the saved files.
    has_part: bool,
    has_files: bool,
    starts: usize,
    /// True if the app does not answer.
    is_silent: bool,
}

/// The world, and the notice that the launcher is to be killed.
#[derive(Debug, Default)]
struct Machine {
    world: Mutex<World>,
    killed: Notify,
}

impl Machine {
    /// One step of the launcher. The launcher that is killed here does not go on.
    async fn step<T>(&self, change: impl FnOnce(&mut World) -> T) -> T {
        self.point().await;
        let outcome = change(&mut lock(&self.world));
        self.point().await;
        outcome
    }

    async fn point(&self) {
        let is_killed = {
            let mut world = lock(&self.world);
            world.steps += 1;
            world.kill_at == Some(world.steps)
        };
        if is_killed {
            self.killed.notify_one();
            std::future::pending().await
        }
    }
}

#[derive(Debug)]
struct NoSidecar;

#[async_trait]
impl SidecarConnector for NoSidecar {
    async fn connect(&self, _: &mut HeaderMap, _: Option<IpAddr>, _: &Stop) -> io::Result<Box<dyn Connection>> {
        Err(io::ErrorKind::ConnectionRefused.into())
    }
}

#[derive(Debug)]
struct Memory;

impl Backend for Memory {
    type Process = ();
    type Fleet = Arc<Machine>;
    type Exit = FailureReason;
    const OUTLIVES_LAUNCHER: bool = true;

    fn new(_: &Arc<Shared<Self>>, _: &StoredRecord<()>) -> Self {
        Self
    }

    async fn look(workload: &Arc<Workload<Self>>) -> Result<Look, Setback> {
        let restarts = workload.record.get().status().report.start_step == Some(StartStep::RestartingApp);
        let look = |world: &mut World| match (world.runs, world.exists && world.starts > 0) {
            (true, _) => Ok(Look::Running),
            (false, false) => Ok(Look::Absent),
            (false, true) if !world.has_container => Ok(Look::Absent),
            (false, true) if world.crashed && !restarts => Err(Setback::Crashed(crash())),
            (false, true) => Ok(Look::Interrupted),
        };
        workload.fleet().step(look).await
    }

    async fn prepare(workload: &Arc<Workload<Self>>, _: Attempt) -> Result<(), Setback> {
        workload.fleet().step(|world| world.exists = true).await;
        Ok(())
    }

    async fn place_files(workload: &Arc<Workload<Self>>, _: &WorkshopRestore) -> Result<(), NotPlaced> {
        let begin = |world: &mut World| {
            assert_eq!(world.starts, 0, "saved files replace those of an app that has run");
            (world.has_part, world.has_files) = (true, false);
        };
        workload.fleet().step(begin).await;
        workload.fleet().step(|world| (world.has_part, world.has_files) = (false, true)).await;
        Ok(())
    }

    async fn load_material(
        workload: &Arc<Workload<Self>>,
        material: &WorkshopMaterial,
    ) -> Result<MaterialReport, Setback> {
        workload.fleet().step(|world| assert_eq!(world.starts, 0, "material after the start")).await;
        Ok(material.failed("no material"))
    }

    async fn launch(workload: &Arc<Workload<Self>>, attempt: Attempt) -> Result<(), Setback> {
        let launch = |world: &mut World| {
            assert!(!world.runs, "a second app");
            assert!(world.has_files && !world.has_part, "the app sees a part of the files");
            assert!(world.exists && (attempt == Attempt::New || world.starts > 0));
            world.runs = true;
            world.crashed = false;
            world.starts += 1;
        };
        workload.fleet().step(launch).await;
        Ok(())
    }

    async fn answered(workload: &Arc<Workload<Self>>) -> Result<(), Setback> {
        if workload.fleet().step(|world| world.is_silent).await {
            return std::future::pending().await;
        }
        Ok(())
    }

    async fn listens_elsewhere(_: &Arc<Workload<Self>>) -> Option<Option<ListensElsewhere>> {
        None
    }

    fn connector(_: &Arc<Workload<Self>>) -> Option<Arc<dyn SidecarConnector>> {
        Some(Arc::new(NoSidecar))
    }

    /// The app crashes as soon as it is ready.
    async fn ended(workload: &Arc<Workload<Self>>) -> FailureReason {
        if workload.record.phase() != Phase::Running {
            return std::future::pending().await;
        }
        workload.fleet().step(|world| (world.runs, world.crashed) = (false, true)).await;
        crash()
    }

    async fn explain(_: &Arc<Workload<Self>>, exit: FailureReason) -> Setback {
        Setback::Crashed(exit)
    }

    async fn tick(_: &Arc<Workload<Self>>) {}

    async fn log_tail(workload: &Arc<Workload<Self>>) -> Option<String> {
        workload.fleet().step(|world| world.exists.then(|| LAST_WORDS.to_owned())).await
    }

    async fn stop(workload: &Arc<Workload<Self>>) {
        workload.fleet().step(|world| (world.exists, world.runs) = (false, false)).await;
    }
}

fn crash() -> FailureReason {
    FailureReason::new(FailureCode::Crashed, None)
}

fn workshop() -> Workshop {
    let resources = json!({ "cpuRequest": "1", "cpuLimit": "1", "memoryRequest": "1Gi", "memoryLimit": "1Gi" });
    let source = json!({ "kind": "git", "url": "https://git.example.org/course", "target": "course" });
    let spec = json!({
        "owner": "alice@example.org", "image": "app:1", "appType": "custom", "port": 8888, "resources": resources,
        "securityProfile": "restricted", "lifetimeSeconds": 3600,
        "restore": { "snapshot": "00000000-0000-4000-8000-000000000001" },
        "material": { "directory": "/home", "sources": [source] },
    });
    Workshop::new(NAME, serde_json::from_value(spec).unwrap())
}

fn open(data_dir: &std::path::Path, machine: &Arc<Machine>) -> Arc<Registry<Memory>> {
    let origins = OriginSettings {
        public_origin: Uri::from_static("http://localhost:8000"),
        workshop_domain: "localhost".to_owned(),
        trusted_header: TrustedHeader::default(),
        proxy_secret: None,
        require_authentication: true,
        session_cookie_prefix: String::new(),
        brand: Brand::NONE,
    };
    let settings = MachineSettings {
        data_dir: data_dir.to_owned(),
        origins,
        material: "no-such-program".into(),
        saved_files: None,
        start_timeout: Duration::from_secs(3600),
        stop_grace: Duration::ZERO,
    };
    let (data_dir, records) = DataDir::open(data_dir, Arc::new(SystemClock), |_| ()).unwrap();
    let (stop, fleet) = (Stop::new(), Arc::clone(machine));
    let registry = Registry::new(Shared { settings, data_dir, stop, source_checks: None, fleet });
    for (name, record) in records {
        registry.supervise(&registry.create_workload(name, record));
    }
    registry
}

/// Waits until the Workshop has failed, and deletes it then. Returns its final status; `None` if an earlier launcher has seen it.
async fn run_to_the_end(registry: &Arc<Registry<Memory>>) -> Option<WorkshopStatus> {
    let (mut events, mut last) = (registry.cache.watch(), None);
    loop {
        let workshop = match events.next().await.unwrap() {
            FleetEvent::Relisted(workshops) if workshops.is_empty() => return last,
            FleetEvent::Relisted(mut workshops) => workshops.remove(0),
            FleetEvent::Applied(workshop) => *workshop,
            FleetEvent::Deleted(_) => return last,
        };
        if let Some(status) = workshop.status.filter(|status| status.phase.is_final()) {
            last = Some(status);
            registry.delete(NAME, None).await.unwrap();
        }
    }
}

/// Runs `work` as a launcher that is killed when the machine says so. Returns `None` if it was killed.
fn launcher<T>(machine: &Arc<Machine>, work: impl Future<Output = T>) -> Option<T> {
    // In the paused time of tokio, no retry delays the test.
    let runtime = Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime.block_on(async {
        tokio::select! {
            outcome = timeout(Duration::from_secs(3600), work) => {
                Some(outcome.expect("the supervisor waits without end, or has panicked"))
            }
            () = machine.killed.notified() => None,
        }
    })
    // The end of the runtime drops all tasks, as the end of the process does.
}

/// Kills the launcher at a step, and the app too, if the machine `reboots`. Returns false if there are fewer steps.
fn kill_at(step: usize, has_container: bool, reboots: bool) -> bool {
    let home = tempfile::tempdir().unwrap();
    let machine = Arc::new(Machine::default());
    *lock(&machine.world) = World { kill_at: Some(step), has_container, ..World::default() };
    let seen = Mutex::new(None);
    let first = launcher(&machine, async {
        let registry = open(home.path(), &machine);
        registry.apply(workshop(), SecretValues::default()).await.unwrap();
        *lock(&seen) = run_to_the_end(&registry).await;
    });
    if first.is_none() {
        let mut world = lock(&machine.world);
        world.kill_at = None;
        world.runs &= !reboots;
    }
    let successor = first.is_none().then(|| {
        launcher(&machine, async { run_to_the_end(&open(home.path(), &machine)).await }).expect("no second kill")
    });
    let is_killed = first.is_none();
    // The launcher that was killed may have reported the end, and been killed during the deletion.
    if let Some(status) = successor.unwrap_or_else(|| lock(&seen).clone()) {
        assert_eq!(status.phase, Phase::Failed, "step {step}");
        assert_eq!(status.reason.as_deref(), Some(FailureCode::Crashed.as_str()), "step {step}");
        assert_eq!(status.report.log_tail.as_deref(), Some(LAST_WORDS), "step {step}");
    } else {
        assert!(is_killed);
    }
    let world = lock(&machine.world);
    assert!(!world.runs && !world.exists, "step {step}: the workload is left");
    // A successor without a container cannot know whether the app has crashed, and a reboot is no crash.
    let most = if has_container && !reboots { 3 } else { 4 };
    assert!((3..=most).contains(&world.starts), "step {step}: {} starts", world.starts);
    assert!(!home.path().join("fleet/workshops").join(NAME).exists(), "step {step}: the record is left");
    is_killed
}

#[test]
fn successor_of_a_launcher_that_is_killed_at_any_step_completes_the_same_lifecycle() {
    for (has_container, reboots) in [(false, false), (true, false), (true, true)] {
        let steps = (1..).take_while(|step| kill_at(*step, has_container, reboots)).count();
        assert!(steps > 30, "only {steps} steps");
    }
}

#[test]
fn access_of_the_owner_alone_does_not_make_a_workshop_ready() {
    let home = tempfile::tempdir().unwrap();
    let machine = Arc::new(Machine::default());
    lock(&machine.world).is_silent = true;
    let phase = launcher(&machine, async {
        let registry = open(home.path(), &machine);
        registry.apply(workshop(), SecretValues::default()).await.unwrap();
        let mut events = registry.cache.watch();
        let is_starting = |event: &FleetEvent| {
            let FleetEvent::Applied(workshop) = event else { return false };
            workshop.status.as_ref().is_some_and(|status| status.report.material.is_some())
        };
        while !events.next().await.as_ref().is_some_and(is_starting) {}
        let workload = registry.workload(NAME).unwrap();
        workload.open();
        sleep(Duration::from_secs(2)).await; // simulated time
        workload.record.phase()
    });
    assert_eq!(phase, Some(Phase::Starting));
}
