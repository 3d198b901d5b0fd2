//! What templates show: instances and catalog entries in words, nothing left to decide.

use jiff::Timestamp;
use launcher_domain::lifetime::extension;
use launcher_domain::{Caller, Clock, Entropy, FailureReason, InstanceState, Template, TemplateSettings};
use launcher_service::{Launcher, Listed};
use uuid::Uuid;

use super::{markdown, texts};

/// Below so many seconds a workshop ends soon.
const SOON_SECONDS: i64 = 600;
/// Within so many seconds an hour says enough.
const NEAR_SECONDS: i64 = 12 * 3600;
/// Below so many seconds a workshop ends now.
const URGENT_SECONDS: i64 = 120;

/// An instant, for `<time>`.
#[derive(Debug, Clone)]
pub(crate) struct Instant {
    /// RFC 3339, UTC.
    pub(crate) machine: String,
    /// For people, UTC; the script makes it local.
    pub(crate) human: String,
}

impl From<Timestamp> for Instant {
    fn from(at: Timestamp) -> Self {
        Self { machine: at.to_string(), human: texts::date_and_time(at) }
    }
}

impl Instant {
    /// An instant as it is told at `now`: in a few hours or a few hours ago, without the day. That is about as long as what
    /// the script makes of it, so that nothing moves.
    fn seen_at(now: Timestamp, at: Timestamp) -> Self {
        if (at.as_second() - now.as_second()).abs() < NEAR_SECONDS {
            Self { human: texts::time_of_day(at), ..at.into() }
        } else {
            at.into()
        }
    }
}

/// What stands around the content of a page that a caller sees.
#[derive(Debug, Clone)]
pub(crate) struct Shell {
    /// Who is signed in.
    pub(crate) person: Person,
    /// Where to sign out.
    pub(crate) logout_url: Option<String>,
    /// Whom everybody is taken for when authentication is off.
    pub(crate) dev_identity: Option<String>,
    /// True on an admin's page while several people's workshops run as one user.
    pub(crate) warns_of_sharing: bool,
    /// Which entry of the navigation this page is.
    pub(crate) here: &'static str,
}

/// Who is signed in.
#[derive(Debug, Clone)]
pub(crate) struct Person {
    /// The address.
    pub(crate) email: String,
    /// Whether to show the badge and the admin's pages.
    pub(crate) is_admin: bool,
}

impl Shell {
    /// Whether the page is an admin's.
    pub(crate) fn is_admin(&self) -> bool {
        self.person.is_admin
    }
}

/// A line above the content: what could not be done, or was.
#[derive(Debug, Clone)]
pub(crate) struct Notice {
    /// `bad`, `good` or `wait`.
    pub(crate) kind: &'static str,
    /// A few words.
    pub(crate) title: String,
    /// A sentence: what to do now.
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
    /// Whether that is the reader: nobody else can open it or launch it again.
    pub(crate) mine: bool,
    /// The kind of app.
    pub(crate) app: &'static str,
    /// From which template.
    pub(crate) template_id: Uuid,
    /// The state as it is sent.
    pub(crate) state: &'static str,
    /// The state in words, with the place in line.
    pub(crate) state_text: String,
    /// Since when its owner waits for it, and for how long, in words; while it waits in line or starts.
    pub(crate) waits: Option<(Instant, String)>,
    /// ` is-soon`, ` is-urgent` or nothing: a class.
    pub(crate) urgency: &'static str,
    /// Where its owner works in it. Only http and https.
    pub(crate) url: Option<String>,
    /// When its time is up; of a running one only.
    pub(crate) ends: Option<Instant>,
    /// How long that is from now, in words.
    pub(crate) left: String,
    /// The end that a press on "extend" reckons with.
    pub(crate) expected_expires_at: String,
    /// Until when it can be extended, or why not; of a running one only.
    pub(crate) extend: Option<Result<Instant, &'static str>>,
    /// The end that no extension passes.
    pub(crate) latest_end: Option<Instant>,
    /// Why it failed.
    pub(crate) failure: Option<FailureReason>,
    /// The last lines of its output.
    pub(crate) log_tail: Option<String>,
    /// When it was launched.
    pub(crate) created: Instant,
    /// When it was ready.
    pub(crate) started: Option<Instant>,
    /// When nothing of it ran any more.
    pub(crate) ended: Option<Instant>,
    /// Why it ended, or is ending.
    pub(crate) end_text: Option<&'static str>,
    /// The key of the form that launches its template once more.
    pub(crate) relaunch_key: String,
}

impl WorkshopView {
    /// An instance as it stands at the launcher's time.
    pub(crate) fn new(launcher: &Launcher, caller: &Caller, listed: &Listed) -> Self {
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

    /// Whether it is on its way to another state.
    pub(crate) fn is_waiting(&self) -> bool {
        matches!(self.state, "queued" | "starting" | "terminating")
    }

    /// Whether it can be ended.
    pub(crate) fn can_end(&self) -> bool {
        matches!(self.state, "queued" | "starting" | "running")
    }

    /// Whether the same launch may well succeed now: else there is nothing for its owner to try.
    pub(crate) fn may_work_again(&self) -> bool {
        self.failure.as_ref().is_some_and(|failure| failure.retryable)
    }

    /// Whether it failed and was not dismissed yet.
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

/// A link must not be a program (`javascript:`), whatever a fleet reports.
fn is_web_address(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}

/// A catalog entry.
#[derive(Debug, Clone)]
pub(crate) struct Card {
    /// The template.
    pub(crate) template_id: Uuid,
    /// Its name.
    pub(crate) name: String,
    /// The first lines of its description, as text.
    pub(crate) teaser: String,
    /// The kind of app.
    pub(crate) app: &'static str,
    /// How long a workshop lasts.
    pub(crate) lasts: String,
    /// The key of this form: sending it twice launches once.
    pub(crate) key: String,
    /// The name of a workshop of it that the reader has, the newest one.
    pub(crate) mine: Option<String>,
}

impl Card {
    /// A template as a card with a form of its own.
    pub(crate) fn new(launcher: &Launcher, template: &Template) -> Self {
        Self::of(launcher, template.template_id, &template.settings)
    }

    /// The card that a template with these settings has.
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

    /// The card for somebody who has these workshops, the newest first.
    pub(crate) fn beside(self, workshops: &[WorkshopView]) -> Self {
        let mine = workshops.iter().find(|workshop| workshop.template_id == self.template_id);
        Self { mine: mine.map(|workshop| workshop.k8s_name.clone()), ..self }
    }
}

/// An option of a `<select>`.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    /// What is sent.
    pub(crate) value: String,
    /// What is read.
    pub(crate) label: String,
    /// Whether it is the one that is chosen.
    pub(crate) selected: bool,
}

/// The launcher's time, for the script's countdowns.
pub(crate) fn machine_now(clock: &dyn Clock) -> String {
    clock.now().to_string()
}

/// A key for one rendered form: 128 random bits in hexadecimal digits.
fn form_key(entropy: &dyn Entropy) -> String {
    let mut bytes = [0_u8; 16];
    entropy.fill(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
