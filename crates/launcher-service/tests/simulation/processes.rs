//! Programs of a run: launchers and operators. The test can pause or kill them at any time.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use launcher_domain::{Entropy, TemplatePolicy};
use launcher_fleet::KubernetesFleet;
use launcher_operator::{Operator, OperatorSettings};
use launcher_process::settings::from_arguments;
use launcher_process::stop::Stop;
use launcher_service::{Launcher, Limits};
use launcher_store::Store;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::seeded::SkewedClock;
use crate::server::Server;

/// Maximum time until a workshop is ready.
pub(crate) const START_TIMEOUT: Duration = Duration::from_secs(90);

/// Pause of a program, like SIGSTOP.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pause(Arc<(AtomicBool, Mutex<Vec<Waker>>)>);

impl Pause {
    pub(crate) fn begin(&self) {
        self.0.0.store(true, Ordering::SeqCst);
    }

    /// Resumes the program. Each call wakes only one waiting task. Call it repeatedly, each time followed by
    /// `World::settle`, until it returns false.
    pub(crate) fn end(&self) -> bool {
        self.0.0.store(false, Ordering::SeqCst);
        let mut waiting = self.0.1.lock().unwrap();
        if waiting.is_empty() {
            return false;
        }
        waiting.remove(0).wake();
        true
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.0.load(Ordering::SeqCst)
    }

    /// Wraps a future so that this pause stops it.
    fn over<T>(&self, future: impl Future<Output = T> + Send + 'static) -> Paused<T> {
        Paused { pause: self.clone(), future: Box::pin(future) }
    }
}

struct Paused<T> {
    pause: Pause,
    future: Pin<Box<dyn Future<Output = T> + Send>>,
}

impl<T> Future for Paused<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        if self.pause.is_set() {
            self.pause.0.1.lock().unwrap().push(context.waker().clone());
            return Poll::Pending;
        }
        self.future.as_mut().poll(context)
    }
}

/// A launcher or an operator. Dropping it aborts its tasks at any point.
pub(crate) struct Process {
    pub(crate) name: String,
    pub(crate) clock: Arc<SkewedClock>,
    pub(crate) pause: Pause,
    tasks: JoinSet<Part>,
}

/// Kind of task of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// A loop: the task ends only when the program is killed.
    Loop,
    /// A request: the task ends with the response.
    Request,
}

impl Process {
    fn new(name: String, clock: Arc<SkewedClock>) -> Self {
        Self { name, clock, pause: Pause::default(), tasks: JoinSet::new() }
    }

    /// Runs one request as a task of this program. Killing the program also kills the task.
    pub(crate) fn spawn(&mut self, work: impl Future<Output = ()> + Send + 'static) {
        self.spawn_part(Part::Request, work);
    }

    /// Runs the loops of this program. They must run until the program is killed.
    fn spawn_loop(&mut self, work: impl Future<Output = ()> + Send + 'static) {
        self.spawn_part(Part::Loop, work);
    }

    fn spawn_part(&mut self, part: Part, work: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(self.pause.over(async move {
            work.await;
            part
        }));
    }

    /// Returns the fault of a task that has ended since the last call: a panic, or the end of a loop.
    pub(crate) fn fault(&mut self) -> Option<String> {
        while let Some(ended) = self.tasks.try_join_next() {
            match ended {
                Ok(Part::Request) => {}
                Ok(Part::Loop) => return Some(format!("the loops of {} ended", self.name)),
                Err(error) => return Some(format!("{} panicked: {error}", self.name)),
            }
        }
        None
    }
}

/// One of the launchers.
pub(crate) struct Replica {
    pub(crate) launcher: Launcher,
    pub(crate) process: Process,
}

impl Replica {
    pub(crate) fn start(
        name: String,
        store: &Store,
        server: &Server,
        entropy: Arc<dyn Entropy>,
        limits: Limits,
    ) -> Self {
        let clock = Arc::new(SkewedClock::new(server.time));
        let fleet = Arc::new(KubernetesFleet::new(server.client(&name), "workshops"));
        let launcher =
            Launcher::new(store.clone(), fleet, clock.clone(), entropy, limits, TemplatePolicy::default(), None);
        let mut process = Process::new(name, clock);
        let loops = launcher.clone();
        process.spawn_loop(async move {
            // As in the real program, the loops start only after the rows are bound to this fleet.
            while loops.claim_fleet().await.is_err() {
                tokio::time::sleep(Duration::from_secs(1)).await; // simulated time
            }
            loops.run(CancellationToken::new()).await;
        });
        Self { launcher, process }
    }
}

/// Starts an operator. `version` is the tag of its sidecar image: a leader with another version makes the running
/// workshops outdated.
pub(crate) fn start_operator(name: String, version: u32, server: &Server, entropy: &dyn Entropy) -> Process {
    let clock = Arc::new(SkewedClock::new(server.time));
    let operator = Operator::new(server.client(&name), operator_settings(version), &name, clock.clone(), entropy);
    let mut process = Process::new(name, clock);
    process.spawn_loop(launcher_operator::run(operator, Stop::new()));
    process
}

fn operator_settings(version: u32) -> OperatorSettings {
    let settings: OperatorSettings = from_arguments(&[
        "--namespace=workshops",
        "--workshop-domain=workshops.test",
        "--ingress-gated-elsewhere=true",
        &format!("--sidecar-image=sidecar:{version}"),
        "--wait-for-isolation=true",
        "--room-grace=20",
        "--concurrency=8",
    ])
    .unwrap();
    OperatorSettings { start_timeout: START_TIMEOUT, ..settings }
}
