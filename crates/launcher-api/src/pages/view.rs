//! View models: instances and catalog entries as text, so that the templates contain no decisions.

use jiff::Timestamp;
use launcher_domain::lifetime::extension;
use launcher_domain::{Caller, Clock, Entropy, FailureReason, InstanceState, Template, TemplateSettings};
use launcher_service::{Launcher, ListedInstance};
use uuid::Uuid;

use super::{markdown, texts};

/// Remaining seconds below which a workshop ends soon.
const SOON_SECONDS: i64 = 600;
/// Distance from now, in seconds, up to which a time needs no date.
const NEAR_SECONDS: i64 = 12 * 3600;
/// Remaining seconds below which the end is urgent.
const URGENT_SECONDS: i64 = 120;

/// An instant, for `<time>`.
#[derive(Debug, Clone)]
pub(crate) struct Instant {
    /// RFC 3339, UTC.
    pub(crate) machine: String,
    /// Text for people, in UTC; the script converts it to local time.
    pub(crate) human: String,
}

impl From<Timestamp> for Instant {
    fn from(at: Timestamp) -> Self {
        Self { machine: at.to_string(), human: texts::date_and_time(at) }
    }
}

impl Instant {
    /// Formats an instant as seen at `now`: without the date if it is within a few hours. The text is about as long as
    /// the script's, so that the layout does not shift.
    fn seen_at(now: Timestamp, at: Timestamp) -> Self {
        if (at.as_second() - now.as_second()).abs() < NEAR_SECONDS {
            Self { human: texts::time_of_day(at), ..at.into() }
        } else {
            at.into()
        }
    }
}

/// The frame around a caller's page.
#[derive(Debug, Clone)]
pub(crate) struct Shell {
    /// The signed-in person.
    pub(crate) person: Person,
    /// URL to sign out.
    pub(crate) logout_url: Option<String>,
    /// Identity of every caller while the development bypass is active.
    pub(crate) dev_identity: Option<String>,
    /// True on admin pages if workshops of several people run as one OS user.
    pub(crate) warns_of_sharing: bool,
    /// Navigation entry of this page.
    pub(crate) here: &'static str,
}

/// The signed-in person.
#[derive(Debug, Clone)]
pub(crate) struct Person {
    /// The address.
    pub(crate) email: String,
    /// True to show the badge and the links to the admin pages.
    pub(crate) is_admin: bool,
}

impl Shell {
    /// Returns true if the reader is an admin.
    pub(crate) fn is_admin(&self) -> bool {
        self.person.is_admin
    }
}

/// A notice above the content: the result of an action.
#[derive(Debug, Clone)]
pub(crate) struct Notice {
    /// `bad`, `good` or `wait`.
    pub(crate) kind: &'static str,
    /// A few words.
    pub(crate) title: String,
    /// A sentence with the next step.
    pub(crate) text: String,
}

/// An instance in words.
#[derive(Debug, Clone)]
pub(crate) struct WorkshopView {
    /// The name in paths.
    pub(crate) k8s_name: String,
    /// The template's name at the launch.
    pub(crate) name: String,
    /// Who launched it.
    pub(crate) owner: String,
    /// True if the reader is the owner: only the owner can open it or launch it again.
    pub(crate) mine: bool,
    /// The kind of app.
    pub(crate) app: &'static str,
    /// The template that it was launched from.
    pub(crate) template_id: Uuid,
    /// The state's name in the API.
    pub(crate) state: &'static str,
    /// The state in words, with the queue position.
    pub(crate) state_text: String,
    /// Start and duration of the owner's wait, while the instance is queued or starting.
    pub(crate) waits: Option<(Instant, String)>,
    /// CSS class: ` is-soon`, ` is-urgent` or empty.
    pub(crate) urgency: &'static str,
    /// URL of the workshop, for its owner. Only http and https.
    pub(crate) url: Option<String>,
    /// Expiry, only while it is running.
    pub(crate) ends: Option<Instant>,
    /// Time until then, in words.
    pub(crate) left: String,
    /// The expiry that "extend" expects.
    pub(crate) expected_expires_at: String,
    /// Result of an extension: the new expiry, or the reason against it. Only while it is running.
    pub(crate) extend: Option<Result<Instant, &'static str>>,
    /// Latest possible expiry.
    pub(crate) latest_end: Option<Instant>,
    /// Why it failed.
    pub(crate) failure: Option<FailureReason>,
    /// The last lines of its output.
    pub(crate) log_tail: Option<String>,
    /// When it was launched.
    pub(crate) created: Instant,
    /// When it was ready.
    pub(crate) started: Option<Instant>,
    /// When all of it had stopped.
    pub(crate) ended: Option<Instant>,
    /// Reason of its end, also while it is terminating.
    pub(crate) end_text: Option<&'static str>,
    /// Idempotency key of the form that launches the template again.
    pub(crate) relaunch_key: String,
}

impl WorkshopView {
    /// Converts an instance, as of the launcher's current time.
    pub(crate) fn new(launcher: &Launcher, caller: &Caller, listed: &ListedInstance) -> Self {
        let instance = &listed.instance;
        let mine = instance.owner_email == *caller.email();
        let running = instance.state == InstanceState::Running;
        let ending = matches!(instance.state, InstanceState::Terminating | InstanceState::Terminated);
        let expires_at = instance.expires_at.filter(|_| running);
        let now = launcher.clock().now();
        let near = |at| Instant::seen_at(now, at);
        let left = expires_at.map_or(0, |end| end.as_second() - now.as_second());
        let created = instance.created_at;
        let waits = matches!(instance.state, InstanceState::Queued | InstanceState::Starting)
            .then(|| (Instant::from(created), texts::duration(now.as_second() - created.as_second())));
        let extended = extension(instance, now);
        Self {
            k8s_name: instance.k8s_name.clone(),
            mine,
            name: instance.settings.name.clone(),
            owner: instance.owner_email.to_string(),
            app: texts::app_type(instance.settings.app_type),
            template_id: instance.template_id,
            state: instance.state.as_str(),
            state_text: texts::state(instance.state, listed.queue_position, instance.start_step),
            waits,
            urgency: if expires_at.is_some() { urgency(left) } else { "" },
            url: instance.url.clone().filter(|url| running && mine && is_web_address(url)),
            ends: expires_at.map(near),
            left: texts::duration(left),
            expected_expires_at: expires_at.map(|end| end.to_string()).unwrap_or_default(),
            extend: running.then(|| extended.outcome.map(near).map_err(texts::no_extension)),
            latest_end: extended.latest_expires_at.filter(|_| running).map(Instant::from),
            failure: instance.reason.clone(),
            log_tail: instance.log_tail.clone(),
            created: created.into(),
            started: instance.started_at.map(Instant::from),
            ended: instance.ended_at.map(Instant::from),
            end_text: instance.end_reason.filter(|_| ending).map(texts::end_reason),
            relaunch_key: form_key(launcher.entropy()),
        }
    }

    /// Returns true while it is in transition to another state.
    pub(crate) fn is_waiting(&self) -> bool {
        matches!(self.state, "queued" | "starting" | "terminating")
    }

    /// Returns true if it can be terminated.
    pub(crate) fn can_end(&self) -> bool {
        matches!(self.state, "queued" | "starting" | "running")
    }

    /// Returns true if the same launch may succeed now. Otherwise the owner has nothing to try.
    pub(crate) fn is_retryable(&self) -> bool {
        self.failure.as_ref().is_some_and(|failure| failure.retryable)
    }

    /// Returns true if it failed and was not dismissed yet.
    pub(crate) fn is_failed(&self) -> bool {
        self.state == "failed"
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

/// Refuses links that run a program (`javascript:`), if a fleet should report one.
fn is_web_address(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}

/// A card of the catalog.
#[derive(Debug, Clone)]
pub(crate) struct Card {
    /// The template.
    pub(crate) template_id: Uuid,
    /// Its name.
    pub(crate) name: String,
    /// The start of its description, as plain text.
    pub(crate) teaser: String,
    /// The kind of app.
    pub(crate) app: &'static str,
    /// Lifetime of a workshop, in words.
    pub(crate) lasts: String,
    /// Idempotency key of this form: sending it twice launches once.
    pub(crate) key: String,
    /// Name of the reader's newest workshop of this template.
    pub(crate) mine: Option<String>,
}

impl Card {
    /// Creates the card of a template, with a new form key.
    pub(crate) fn new(launcher: &Launcher, template: &Template) -> Self {
        Self::of(launcher, template.template_id, &template.settings)
    }

    /// Creates the card for a template with these settings.
    pub(crate) fn of(launcher: &Launcher, template_id: Uuid, settings: &TemplateSettings) -> Self {
        Self {
            template_id,
            name: settings.name.clone(),
            teaser: markdown::teaser(&settings.description),
            app: texts::app_type(settings.app_type),
            lasts: texts::lasts(settings.lifetime_seconds, settings.max_lifetime_seconds),
            key: form_key(launcher.entropy()),
            mine: None,
        }
    }

    /// Adds the reader's workshop of this template, from a list with the newest first.
    pub(crate) fn beside(self, workshops: &[WorkshopView]) -> Self {
        let mine = workshops.iter().find(|workshop| workshop.template_id == self.template_id);
        Self { mine: mine.map(|workshop| workshop.k8s_name.clone()), ..self }
    }
}

/// An option of a `<select>`.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    /// The value sent.
    pub(crate) value: String,
    /// The text shown.
    pub(crate) label: String,
    /// True if it is selected.
    pub(crate) selected: bool,
}

/// Returns the launcher's time, for the script's countdowns.
pub(crate) fn machine_now(clock: &dyn Clock) -> String {
    clock.now().to_string()
}

/// Draws a key for one rendered form: 128 random bits in hexadecimal digits.
fn form_key(entropy: &dyn Entropy) -> String {
    let mut bytes = [0_u8; 16];
    entropy.fill(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
