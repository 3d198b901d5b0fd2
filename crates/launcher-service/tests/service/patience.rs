//! Start timeout of the service. A report of the fleet takes precedence over the timeout.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use launcher_domain::clock::SystemEntropy;
use launcher_domain::{
    FailureCode, FailureReason, InstanceState, ListensElsewhere, SecretValues, StartStep, TemplatePolicy,
};
use launcher_fleet::{Deletion, Fleet, FleetError, FleetEvent};
use launcher_service::{Launcher, Limits};
use launcher_testkit::{FakeFleet, Fault, eventually};
use launcher_workshop::Workshop;
use tokio::sync::Notify;
use tokio::time::{Instant, pause, resume};

use crate::{World, caller};

/// Time after which a start is overdue: more than the start timeout and its margin.
const TOO_LONG: Duration = Duration::from_secs(700);
/// Retention of ended instances. It is shorter than [`TOO_LONG`], so advancing the clock once makes a start overdue and
/// an ended instance purgeable.
const FORGETFUL: Duration = Duration::from_secs(60);

/// Behaviour of the fleet when the service reads one Workshop.
#[derive(Debug)]
enum Question {
    Answered,
    Refused,
    /// The fleet never answers.
    Silence {
        asked: Arc<Notify>,
    },
    /// The fleet answers when the test allows it, with the state at the time of the request.
    AnsweredLate {
        asked: Arc<Notify>,
        answer: Arc<Notify>,
    },
}

/// A fleet that can withhold the events of its watches, and whose answers to `get` the test controls.
#[derive(Debug)]
struct Reserved {
    fleet: FakeFleet,
    watches_tell: bool,
    question: Question,
}

#[async_trait]
impl Fleet for Reserved {
    async fn apply_with_secrets(&self, wanted: &Workshop, secrets: &SecretValues) -> Result<Workshop, FleetError> {
        self.fleet.apply_with_secrets(wanted, secrets).await
    }

    async fn delete(&self, name: &str, uid: Option<&str>) -> Result<Deletion, FleetError> {
        self.fleet.delete(name, uid).await
    }

    async fn delete_volume(&self, name: &str) -> Result<(), FleetError> {
        self.fleet.delete_volume(name).await
    }

    async fn get(&self, name: &str) -> Result<Option<Workshop>, FleetError> {
        let found = self.fleet.get(name).await;
        match &self.question {
            Question::Answered => {}
            Question::Refused => return Err(FleetError::Unavailable("fault injected by the test".to_owned())),
            Question::Silence { asked } => {
                asked.notify_one();
                std::future::pending().await
            }
            Question::AnsweredLate { asked, answer } => {
                asked.notify_one();
                answer.notified().await;
            }
        }
        found
    }

    async fn identity(&self) -> Result<String, FleetError> {
        self.fleet.identity().await
    }

    fn watch(&self) -> BoxStream<'static, FleetEvent> {
        if self.watches_tell { self.fleet.watch() } else { futures_util::stream::pending().boxed() }
    }
}

impl World {
    /// Replaces the service by a new one with a fleet that the test controls, and advances the clock: every start is
    /// overdue.
    async fn impatient(&mut self, watches_tell: bool, question: Question) {
        self.kill().await;
        let fleet = Reserved { fleet: self.fleet.clone(), watches_tell, question };
        let (store, clock) = (self.store.clone(), self.clock.clone());
        let policy = TemplatePolicy::default();
        self.launcher =
            Launcher::new(store, Arc::new(fleet), clock, Arc::new(SystemEntropy), self.limits, policy, None);
        self.clock.advance(TOO_LONG);
    }

    /// Returns the name of a starting instance whose Workshop is applied.
    async fn starting(&self) -> String {
        let name = self.launch(&caller("alice")).await.k8s_name;
        self.until(&name, InstanceState::Starting).await;
        self.everything_told().await;
        name
    }

    /// Returns an ended instance that upkeep purges after the history limit.
    async fn outdated(&self) -> String {
        let name = self.running(&caller("bob")).await.k8s_name;
        self.launcher.terminate(&caller("bob"), &name).await.unwrap();
        self.until(&name, InstanceState::Terminated).await;
        name
    }

    /// Waits until upkeep has completed a round, which purges `outdated`. Then stops the loops.
    async fn upkeep(&mut self, outdated: &str) {
        eventually(async || self.launcher.instance(&caller("bob"), outdated).await.err()).await;
        self.stop().await;
    }

    async fn state(&self, name: &str) -> InstanceState {
        self.launcher.instance(&caller("admin"), name).await.unwrap().instance.state
    }
}

#[tokio::test]
async fn overdue_start_fails_when_fleet_reports_nothing() {
    let mut world = World::new().await;
    let name = world.starting().await;
    world.kill().await;
    world.clock.advance(TOO_LONG);
    world.start();
    let failed = world.until(&name, InstanceState::Failed).await;
    assert_eq!(failed.reason.unwrap().code, FailureCode::StartTimeout);
}

#[tokio::test]
async fn overdue_start_says_on_which_address_the_app_listens() {
    let mut world = World::new().await;
    let name = world.starting().await;
    let elsewhere = ListensElsewhere::new(["127.0.0.1:8000".parse().unwrap()], 8888).unwrap();
    world.fleet.listens_elsewhere(&name, elsewhere.clone());
    let admin = caller("admin");
    let row = || world.launcher.instance(&admin, &name);
    eventually(async || row().await.unwrap().instance.report.listens_elsewhere).await;
    world.kill().await;
    world.clock.advance(TOO_LONG);
    world.start();
    let failed = world.until(&name, InstanceState::Failed).await;
    let reason = FailureReason::new(FailureCode::StartTimeout, None).with_listening(Some(&elsewhere));
    assert_eq!((failed.reason, failed.report.listens_elsewhere), (Some(reason), None));
}

#[tokio::test]
async fn start_timeout_counts_from_time_reported_by_fleet() {
    let mut world = World::with(Limits { history: FORGETFUL, ..Limits::default() }).await;
    let outdated = world.outdated().await;
    let name = world.starting().await;
    world.impatient(true, Question::Answered).await;
    world.fleet.starting(&name, StartStep::PullingImage);
    world.start();
    world.upkeep(&outdated).await;
    assert_eq!(world.state(&name).await, InstanceState::Starting);
    // The fleet never continues this start, so the start is overdue after another advance of the clock.
    world.clock.advance(TOO_LONG);
    world.start();
    let failed = world.until(&name, InstanceState::Failed).await;
    assert_eq!(failed.reason.unwrap().code, FailureCode::StartTimeout);
}

#[tokio::test]
async fn start_that_reports_its_progress_or_waits_for_a_quota_is_not_overdue() {
    for step in [StartStep::WaitingForRoom, StartStep::WaitingForQuota] {
        let mut world = World::with(Limits { history: FORGETFUL, ..Limits::default() }).await;
        let outdated = world.outdated().await;
        let name = world.starting().await;
        match step {
            StartStep::WaitingForQuota => world.fleet.starting(&name, step),
            _ => world.fleet.progress(&name, step, 1),
        }
        world.impatient(true, Question::Answered).await;
        world.start();
        world.upkeep(&outdated).await;
        assert_eq!(world.state(&name).await, InstanceState::Starting);
        world.fleet.starting(&name, StartStep::Preparing);
        world.clock.advance(TOO_LONG);
        world.start();
        let failed = world.until(&name, InstanceState::Failed).await;
        assert_eq!(failed.reason.unwrap().code, FailureCode::StartTimeout);
    }
}

#[tokio::test]
async fn overdue_start_of_ready_workshop_without_watch_event_becomes_running() {
    let mut world = World::new().await;
    let name = world.starting().await;
    world.impatient(false, Question::Answered).await;
    world.fleet.ready(&name);
    world.start();
    world.until(&name, InstanceState::Running).await;
}

#[tokio::test]
async fn fleet_failure_reason_takes_precedence_over_timeout() {
    let mut world = World::new().await;
    let name = world.starting().await;
    world.impatient(false, Question::Answered).await;
    world.fleet.fail(&name, FailureCode::ImagePullFailed, "");
    world.start();
    let failed = world.until(&name, InstanceState::Failed).await;
    assert_eq!(failed.reason.unwrap().code, FailureCode::ImagePullFailed);
}

#[tokio::test]
async fn workshop_that_becomes_ready_during_timeout_check_keeps_running() {
    let mut world = World::with(Limits { history: FORGETFUL, ..Limits::default() }).await;
    let outdated = world.outdated().await;
    let name = world.starting().await;
    let (asked, answer) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    world.impatient(true, Question::AnsweredLate { asked: asked.clone(), answer: answer.clone() }).await;
    world.start();
    asked.notified().await;
    world.fleet.ready(&name);
    world.until(&name, InstanceState::Running).await;
    answer.notify_one();
    world.upkeep(&outdated).await;
    assert_eq!(world.state(&name).await, InstanceState::Running);
}

#[tokio::test]
async fn overdue_start_of_applied_workshop_does_not_fail_during_fleet_outage() {
    let mut world = World::with(Limits { history: FORGETFUL, ..Limits::default() }).await;
    let outdated = world.outdated().await;
    let known = world.starting().await;
    world.fleet.inject_faults((0..4000).map(|_| Fault::Unavailable));
    let unknown = world.launch(&caller("alice")).await.k8s_name;
    world.until(&unknown, InstanceState::Starting).await;
    world.impatient(true, Question::Refused).await;
    world.start();
    world.upkeep(&outdated).await;
    assert_eq!(world.state(&known).await, InstanceState::Starting);
    assert_eq!(world.state(&unknown).await, InstanceState::Failed);
}

#[tokio::test]
async fn start_timeout_excludes_downtime_of_the_launcher() {
    let mut world = World::with(Limits { history: FORGETFUL, ..Limits::default() }).await;
    let outdated = world.outdated().await;
    let name = world.starting().await;
    world.stop().await;
    world.clock.advance(TOO_LONG);
    // Create a new service after the advance of the clock, as after a downtime of the launcher.
    world.kill().await;
    world.start();
    world.upkeep(&outdated).await;
    assert_eq!(world.state(&name).await, InstanceState::Starting);
}

#[tokio::test]
async fn unresponsive_fleet_does_not_delay_stop_of_service() {
    let mut world = World::with(Limits { max_instances_per_user: 9, ..Limits::default() }).await;
    for _ in 0..4 {
        world.starting().await;
    }
    let asked = Arc::new(Notify::new());
    world.impatient(true, Question::Silence { asked: asked.clone() }).await;
    world.start();
    asked.notified().await;
    // Upkeep has four fleet calls to make, and each would time out after 5 s: the stop waits for at most 3 s.
    pause();
    let begun = Instant::now();
    world.stop().await;
    assert!(begun.elapsed().as_secs() <= 3, "{:?}", begun.elapsed());
    resume();
}
