//! The lifecycle of a Workshop: from its spec, its former status, an observation of the fleet and the time, [`decide`] derives
//! the next status and the next action. Pure. All fleets use it; they only observe, and carry out the action.

use std::net::SocketAddr;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use launcher_domain::crash::{CrashHistory, CrashVerdict};
use launcher_domain::{Crash, FailureCode, FailureReason, Report, StartStep};

use crate::spec::{Workshop, WorkshopSpec};
use crate::status::{EXPOSED, Phase, READY, WorkshopStatus};

/// Reason of the condition `Ready` while the Workshop waits for a quota.
const WAITING_FOR_QUOTA: &str = "WaitingForQuota";
/// Reason of the condition of a failed Workshop.
const FAILED: &str = "Failed";

/// One observation of a Workshop by its fleet. `D` names the source of further details of a failure.
#[derive(Debug, Clone, PartialEq)]
pub enum Observed<D = ()> {
    /// The fleet has not looked at the workload yet.
    Unknown,
    /// The fleet cannot create the app's part of the workload.
    Refused(Refusal),
    Workload(Box<Workload<D>>),
}

impl<D> Observed<D> {
    /// The observation of a Workshop that fails for this reason, without a workload that tells more.
    #[must_use]
    pub fn failed(failure: impl Into<Failure<D>>) -> Self {
        Workload::of(App::Failed(failure.into())).into()
    }
}

impl<D> From<Workload<D>> for Observed<D> {
    fn from(workload: Workload<D>) -> Self {
        Self::Workload(Box::new(workload))
    }
}

/// Reason why a part of the workload cannot be created now.
#[derive(Debug, Clone, PartialEq)]
pub enum Refusal {
    /// The Workshop is the cause.
    Workshop {
        /// Reason of the condition of the Workshop meanwhile.
        condition: &'static str,
        message: String,
        /// Reason of the failure of the Workshop, if the refusal lasts.
        reason: FailureReason,
        /// End of the grace period.
        until: Timestamp,
    },
    /// The quota of the namespace has no room now, but later: the Workshop waits as long as it takes.
    Quota {
        /// Message of the condition of the Workshop meanwhile.
        message: String,
    },
    /// The Workshop is not the cause: the fleet tries again, as long as it takes.
    Fleet {
        /// True if the workshop has no app until then.
        lacks_app: bool,
    },
}

/// The observed state of a workload.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload<D = ()> {
    pub app: App<D>,
    /// Latest crash of an app whose files outlive the crash.
    pub crash: Option<AppCrash<D>>,
    /// End of the former workload by the cluster. Another one continues with the same files.
    pub moved: Option<Crash>,
    /// Observed fields of the report: URLs, listening addresses, progress and course material.
    pub report: Report,
    pub routes: Routes,
    /// Address at which the launcher reads the files of the app.
    pub archive_address: Option<SocketAddr>,
    /// Address at which the workload waits for saved files.
    pub restore_address: Option<SocketAddr>,
    /// True if the fleet would now create another workload.
    pub is_outdated: bool,
}

impl<D> Workload<D> {
    /// Returns a workload of which only the state of the app is known.
    #[must_use]
    pub fn of(app: App<D>) -> Self {
        Self {
            app,
            crash: None,
            moved: None,
            report: Report::default(),
            routes: Routes::Own,
            archive_address: None,
            restore_address: None,
            is_outdated: false,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum App<D = ()> {
    /// It has not answered since its start.
    Starting(Start<D>),
    Ready,
    /// It has ended, and the fleet can start it again with its files.
    Ended,
    Failed(Failure<D>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Start<D = ()> {
    pub step: StartStep,
    /// Time at which the fleet first saw the start. Only needed if the Workshop has no status yet.
    pub seen: Option<Timestamp>,
    /// The start timeout; `None` during a step that has limits of its own.
    pub timeout: Option<StartTimeout<D>>,
    /// Further deadlines of the current step.
    pub deadlines: Vec<Deadline<D>>,
    /// Time at which the fleet should look again, even without a change.
    pub look_again: Option<Timestamp>,
}

impl<D> Start<D> {
    /// Returns a start at a step without deadlines.
    #[must_use]
    pub fn at(step: StartStep) -> Self {
        Self { step, seen: None, timeout: None, deadlines: Vec::new(), look_again: None }
    }
}

/// Maximum time until the app answers.
#[derive(Debug, Clone, PartialEq)]
pub struct StartTimeout<D = ()> {
    pub limit: Duration,
    /// Creation of the workload: the timeout never counts from an earlier time. `None` if it is being created.
    pub created: Option<Timestamp>,
    pub failure: Failure<D>,
}

/// The time at which a wait becomes a failure, and that failure.
#[derive(Debug, Clone, PartialEq)]
pub struct Deadline<D = ()> {
    pub at: Timestamp,
    pub failure: Failure<D>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Failure<D = ()> {
    /// The reason that the owner reads.
    pub reason: FailureReason,
    /// Last lines of the app's log.
    pub log_tail: Option<String>,
    /// Source of further details; `None` if the failure is complete.
    pub details: Option<D>,
}

impl<D> From<FailureReason> for Failure<D> {
    fn from(reason: FailureReason) -> Self {
        Self { reason, log_tail: None, details: None }
    }
}

/// Latest crash of an app whose files outlive it.
#[derive(Debug, Clone, PartialEq)]
pub struct AppCrash<D = ()> {
    pub crash: Crash,
    /// Recent crashes, with this one.
    pub history: CrashHistory,
    /// Failure of the Workshop if the app does not start again.
    pub failure: Failure<D>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Routes {
    /// The fleet has a gateway of its own, which needs no report.
    Own,
    /// The Workshop is exposed, with this reason of the condition.
    Exposed(&'static str),
    /// The Workshop is not exposed: reason and message of the condition.
    Hidden(&'static str, &'static str),
    /// A route cannot be created now. Those of a running app stay.
    Refused(Refusal),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Decision<D = ()> {
    /// The next status. Equal to the former one if nothing changes.
    pub status: WorkshopStatus,
    /// The next action, after the status is stored.
    pub action: Action<D>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Action<D = ()> {
    /// Create or continue the workload, and observe it.
    Start,
    /// Start the app again with its files.
    Restart,
    /// Observe again after a change, and at this time.
    WaitUntil(Option<Timestamp>),
    /// As [`Action::WaitUntil`]. The lifetime is over, and the launcher saves the files until this time.
    SaveUntil(Timestamp),
    /// Collect the details of this failure before its source is gone, and decide once more with the complete failure.
    Explain(Failure<D>),
    /// Remove the workload. The status is final.
    End,
}

#[must_use]
pub fn decide<D>(workshop: &Workshop, observed: Observed<D>, now: Timestamp) -> Decision<D> {
    let before = Previous::new(workshop.status.as_ref(), workshop.metadata.generation, now);
    if is_final(workshop) {
        return Decision { status: before.unchanged(), action: Action::End };
    }
    if has_expired(workshop, now) {
        return Decision { status: before.expired(), action: Action::End };
    }
    match observed {
        Observed::Unknown => Decision { status: before.unchanged(), action: Action::Start },
        Observed::Refused(refusal) => before.refused(&workshop.spec, refusal, Vec::new()),
        Observed::Workload(workload) => before.observed(&workshop.spec, *workload),
    }
}

/// Returns the status of a Workshop whose spec cannot be parsed. `previous` is its status, `None` if there is none or if it
/// cannot be parsed either.
#[must_use]
pub fn unreadable(
    previous: Option<&WorkshopStatus>,
    generation: Option<i64>,
    reason: FailureReason,
    now: Timestamp,
) -> WorkshopStatus {
    Previous::new(previous, generation, now).failed(&Failure::<()>::from(reason))
}

/// True if the Workshop has failed or expired. Both are final, because the work in the app's memory is lost. The only
/// exception is a failure because of an invalid spec: it ends when the spec is corrected.
#[must_use]
pub fn is_final(workshop: &Workshop) -> bool {
    let is_final =
        |status: &WorkshopStatus| status.phase.is_final() && !status.is_outdated(workshop.metadata.generation);
    workshop.status.as_ref().is_some_and(is_final)
}

/// True if the app of the Workshop has been ready at some time.
#[must_use]
pub fn was_ready(workshop: &Workshop) -> bool {
    workshop.status.as_ref().is_some_and(|status| status.ready_at.is_some())
}

/// True if a Workshop that was last restarted at this time has a workload from before. The workload was `created` then, and
/// `noted` is the restart that its creator knew.
///
/// The noted restart identifies a successor, also if the clocks of launcher and fleet differ: each restart therefore
/// replaces the workload only once. The creation time protects the workload of a later restart, which a restored database
/// does not know. It has whole seconds: a workload from the second of the restart counts as older, unless it noted it.
#[must_use]
pub fn awaits_restart(restarted_at: Option<Timestamp>, noted: Option<Timestamp>, created: Option<Timestamp>) -> bool {
    let is_older = |at: Timestamp| created.is_none_or(|created| created.as_second() <= at.as_second());
    noted != restarted_at && restarted_at.is_some_and(is_older)
}

/// True if the lifetime of the Workshop is over. With a planned snapshot, the grace period must be over, too.
#[must_use]
pub fn has_expired(workshop: &Workshop, now: Timestamp) -> bool {
    let ready_at = workshop.status.as_ref().and_then(|status| status.ready_at);
    workshop.spec.end(ready_at).is_some_and(|end| end <= now)
}

/// The parts of the former status from which the next one is derived.
struct Previous<'a> {
    status: Option<&'a WorkshopStatus>,
    ready_at: Option<Timestamp>,
    /// The fields of the report that every phase keeps.
    lasting: Report,
    generation: Option<i64>,
    now: Timestamp,
}

impl<'a> Previous<'a> {
    fn new(status: Option<&'a WorkshopStatus>, generation: Option<i64>, now: Timestamp) -> Self {
        let ready_at = status.and_then(|status| status.ready_at);
        Self {
            status,
            ready_at,
            lasting: status.map(|status| status.report.lasting()).unwrap_or_default(),
            generation,
            now,
        }
    }

    fn unchanged(&self) -> WorkshopStatus {
        self.status.cloned().unwrap_or_default()
    }

    fn expired(&self) -> WorkshopStatus {
        WorkshopStatus {
            phase: Phase::Expired,
            report: self.lasting.clone(),
            ready_at: self.ready_at,
            observed_generation: self.generation,
            conditions: vec![self.not_ready("Expired", "The workshop's lifetime is over.", self.now)],
            ..WorkshopStatus::default()
        }
    }

    fn failed<D>(&self, Failure { reason, log_tail, details: _ }: &Failure<D>) -> WorkshopStatus {
        WorkshopStatus {
            ready_at: self.ready_at,
            observed_generation: self.generation,
            conditions: vec![self.not_ready(FAILED, &reason.message, self.now)],
            ..WorkshopStatus::failed(reason.clone(), log_tail.clone()).after(&self.lasting)
        }
    }

    fn fail<D>(&self, failure: Failure<D>) -> Decision<D> {
        let status = self.failed(&failure);
        let action = if failure.details.is_some() { Action::Explain(failure) } else { Action::End };
        Decision { status, action }
    }

    /// Returns the status of a Workshop that is not over.
    fn live(&self, spec: &WorkshopSpec, phase: Phase, report: Report, conditions: Vec<Condition>) -> WorkshopStatus {
        let ready_at = self.ready_at.or((phase == Phase::Running).then_some(self.now));
        WorkshopStatus {
            phase,
            report: report.after(&self.lasting),
            restarted_at: self.status.and_then(|status| status.restarted_at),
            ready_at,
            expires_at: spec.expiry(ready_at).filter(|_| ready_at.is_some()),
            observed_generation: self.generation,
            conditions,
            ..WorkshopStatus::default()
        }
    }

    /// Returns the status of a Workshop without an app for this reason. The condition about its routes stays.
    fn without_app(&self, spec: &WorkshopSpec, step: StartStep, why: &str, message: &str) -> WorkshopStatus {
        let report = starting(step, &Report::default());
        let ready = self.not_ready(why, message, self.now);
        self.live(spec, Phase::Starting, report, [ready].into_iter().chain(self.known(EXPOSED).cloned()).collect())
    }

    /// Decides about a refusal, while the workload waits for these `times`, too.
    fn refused<D>(&self, spec: &WorkshopSpec, refusal: Refusal, mut times: Vec<Timestamp>) -> Decision<D> {
        let status = match refusal {
            Refusal::Workshop { reason, until, .. } if until <= self.now => return self.fail(reason.into()),
            Refusal::Workshop { condition, message, reason, until } => {
                times.push(until);
                let is_quota = reason.code == FailureCode::QuotaExceeded;
                let step = if is_quota { StartStep::WaitingForRoom } else { StartStep::Preparing };
                self.without_app(spec, step, condition, &message)
            }
            Refusal::Quota { message } => {
                self.without_app(spec, StartStep::WaitingForQuota, WAITING_FOR_QUOTA, &message)
            }
            Refusal::Fleet { lacks_app: true } if self.ready_at.is_some() => {
                self.without_app(spec, StartStep::Preparing, "NoPod", "The operator cannot create the pod.")
            }
            Refusal::Fleet { lacks_app: _ } => self.unchanged(),
        };
        Decision { status, action: self.wait(spec, self.ready_at, &times) }
    }

    fn observed<D>(mut self, spec: &WorkshopSpec, workload: Workload<D>) -> Decision<D> {
        let Workload { app, crash, moved, report, routes, archive_address, restore_address, is_outdated } = workload;
        let (app, crash) = self.judge(app, crash);
        let moved_at = moved.as_ref().map_or_else(|| self.last_move(), |moved| moved.at);
        let seen = Report { last_crash: crash.or(moved), ..report.lasting() };
        self.lasting = seen.after(&self.lasting);
        let conditions = |ready: Option<Condition>| ready.into_iter().chain(self.exposed(&routes)).collect();
        let (status, action) = match app {
            App::Failed(failure) => return self.fail(failure),
            App::Ready => {
                let ready = self.condition(READY, true, "Answers", "", self.now);
                let status = self.live(spec, Phase::Running, report.of_run(), conditions(Some(ready)));
                let action = self.wait(spec, status.ready_at, &[]);
                (WorkshopStatus { archive_address, ..status }, action)
            }
            App::Ended => {
                let step = StartStep::RestartingApp;
                let conditions = conditions(Some(self.not_ready("Starting", step.as_str(), self.now)));
                (self.live(spec, Phase::Starting, starting(step, &Report::default()), conditions), Action::Restart)
            }
            App::Starting(start) => {
                let Start { step, seen, timeout, mut deadlines, look_again } = start;
                let seen = seen.unwrap_or(self.now);
                deadlines.extend(timeout.map(|timeout| self.start_deadline(timeout, seen, moved_at)));
                if let Some(passed) = deadlines.iter().position(|deadline| deadline.at <= self.now) {
                    return self.fail(deadlines.swap_remove(passed).failure);
                }
                let next: Vec<Timestamp> = deadlines.iter().map(|deadline| deadline.at).chain(look_again).collect();
                if let Routes::Refused(refusal @ Refusal::Workshop { .. }) = &routes
                    && self.ready_at.is_none()
                {
                    return self.refused(spec, refusal.clone(), next);
                }
                let action = self.wait(spec, self.ready_at, &next);
                // The wait for the app does not count during a step with a progress.
                let counts = report.start_progress.is_none();
                let conditions = conditions(counts.then(|| self.not_ready("Starting", step.as_str(), seen)));
                let status = self.live(spec, Phase::Starting, starting(step, &report), conditions);
                (WorkshopStatus { restore_address, ..status }, action)
            }
        };
        let pod_outdated = is_outdated.then_some(true);
        Decision { status: WorkshopStatus { restarted_at: spec.restarted_at, pod_outdated, ..status }, action }
    }

    /// Applies the rule about crashes. Returns the crash after which the app starts again.
    fn judge<D>(&self, app: App<D>, crash: Option<AppCrash<D>>) -> (App<D>, Option<Crash>) {
        let Some(AppCrash { crash, history, failure }) = crash else { return (app, None) };
        match (history.verdict(self.ready_at.is_some()), app) {
            (CrashVerdict::StartAgain, app) => (app, Some(crash)),
            (CrashVerdict::Fail, App::Failed(failure)) => (App::Failed(failure), None),
            (CrashVerdict::Fail, App::Starting(_) | App::Ready | App::Ended) => (App::Failed(failure), None),
        }
    }

    /// Returns the deadline of a start that the fleet first saw at `seen`. The timeout counts from this time, or from the
    /// last loss of readiness or of the workload. It is never earlier than the creation of the workload: time without a
    /// fleet or with an invalid spec does not count.
    fn start_deadline<D>(&self, timeout: StartTimeout<D>, seen: Timestamp, moved_at: Timestamp) -> Deadline<D> {
        let StartTimeout { limit, created, failure } = timeout;
        // A Workshop that has been ready can lose its workload. Its wait does not begin again at each observation.
        let created = created.or(self.ready_at.map(|_| Timestamp::MIN)).unwrap_or(seen);
        // A corrected spec begins a new start.
        let is_wait =
            |ready: &&Condition| ready.status != "True" && ![WAITING_FOR_QUOTA, FAILED].contains(&&*ready.reason);
        let unready = self.known(READY).filter(is_wait);
        let unready_since = unready.map_or(seen, |ready| ready.last_transition_time.0);
        let since = created.max(unready_since).max(moved_at);
        Deadline { at: since.checked_add(limit).unwrap_or(Timestamp::MAX), failure }
    }

    /// Returns the time of the last move to another workload, from the status.
    fn last_move(&self) -> Timestamp {
        let is_move = |crash: &&Crash| matches!(crash.code, FailureCode::Evicted | FailureCode::NodeLost);
        self.lasting.last_crash.as_ref().filter(is_move).map_or(Timestamp::MIN, |crash| crash.at)
    }

    /// Waits for the first of these times, or for the end of the workload.
    fn wait<D>(&self, spec: &WorkshopSpec, ready_at: Option<Timestamp>, times: &[Timestamp]) -> Action<D> {
        let end = spec.end(ready_at);
        let next = times.iter().copied().chain(end).min();
        match next {
            Some(next) if spec.expiry(ready_at).is_some_and(|expiry| expiry <= self.now) => Action::SaveUntil(next),
            next => Action::WaitUntil(next),
        }
    }

    fn exposed(&self, routes: &Routes) -> Option<Condition> {
        match routes {
            Routes::Own => None,
            Routes::Exposed(why) => Some(self.condition(EXPOSED, true, why, "", self.now)),
            Routes::Hidden(why, message) => Some(self.condition(EXPOSED, false, why, message, self.now)),
            Routes::Refused(_) => self.known(EXPOSED).cloned(),
        }
    }

    fn known(&self, kind: &str) -> Option<&'a Condition> {
        self.status?.conditions.iter().find(|one| one.type_ == kind)
    }

    fn not_ready(&self, reason: &str, message: &str, since: Timestamp) -> Condition {
        self.condition(READY, false, reason, message, since)
    }

    /// Builds a condition. Keeps the last transition time of the former condition if its status is the same. The end of the
    /// wait for a quota is a transition, and so is the start after a corrected spec: the start timeout begins then.
    fn condition(&self, kind: &str, holds: bool, reason: &str, message: &str, since: Timestamp) -> Condition {
        let status = if holds { "True" } else { "False" };
        let waits = |reason: &str| reason == WAITING_FOR_QUOTA;
        let begins = |known: &str| waits(known) != waits(reason) || (known == FAILED && reason != FAILED);
        let is_same = |known: &&Condition| known.status == status && !begins(&known.reason);
        let known = self.known(kind).filter(is_same);
        // A stored condition has whole seconds: the status is the same after it is read again.
        let since = Timestamp::from_second(since.as_second()).unwrap_or(since);
        Condition {
            type_: kind.to_owned(),
            status: status.to_owned(),
            reason: reason.to_owned(),
            message: message.to_owned(),
            last_transition_time: known.map_or(Time(since), |known| known.last_transition_time.clone()),
            observed_generation: self.generation,
        }
    }
}

fn starting(step: StartStep, observed: &Report) -> Report {
    Report { start_step: Some(step), ..observed.of_start() }
}
