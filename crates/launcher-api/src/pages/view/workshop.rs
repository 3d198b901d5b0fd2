//! Instances in words, with their last crash, launch parameters and course material.

use std::collections::BTreeMap;

use jiff::Timestamp;
use launcher_domain::clock::random_hex;
use launcher_domain::frame_path::with_query;
use launcher_domain::lifetime::{Bound, ExtendError, extended_expiry, extension};
use launcher_domain::log_line::decisive_line;
use launcher_domain::template::Icon;
use launcher_domain::{
    Crash, FailureCode, FailureReason, Instance, InstanceState, MaterialOutcome, Parameter, SourceReport,
};
use launcher_service::{ListedInstance, ServiceError};
use uuid::Uuid;

use crate::pages::language::Around;
use crate::pages::view::snapshot::SnapshotView;
use crate::pages::view::{AppTile, Instant};
use crate::pages::{Language, Text, Visitor, paths};

/// Bytes of the idempotency key of one rendered form.
pub(super) const KEY_BYTES: usize = 16;

/// Remaining seconds below which the page marks the expiry as soon.
const SOON_SECONDS: i64 = 600;
/// Remaining seconds below which the page marks the expiry as urgent.
const URGENT_SECONDS: i64 = 120;

#[derive(Debug, Clone)]
pub(crate) struct WorkshopView {
    pub(crate) k8s_name: String,
    /// The template's name at the launch.
    pub(crate) name: String,
    pub(crate) owner: String,
    /// True if the reader is the owner. Only the owner can open the workshop, or launch it again.
    pub(crate) mine: bool,
    /// True if the reader is an admin, who can correct the template of a failed workshop.
    pub(crate) reader_is_admin: bool,
    pub(crate) app: Text,
    pub(crate) tile: AppTile,
    pub(crate) ring: Option<Ring>,
    pub(crate) template_id: Uuid,
    pub(crate) state: InstanceState,
    /// The state in words, with the queue position if queued.
    pub(crate) state_text: String,
    /// The state without the progress of the start step. Screen readers announce its changes.
    pub(crate) announced_state: String,
    /// Start and length of the wait, while the instance is queued or starting.
    pub(crate) waits: Option<(Instant, String)>,
    /// CSS class: ` is-soon`, ` is-urgent` or empty.
    pub(crate) urgency: &'static str,
    /// URL that opens the workshop, only for its owner: the frame page, if the workshop has one. Its scheme is http or
    /// https.
    pub(crate) url: Option<String>,
    pub(crate) ends: Option<Instant>,
    pub(crate) left: String,
    /// Expiry when the page was rendered. The form "Extend" sends it back: an extension is refused if the expiry has
    /// changed since.
    pub(crate) expected_expires_at: String,
    /// The new expiry after an extension, or the reason why the instance cannot be extended. `None` unless it is
    /// running.
    pub(crate) extend: Option<Result<Instant, Text>>,
    /// True if the workshop has reached its maximum lifetime, and the reader is an admin, who can exceed it.
    pub(crate) extends_beyond: bool,
    pub(crate) latest_end: Option<Instant>,
    /// True if the workshop runs with an older version, and the reader is an admin, who can restart it.
    pub(crate) outdated: bool,
    pub(crate) failure: Option<FailureReason>,
    pub(crate) crash: Option<CrashView>,
    /// Sentences about an app that listens elsewhere than on its port, while the workshop starts.
    pub(crate) listens_elsewhere: Option<String>,
    /// Notices about the course material, while the workshop is starting or running.
    pub(crate) material_notices: Vec<MaterialNotice>,
    pub(crate) material: Vec<String>,
    /// Trouble with the course material in words, for a table.
    pub(crate) material_trouble: Option<Text>,
    /// Output of a failed workshop.
    pub(crate) log: Option<LogView>,
    pub(crate) created: Instant,
    /// Time when the instance was first ready.
    pub(crate) started: Option<Instant>,
    /// Time when the workload had stopped completely.
    pub(crate) ended: Option<Instant>,
    /// Time from the launch to the end, in words, once the instance has ended.
    pub(crate) lasted: Option<String>,
    /// Reason of the end, from the moment when the instance is terminating.
    pub(crate) end_text: Option<Text>,
    /// True if the reader can pause the workshop: it runs, and its files are kept.
    pub(crate) can_pause: bool,
    pub(crate) paused: Option<Instant>,
    pub(crate) keeps_files: bool,
    /// Fate of the files at the end of the lifetime, as a sentence.
    pub(crate) files: String,
    /// Fate of the files if the workshop is ended now, as a sentence.
    pub(crate) files_if_ended: String,
    /// Notice about the snapshot of the files, from the moment when the end is decided.
    pub(crate) snapshot: Option<SnapshotView>,
    pub(crate) parameters: Vec<ParameterView>,
    /// The same values by name; `None` for a secret.
    pub(crate) parameter_values: BTreeMap<String, Option<String>>,
    pub(crate) can_relaunch: bool,
    /// Snapshot with which the next launch starts, too.
    pub(crate) relaunch_snapshot: Option<Uuid>,
    /// Path of the page that launches the template again with the same values.
    pub(crate) relaunch_path: String,
    /// Idempotency key of the form that launches the template again.
    pub(crate) relaunch_key: String,
}

impl Visitor {
    pub(crate) async fn workshop(&self, k8s_name: &str) -> Result<WorkshopView, ServiceError> {
        Ok(WorkshopView::new(self, &self.launcher.instance(&self.caller, k8s_name).await?))
    }
}

impl WorkshopView {
    /// Converts an instance to text, as of the launcher's current time.
    pub(crate) fn new(visitor: &Visitor, listed: &ListedInstance) -> Self {
        let (t, launcher, caller) = (visitor.t, &visitor.launcher, &visitor.caller);
        let instance = &listed.instance;
        let mine = instance.owner_email == *caller.email();
        let running = instance.state == InstanceState::Running;
        let ending = matches!(instance.state, InstanceState::Terminating | InstanceState::Terminated);
        let expires_at = instance.expires_at.filter(|_| running);
        let now = launcher.clock().now();
        let near = |at| Instant::seen_at(t, now, at);
        let dated = |at| Instant::new(t, at);
        let left = expires_at.map_or(0, |end| end.as_second() - now.as_second());
        let (created, queued_at) = (instance.created_at, instance.queued_at());
        let waits = matches!(instance.state, InstanceState::Queued | InstanceState::Starting)
            .then(|| (dated(queued_at), t.duration(now.as_second() - queued_at.as_second())));
        let extended = extension(instance, now);
        let elsewhere = instance.report.listens_elsewhere.as_ref();
        Self {
            k8s_name: instance.k8s_name.clone(),
            mine,
            reader_is_admin: caller.is_admin(),
            name: instance.settings.name.clone(),
            owner: instance.owner_email.to_string(),
            app: t.named("app-{}", instance.settings.app_type.as_str()),
            tile: AppTile::new(&instance.settings.name, Icon::of_app_type(instance.settings.app_type), None),
            ring: expires_at.map(|end| Ring::new(instance.started_at.unwrap_or(created), now, end)),
            template_id: instance.template_id,
            state: instance.state,
            state_text: t.state(listed, instance.report.start_progress),
            announced_state: t.state(listed, None),
            waits,
            urgency: if expires_at.is_some() { urgency(left) } else { "" },
            url: open_url(instance, visitor.chosen).filter(|url| running && mine && is_web_address(url)),
            ends: expires_at.map(near),
            left: t.duration(left),
            expected_expires_at: expires_at.map(|end| end.to_string()).unwrap_or_default(),
            extend: running.then(|| extended.outcome.map(near).map_err(|error| t.no_extension(error))),
            extends_beyond: caller.is_admin()
                && extended.outcome == Err(ExtendError::LifetimeLimitReached)
                && extended_expiry(instance, Bound::Longest, now).is_ok(),
            latest_end: extended.latest_expires_at.filter(|_| running).map(dated),
            outdated: instance.outdated && caller.is_admin(),
            failure: instance.failure(),
            crash: CrashView::of(t, instance, now),
            listens_elsewhere: elsewhere.map(|elsewhere| elsewhere.text_keys().map(|text| t.coded(&text)).join(" ")),
            material_notices: MaterialNotice::of(t, instance),
            material: material_states(t, instance),
            material_trouble: instance.material_trouble().map(|trouble| t.named("material-short-{}", trouble.as_str())),
            log: LogView::of(t, instance),
            created: dated(created),
            started: instance.started_at.map(dated),
            ended: instance.ended_at.map(dated),
            lasted: instance.ended_at.map(|end| t.duration(end.as_second() - created.as_second())),
            end_text: instance.end_reason.filter(|_| ending).map(|reason| t.named("end-{}", reason.as_str())),
            can_pause: instance.suspend(now).is_ok_and(|suspended| suspended.is_some()),
            paused: instance.suspended_at.filter(|_| instance.state == InstanceState::Suspended).map(dated),
            keeps_files: instance.volume.is_some(),
            files: t.files(instance.files_at_end(launcher.file_retention())),
            files_if_ended: t.files(instance.files_if_ended(launcher.file_retention())),
            snapshot: instance.snapshot.as_ref().and_then(|snapshot| SnapshotView::of(t, snapshot)),
            parameters: parameter_views(t, instance),
            parameter_values: instance.parameters.clone(),
            can_relaunch: instance.can_relaunch(),
            relaunch_snapshot: instance.relaunch_snapshot(),
            relaunch_path: paths::relaunch(instance),
            relaunch_key: random_hex::<KEY_BYTES>(launcher.entropy()),
        }
    }

    /// Returns true while the instance changes to another state without an action of the user.
    pub(crate) fn is_waiting(&self) -> bool {
        use InstanceState::{Queued, Starting, Suspending, Terminating};
        matches!(self.state, Queued | Starting | Suspending | Terminating)
    }

    pub(crate) fn can_end(&self) -> bool {
        use InstanceState::{Queued, Running, Starting, Suspended, Suspending};
        matches!(self.state, Queued | Starting | Running | Suspending | Suspended)
    }

    /// Returns true if the reader can launch a workshop with the saved files of this one.
    pub(crate) fn launches_files(&self) -> bool {
        self.snapshot.as_ref().is_some_and(|saved| saved.launch.is_some())
    }

    pub(crate) fn can_resume(&self) -> bool {
        self.state == InstanceState::Suspended
    }

    pub(crate) fn is_failed(&self) -> bool {
        self.state == InstanceState::Failed
    }
}

/// The time left as a ring around a clock.
#[derive(Debug, Clone)]
pub(crate) struct Ring {
    /// Start of the time that the whole ring stands for, in RFC 3339, for the script.
    pub(crate) from: String,
    /// Part of the time that is left, in percent.
    pub(crate) percent: i64,
    /// Hours and minutes left, as in `1:59`.
    pub(crate) clock: String,
}

impl Ring {
    fn new(from: Timestamp, now: Timestamp, end: Timestamp) -> Self {
        let whole = (end.as_second() - from.as_second()).max(1);
        let left = (end.as_second() - now.as_second()).clamp(0, whole);
        Self {
            from: from.to_string(),
            percent: (left * 100 / whole).max(1),
            clock: format!("{}:{:02}", left / 3600, left / 60 % 60),
        }
    }
}

fn urgency(left: i64) -> &'static str {
    if left <= URGENT_SECONDS {
        " is-urgent"
    } else if left <= SOON_SECONDS {
        " is-soon"
    } else {
        ""
    }
}

/// Returns the URL that opens the workshop: the frame page in the chosen language, or the workshop without a bar if an older
/// version started it. The frame page repeats that the course material has not loaded.
fn open_url(instance: &Instance, chosen: Option<Language>) -> Option<String> {
    let frame = instance.report.frame_url.as_ref();
    let frame = frame.map(|frame| with_query(frame, chosen.map(Language::code), instance.material_trouble()));
    frame.or_else(|| instance.report.url.clone())
}

/// Returns true for http and https. Other links of a fleet are not shown, because `javascript:` would run a program.
fn is_web_address(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}

/// A crash after which the app was started again.
#[derive(Debug, Clone)]
pub(crate) struct CrashView {
    pub(crate) at: Instant,
    /// Sentence around the time: the cause, and the restart.
    pub(crate) event: Around,
    /// Sentence about the files.
    pub(crate) files: Text,
    /// Sentence with the next step of the user.
    pub(crate) advice: Text,
}

impl CrashView {
    /// Converts the last crash of an instance to text as seen at `now`; `None` unless the instance is running. The page
    /// of a failed instance shows the reason of the failure instead.
    pub(crate) fn of(t: Language, instance: &Instance, now: Timestamp) -> Option<Self> {
        let crash = instance.report.last_crash.as_ref().filter(|_| instance.state == InstanceState::Running)?;
        let Crash { at, code, files_lost } = crash;
        let (event, advice) = match code {
            FailureCode::OutOfMemory => ("crash-out-of-memory", "crash-advice-out-of-memory"),
            FailureCode::Evicted | FailureCode::NodeLost => ("crash-moved", "crash-advice-moved"),
            _ => ("crash-crashed", "crash-advice-crashed"),
        };
        Some(Self {
            at: Instant::seen_at(t, now, *at),
            event: t.around(event),
            files: t.text(if *files_lost { "crash-files-lost" } else { "crash-files-kept" }),
            advice: t.text(advice),
        })
    }
}

#[derive(Debug, Clone)]
pub(crate) struct LogView {
    pub(crate) tail: String,
    /// The line that names the cause.
    pub(crate) line: String,
    /// Workshop, time, failure and this line, to send to the teacher.
    pub(crate) report: String,
}

impl LogView {
    /// Returns the output of an instance that has failed; `None` without any text.
    fn of(t: Language, instance: &Instance) -> Option<Self> {
        let (failure, tail) = (instance.failure()?, instance.report.log_tail.clone()?);
        let line = decisive_line(&tail)?;
        let values = [
            ("template", instance.settings.name.clone().into()),
            ("workshop", instance.k8s_name.clone().into()),
            ("time", t.date_and_time(instance.queued_at()).into()),
            ("failure", t.failure_message(&failure).into()),
            ("line", line.clone().into()),
        ];
        Some(Self { tail, report: t.with("failure-report", values), line })
    }
}

#[derive(Debug, Clone)]
pub(crate) struct ParameterView {
    pub(crate) label: String,
    /// The value, or a text in place of a secret.
    pub(crate) value: String,
    pub(crate) is_secret: bool,
}

/// Returns the values of the launch parameters, in the order of the template.
fn parameter_views(t: Language, instance: &Instance) -> Vec<ParameterView> {
    let view = |Parameter { name, label, .. }: &Parameter| {
        let value = instance.parameters.get(name)?;
        let shown = value.clone().unwrap_or_else(|| t.text("parameter-secret").into_owned());
        Some(ParameterView { label: label.clone(), value: shown, is_secret: value.is_none() })
    };
    instance.settings.parameters.iter().filter_map(view).collect()
}

/// A source that the user must know about.
#[derive(Debug, Clone)]
pub(crate) struct MaterialNotice {
    /// Sentence about the folder: its source could not be read, or it has files in conflict.
    pub(crate) title: String,
    /// English sentence of the program that reads the source; empty if there is none.
    pub(crate) message: String,
    /// Paths of files in conflict.
    pub(crate) files: Vec<String>,
    /// Sentence with the next step of the user.
    pub(crate) advice: Text,
}

impl MaterialNotice {
    /// Returns the notices of an instance that is starting or running.
    pub(crate) fn of(t: Language, instance: &Instance) -> Vec<Self> {
        let is_live = matches!(instance.state, InstanceState::Starting | InstanceState::Running);
        let sources = instance.report.material.iter().filter(|_| is_live).flat_map(|report| &report.sources);
        sources.filter(|source| source.trouble().is_some()).map(|source| Self::about(t, source)).collect()
    }

    fn about(t: Language, source: &SourceReport) -> Self {
        let target = source.target.as_str();
        let (title, advice) = if source.outcome == MaterialOutcome::Failed {
            (t.with_one("material-not-loaded", "target", target), t.text("material-not-loaded-advice"))
        } else {
            let values = [("count", source.conflict_count.into()), ("target", target.into())];
            (t.with("material-conflicts", values), t.text("material-conflicts-advice"))
        };
        Self { title, message: source.message.clone().unwrap_or_default(), files: source.conflicts.clone(), advice }
    }
}

/// Returns the state of each source, as short texts.
fn material_states(t: Language, instance: &Instance) -> Vec<String> {
    let sources = instance.report.material.iter().flat_map(|report| &report.sources);
    let text = |source: &SourceReport| {
        t.with_one(&format!("material-{}", source.outcome.as_str()), "target", source.target.as_str())
    };
    sources.map(text).collect()
}
