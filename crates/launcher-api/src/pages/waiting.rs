//! The waiting page: shows the start of a workshop, and opens the workshop when it is ready. It does not open a workshop
//! whose course material did not load: the owner decides.

use askama::Template;
use jiff::SignedDuration;
use launcher_domain::StartStep::{
    LoadingMaterial, Preparing, PullingImage, RestartingApp, StartingApp, WaitingForQuota, WaitingForRoom,
};
use launcher_domain::{InstanceState, Report, SecretValues};
use launcher_service::{LaunchRequest, ListedInstance, ServiceError};
use serde::Deserialize;

use crate::extract::{InstanceName, is_idempotency_key};
use crate::pages::html::htmx_reload;
use crate::pages::view::WorkshopView;
use crate::pages::{Fields, Language, PageResult, Shell, Text, Visitor, assets, forms, page, paths, workshops};
use crate::state::AppState;

/// Keys of the steps of a start, in order. The page marks the current one.
const START_STEPS: [&str; 4] = ["start-step-queue", "start-step-prepare", DOWNLOADS, "start-step-app"];
/// Key of the step with the downloads of a workshop with course material and an image.
const DOWNLOADS: &str = "start-step-downloads";

#[derive(Debug, Template)]
#[template(path = "waiting.html")]
struct WaitingPage {
    t: Language,
    shell: Shell,
    workshop: WorkshopView,
    /// The state in one sentence, with the expected time if it is known.
    sentence: String,
    /// The same sentence without a time. Screen readers announce its changes.
    announced: String,
    /// The current step for a student, while the workshop starts.
    doing: Option<Text>,
    percent: u32,
    steps: Vec<Step>,
    /// Decision of the owner before the workshop opens.
    trouble: Option<Trouble>,
    now: String,
    /// Time until the page opens the ready workshop.
    opens_in: SignedDuration,
    /// Current message of the class of the workshop.
    message: Option<String>,
}

#[derive(Debug)]
struct Step {
    text: Text,
    /// CSS class: `done`, `current` or `next`.
    progress: &'static str,
}

/// Course material that did not load.
#[derive(Debug)]
struct Trouble {
    title: Text,
    /// Effect of "Try again", also on the files.
    again: String,
}

/// `GET /instances/{k8s_name}/wait`: the waiting page, for the owner of a workshop that starts or is ready. Any other
/// workshop redirects to its own page, which says how it failed or ended.
///
/// The page of a ready workshop opens the workshop. It is not a redirect: the form "Launch" leads to this page, and the
/// content security policy of a form's page refuses a redirect to another site.
pub(crate) async fn show(visitor: Visitor, InstanceName(k8s_name): InstanceName) -> PageResult {
    let (t, launcher) = (visitor.t, &visitor.launcher);
    let listed = launcher.instance(&visitor.caller, &k8s_name).await?;
    let workshop = WorkshopView::new(&visitor, &listed);
    let runs_images = !visitor.process.ignored_fields.contains(&"image");
    let Some(steps) = steps(t, &listed, runs_images).filter(|_| workshop.mine) else {
        return Ok(if visitor.is_htmx { htmx_reload() } else { forms::redirect(&paths::instance(&k8s_name)) });
    };
    let is_ready = listed.instance.state == InstanceState::Running;
    let left = if is_ready { None } else { launcher.ready_in(&listed).await? };
    let files = t.files(listed.instance.files_if_ended(launcher.file_retention()));
    let trouble = listed.instance.material_trouble().filter(|_| is_ready).map(|trouble| Trouble {
        title: t.text(&format!("material-trouble-{}", trouble.as_str())),
        again: t.with_one("material-try-again-about", "files", files),
    });
    let waiting = WaitingPage {
        t,
        shell: visitor.shell(""),
        steps,
        sentence: sentence(t, &listed, left),
        announced: trouble.as_ref().map_or_else(|| sentence(t, &listed, None), |trouble| trouble.title.to_string()),
        doing: doing(t, &listed),
        percent: percent(&listed),
        trouble,
        opens_in: opens_in(&visitor, &listed),
        message: message(&visitor, &listed).await?,
        workshop,
        now: visitor.machine_now(),
    };
    page(&waiting)
}

/// Returns the current message of the class of the owner's workshop.
async fn message(visitor: &Visitor, listed: &ListedInstance) -> Result<Option<String>, ServiceError> {
    let ListedInstance { instance, .. } = listed;
    if instance.class_id.is_none() {
        return Ok(None);
    }
    match visitor.launcher.class_of_own_instance(&visitor.caller, &instance.k8s_name).await {
        Ok(access) => Ok(visitor.launcher.class_message(&access).await?.map(|message| message.text)),
        Err(ServiceError::NotFound) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the time until the URL of a ready workshop answers.
fn opens_in(state: &AppState, listed: &ListedInstance) -> SignedDuration {
    let delay = SignedDuration::try_from(state.process.routing_delay).unwrap_or_default();
    let now = state.launcher.clock().now();
    let left = |ready| delay - now.duration_since(ready).clamp(SignedDuration::ZERO, delay);
    listed.instance.started_at.map(left).unwrap_or_default()
}

/// States what the owner waits for. `left`: the expected time until the workshop is ready; zero if it is over.
fn sentence(t: Language, listed: &ListedInstance, left: Option<SignedDuration>) -> String {
    let ListedInstance { instance, queue_position, .. } = listed;
    let Report { start_step, start_progress, .. } = instance.report;
    let time = left.filter(|left| !left.is_zero()).map(|left| t.duration(left.as_secs().max(1)));
    match (instance.state, start_step) {
        (InstanceState::Running, _) => t.text("is-ready").into_owned(),
        (InstanceState::Queued, _) => {
            let before = queue_position.map_or(0, |position| position.saturating_sub(1));
            match time {
                Some(time) => t.with("wait-queue-about", [("before", before.into()), ("time", time.into())]),
                None => t.with_one("wait-queue", "before", before),
            }
        }
        (_, Some(WaitingForRoom)) => {
            let before = start_progress.map_or(0, |position| position.saturating_sub(1));
            t.with_one("wait-room", "before", before)
        }
        _ => match (time, left) {
            (Some(time), _) => t.with_one("wait-about", "time", time),
            (None, Some(_)) => t.text("wait-longer").into_owned(),
            (None, None) => t.text("wait-starting").into_owned(),
        },
    }
}

/// Names the current step of a start in the words of a student.
fn doing(t: Language, listed: &ListedInstance) -> Option<Text> {
    let step = listed.instance.report.start_step.unwrap_or(Preparing);
    (listed.instance.state == InstanceState::Starting).then(|| t.text(&format!("doing-{}", step.as_str())))
}

/// Returns the progress of a start in percent. The queue is its first tenth.
fn percent(ListedInstance { instance, queue_position, .. }: &ListedInstance) -> u32 {
    let Report { start_step, start_progress, .. } = instance.report;
    match (instance.state, start_step) {
        (InstanceState::Queued, _) => 10 / queue_position.unwrap_or(1).max(1),
        (InstanceState::Starting, None | Some(WaitingForQuota | WaitingForRoom | Preparing)) => 20,
        (InstanceState::Starting, Some(PullingImage)) => 30 + start_progress.unwrap_or(0).min(100) * 2 / 5,
        (InstanceState::Starting, Some(LoadingMaterial)) => 70,
        (InstanceState::Starting, Some(StartingApp | RestartingApp)) => 80,
        _ => 100,
    }
}

/// Returns the steps of the start, with the current one; `None` if the workshop is not starting or ready. `runs_images`:
/// the fleet downloads images.
fn steps(t: Language, listed: &ListedInstance, runs_images: bool) -> Option<Vec<Step>> {
    let current = match (listed.instance.state, listed.instance.report.start_step) {
        (InstanceState::Queued, _) => 0,
        (InstanceState::Starting, None | Some(WaitingForQuota | WaitingForRoom | Preparing)) => 1,
        // A cluster pulls the image of the app after it has loaded the material: both are one step.
        (InstanceState::Starting, Some(PullingImage | LoadingMaterial)) => 2,
        (InstanceState::Starting, Some(StartingApp | RestartingApp)) => 3,
        (InstanceState::Running, _) => START_STEPS.len(),
        (
            InstanceState::Suspending
            | InstanceState::Suspended
            | InstanceState::Terminating
            | InstanceState::Terminated
            | InstanceState::Failed,
            _,
        ) => return None,
    };
    let downloads = match (listed.instance.settings.material.is_some(), runs_images) {
        (true, true) => Some(DOWNLOADS),
        (true, false) => Some("start-step-material"),
        (false, true) => Some("start-step-image"),
        (false, false) => None,
    };
    let step = |(index, key)| {
        let text = t.text(if key == DOWNLOADS { downloads? } else { key });
        let progress = match current.cmp(&index) {
            std::cmp::Ordering::Greater => "done",
            std::cmp::Ordering::Equal => "current",
            std::cmp::Ordering::Less => "next",
        };
        Some(Step { text, progress })
    };
    Some(START_STEPS.into_iter().enumerate().filter_map(step).collect())
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgainForm {
    /// Idempotency key of the rendered form: a form that is sent twice launches once.
    idempotency_key: Option<String>,
}

/// `POST /instances/{k8s_name}/try-again`: ends a workshop whose course material has not loaded, and launches its template
/// again with the same values. The page of a workshop without this trouble only opens.
pub(crate) async fn try_again(
    visitor: Visitor,
    InstanceName(k8s_name): InstanceName,
    Fields(form): Fields<AgainForm>,
) -> PageResult {
    let (launcher, caller) = (&visitor.launcher, &visitor.caller);
    let instance = launcher.instance(caller, &k8s_name).await?.instance;
    let is_live = matches!(instance.state, InstanceState::Queued | InstanceState::Starting | InstanceState::Running);
    if instance.owner_email != *caller.email() || (is_live && instance.material_trouble().is_none()) {
        return Ok(forms::redirect(&paths::instance(&k8s_name)));
    }
    let values: Option<SecretValues> =
        instance.parameters.iter().map(|(name, value)| Some((name.clone(), value.clone()?))).collect();
    let Some(parameters) = values else {
        // The form asks for the secret values: the end erases them.
        launcher.terminate(caller, &k8s_name).await?;
        return Ok(forms::redirect(&paths::relaunch(&instance)));
    };
    let idempotency_key = form.idempotency_key.filter(|key| is_idempotency_key(key));
    let request =
        LaunchRequest { idempotency_key, parameters, snapshot: instance.restores, ..LaunchRequest::default() };
    match launcher.launch_again(caller, &k8s_name, &request).await {
        Ok(launched) => Ok(forms::redirect(&paths::waiting(&launched.listed.instance.k8s_name))),
        Err(error) => workshops::refuse(&visitor, error, None).await,
    }
}
