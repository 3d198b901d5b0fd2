//! The waiting page: shows the start of a workshop, and opens the workshop when it is ready.

use askama::Template;
use jiff::SignedDuration;
use launcher_domain::{InstanceState, StartStep};
use launcher_service::ListedInstance;

use crate::extract::InstanceName;
use crate::pages::html::htmx_reload;
use crate::pages::view::{WorkshopView, machine_now};
use crate::pages::{Language, PageResult, Shell, Text, Visitor, assets, forms, page, paths};
use crate::state::AppState;

/// Keys of the steps of a start, in order. The page marks the current one.
const START_STEPS: [&str; 4] = ["start-step-queue", "start-step-prepare", IMAGE_STEP, "start-step-app"];
/// Key of the step with the downloads of a workshop without course material.
const IMAGE_STEP: &str = "start-step-image";

#[derive(Debug, Template)]
#[template(path = "waiting.html")]
struct WaitingPage {
    t: Language,
    shell: Shell,
    workshop: WorkshopView,
    steps: Vec<Step>,
    /// Usual time from launch to ready, in words, if the template was ever ready.
    usual: Option<String>,
    now: String,
    /// Time until the page opens the ready workshop.
    opens_in: SignedDuration,
}

#[derive(Debug)]
struct Step {
    text: Text,
    /// CSS class: `done`, `current` or `next`.
    progress: &'static str,
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
    let Some(steps) = steps(t, &listed).filter(|_| workshop.mine) else {
        return Ok(if visitor.is_htmx { htmx_reload() } else { forms::redirect(&paths::instance(&k8s_name)) });
    };
    let usual = launcher.usual_start(workshop.template_id).await?;
    let waiting = WaitingPage {
        t,
        shell: visitor.shell(""),
        steps,
        usual: usual.map(|usual| t.with_one("usual-start", "duration", t.duration(usual.as_secs().max(1)))),
        opens_in: opens_in(&visitor, &listed),
        workshop,
        now: machine_now(launcher.clock()),
    };
    page(&waiting)
}

/// Returns the time until the URL of a ready workshop answers.
fn opens_in(state: &AppState, listed: &ListedInstance) -> SignedDuration {
    let delay = SignedDuration::try_from(state.process.routing_delay).unwrap_or(SignedDuration::ZERO);
    let now = state.launcher.clock().now();
    listed
        .instance
        .started_at
        .map_or(SignedDuration::ZERO, |ready| delay - now.duration_since(ready).clamp(SignedDuration::ZERO, delay))
}

/// Returns the steps of the start, with the current one; `None` if the workshop is not starting or ready.
fn steps(t: Language, listed: &ListedInstance) -> Option<Vec<Step>> {
    let current = match (listed.instance.state, listed.instance.report.start_step) {
        (InstanceState::Queued, _) => 0,
        (InstanceState::Starting, None | Some(StartStep::WaitingForRoom | StartStep::Preparing)) => 1,
        // A cluster pulls the image of the app after it has loaded the material: both are one step.
        (InstanceState::Starting, Some(StartStep::PullingImage | StartStep::LoadingMaterial)) => 2,
        (InstanceState::Starting, Some(StartStep::StartingApp | StartStep::RestartingApp)) => 3,
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
    let has_material = listed.instance.settings.material.is_some();
    let step = |(index, key)| Step {
        text: t.text(if has_material && key == IMAGE_STEP { "start-step-downloads" } else { key }),
        progress: match current.cmp(&index) {
            std::cmp::Ordering::Greater => "done",
            std::cmp::Ordering::Equal => "current",
            std::cmp::Ordering::Less => "next",
        },
    };
    Some(START_STEPS.into_iter().enumerate().map(step).collect())
}
