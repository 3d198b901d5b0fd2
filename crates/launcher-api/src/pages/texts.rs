//! The words of the pages: everything that is said from Rust. Headings and labels that stand still are in the
//! templates.

pub(crate) mod overview;

use launcher_domain::lifetime::ExtendError;
use launcher_domain::{
    Activity, ActivityAction, AppType, EndReason, FailureCode, FailureReason, InstanceState, SecurityProfile, StartStep,
};

/// The name in the header and in titles.
pub(crate) const PRODUCT: &str = "Workshop Launcher";
/// The banner of a service that asks nobody to sign in.
pub(crate) const NO_AUTHENTICATION: &str = "Authentication is off: this is for development only.";
/// Nothing launched yet.
pub(crate) const NO_WORKSHOPS: &str = "You have no workshops. Launch one below: it appears here.";
/// Before how long somebody has been waiting.
pub(crate) const WAITS_FOR: &str = "for";
/// On the page of a template that the reader has a workshop of.
pub(crate) const HAVE_ONE: &str = "You have this workshop already:";
/// On its card.
pub(crate) const HAVE_ONE_SHORT: &str = "You have one";
/// An empty catalog.
pub(crate) const NO_TEMPLATES: &str = "There is nothing to launch yet.";
/// No entry of the catalog has the words.
pub(crate) const NOTHING_FOUND: &str = "No workshop of the catalog matches.";
/// Nothing tells the page of changes any more.
pub(crate) const OFFLINE: &str = "The connection is lost: what you see may be old. It comes back by itself.";
/// Nothing ended yet.
pub(crate) const NO_HISTORY: &str = "None of your workshops has ended yet.";
/// Nothing matches the filter.
pub(crate) const NO_INSTANCES: &str = "No instance matches.";
/// Nothing in the activity log, or nothing of this person.
pub(crate) const NO_ACTIVITY: &str = "There is nothing to tell.";
/// A filter of the activity log that is not an address.
pub(crate) const NOT_A_PERSON: &str = "This is not an e-mail address; what everybody did is shown.";
/// Stands before the time that is left when it is short.
pub(crate) const ENDS_WARNING: &str = "Save your work!";
/// Asked before an end, in one line.
pub(crate) const CONFIRM_END: &str = "End this workshop? Everything that was not saved elsewhere is lost.";
/// Told on the page that asks before an end.
pub(crate) const END_WARNING: &str =
    "The workshop stops at once. Everything in it that you have not saved elsewhere is lost.";
/// An archived template, as an admin sees it.
pub(crate) const INACTIVE_ADMIN: &str = "This template is archived: only administrators can launch it, to try it.";
/// An archived template, as everybody else sees it.
pub(crate) const INACTIVE_USER: &str = "This workshop is no longer offered. Ask your teacher for the current one.";
/// Above a form that was not accepted.
pub(crate) const FORM_HAS_ERRORS: &str = "Nothing was saved. Please correct:";
/// Asked before many ends.
pub(crate) const BULK_END_WARNING: &str =
    "What runs there stops at once. Everything that was not saved elsewhere is lost.";
/// Above what became of each that was to be ended.
pub(crate) const BULK_ENDED: &str = "Ended";
/// Above what became of each that was to be extended.
pub(crate) const BULK_EXTENDED: &str = "Extended";
/// What was done to many: `Ended 28 of 30`.
pub(crate) fn bulk_heading(verb: &str, done: usize, all: usize) -> String {
    if all == 0 { verb.to_owned() } else { format!("{verb} {done} of {all}") }
}
/// Before a new end.
pub(crate) const BULK_UNTIL: &str = "It runs until";
/// The service could not do it now.
pub(crate) const TRY_AGAIN: &str = "It could not be done now. Try again in a minute.";
/// No instance was ticked.
pub(crate) const NOTHING_TICKED: &str = "No instance was ticked.";
/// A filter that is not an address.
pub(crate) const NOT_AN_EMAIL: &str = "This is not an e-mail address; everybody's instances are shown.";

/// Somebody who wants to sign in, and meets no login proxy.
pub(crate) const NO_LOGIN_TITLE: &str = "No login proxy answers here";
/// What to do about it, for whoever runs the service.
pub(crate) const NO_LOGIN: &str = "This address is where people sign in, but the launcher itself was asked for it: it \
                                   signs nobody in. Put a login proxy in front of it, or set SERVICE_LOGIN_URL to where \
                                   one is. To try the launcher on this machine without one, use make run, or start it \
                                   with SERVICE_REQUIRE_AUTHENTICATION=false and \
                                   SERVICE_DEV_IDENTITY=you@example.org. docs/settings.md explains them.";

/// After signing out.
pub(crate) const SIGNED_OUT_TITLE: &str = "You are signed out";
/// What is left to do, on a machine that others use.
pub(crate) const SIGNED_OUT: &str = "Your workshops run on until they end. The account that you signed in with may still be \
                                     signed in at its provider: on a computer that others use, sign out there too, or \
                                     close the browser.";
/// The way back in.
pub(crate) const SIGN_IN_AGAIN: &str = "Sign in again";

/// The caller may not launch more.
pub(crate) const LIMIT_TITLE: &str = "You have reached your limit.";
/// A launch that was refused.
pub(crate) const NOT_LAUNCHED: &str = "The workshop was not launched.";
/// A full queue.
pub(crate) const AT_CAPACITY: &str = "Too many workshops are waiting to start right now. Try again in a minute.";
/// A form whose key belongs to another launch.
pub(crate) const KEY_REUSED: &str = "This page was out of date. Launch again from below.";
/// An extension that was refused.
pub(crate) const NOT_EXTENDED: &str = "The workshop was not extended.";
/// A second click on "extend".
pub(crate) const EXPIRY_CHANGED: &str =
    "Its end has changed since you loaded the page. You see its current end below; extend it again if you need more.";
/// A workshop that is not in the list any more.
pub(crate) const GONE_TITLE: &str = "This workshop does not exist any more.";
/// What to do about it.
pub(crate) const GONE: &str = "The list below is up to date.";
/// Above what people would see of a template.
pub(crate) const PREVIEW_TITLE: &str = "Preview";
/// What it is.
pub(crate) const PREVIEW: &str = "Nothing is saved yet. This is its card in the catalog, and what its own page says.";
/// Somebody else saved the template first.
pub(crate) const CONFLICT_TITLE: &str = "Somebody else changed this template while you were editing it.";
/// What to do about it.
pub(crate) const CONFLICT: &str = "Nothing was saved yet; what you typed is below. To see the other changes, open this \
                                   page in a second tab. Saving again replaces them with yours.";

/// An amount of things, in words.
fn counted(count: i64, unit: &str) -> String {
    if count == 1 { format!("1 {unit}") } else { format!("{count} {unit}s") }
}

/// A duration in words, to the minute from a minute on: `2 hours 5 minutes`. Below zero is zero.
pub(crate) fn duration(seconds: i64) -> String {
    let seconds = seconds.max(0);
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    let parts: Vec<String> = [(days, "day"), (hours, "hour"), (minutes, "minute")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, unit)| counted(count, unit))
        .collect();
    if parts.is_empty() { counted(seconds, "second") } else { parts.join(" ") }
}

/// How long a workshop of a template lasts.
pub(crate) fn lasts(lifetime_seconds: u32, max_lifetime_seconds: u32) -> String {
    let lifetime = duration(lifetime_seconds.into());
    if max_lifetime_seconds > lifetime_seconds {
        format!("Lasts {lifetime}, can be extended to {}", duration(max_lifetime_seconds.into()))
    } else {
        format!("Lasts {lifetime}")
    }
}

/// A state, for the person who waits.
pub(crate) fn state_name(state: InstanceState) -> &'static str {
    match state {
        InstanceState::Queued => "Waiting in line",
        InstanceState::Starting => "Starting",
        InstanceState::Running => "Ready",
        InstanceState::Terminating => "Ending",
        InstanceState::Terminated => "Ended",
        InstanceState::Failed => "Failed",
    }
}

/// A state with the place in line, or how far the start is, where there is one.
pub(crate) fn state(state: InstanceState, queue_position: Option<u32>, step: Option<StartStep>) -> String {
    let name = state_name(state);
    match (queue_position, step) {
        (Some(1), _) => format!("{name}: next to start"),
        (Some(position), _) => format!("{name}: place {position}"),
        (None, Some(step)) => format!("{name}: {}", start_step(step)),
        (None, None) => name.to_owned(),
    }
}

/// What a workshop that starts is waiting for.
fn start_step(step: StartStep) -> &'static str {
    match step {
        StartStep::WaitingForRoom => "waiting for a machine with room",
        StartStep::Preparing => "preparing a place for it",
        StartStep::PullingImage => "fetching its software, which takes longer the first time",
        StartStep::StartingApp => "waiting for it to answer",
        StartStep::RestartingApp => "it stopped and is being started again",
    }
}

/// Why a workshop ended, for its owner.
pub(crate) fn end_reason(reason: EndReason) -> &'static str {
    match reason {
        EndReason::Owner => "Ended by its owner",
        EndReason::Admin => "Ended by an administrator",
        EndReason::Expired => "Its time was up",
        EndReason::Failed => "It failed",
        EndReason::Lost => "It was deleted from outside of this service",
    }
}

/// What a line of the activity log says before the name of what it tells of, and behind it. It ends without a full stop:
/// the new end of an extension follows.
pub(crate) fn activity(line: &Activity) -> (String, String) {
    let (actor, owner) = (line.act.actor_email.as_ref(), line.owner_email.as_ref());
    let whose = owner.filter(|_| actor != owner).map(|owner| format!("{owner}'s")).unwrap_or_default();
    let detail = line.detail.as_deref().unwrap_or_default();
    let after = match line.action {
        ActivityAction::Extended => " until".to_owned(),
        ActivityAction::Ended if actor.is_none() => {
            EndReason::parse(detail).map_or_else(|| " ended".to_owned(), |why| format!(" ended. {}", end_reason(why)))
        }
        ActivityAction::Failed => FailureCode::parse(detail).map_or_else(
            || " failed".to_owned(),
            |code| format!(" failed. {}", FailureReason::new(code, None).message.trim_end_matches('.')),
        ),
        ActivityAction::Dismissed => ", which had failed".to_owned(),
        _ if owner.is_none() && !detail.is_empty() => format!(": {}", detail.replace('_', " ")),
        _ => String::new(),
    };
    let who = match (actor, line.action) {
        (None, ActivityAction::Ended | ActivityAction::Failed) => return (whose, after),
        (actor, _) => actor.map_or_else(|| "The service".to_owned(), ToString::to_string),
    };
    (format!("{who} {} {whose}", activity_verb(line.action)).trim_end().to_owned(), after)
}

/// What somebody did.
fn activity_verb(action: ActivityAction) -> &'static str {
    match action {
        ActivityAction::Launched => "launched",
        ActivityAction::Extended => "extended",
        ActivityAction::Ended => "ended",
        ActivityAction::Failed => "failed",
        ActivityAction::Dismissed => "dismissed",
        ActivityAction::TemplateCreated => "created the template",
        ActivityAction::TemplateChanged => "changed the template",
        ActivityAction::TemplateArchived => "archived the template",
        ActivityAction::TemplateRestored => "restored the template",
    }
}

/// Why there is no button to extend a running workshop.
pub(crate) fn extend_denied(error: ExtendError) -> &'static str {
    match error {
        ExtendError::NotRunning => "Only a running workshop can be extended.",
        ExtendError::LifetimeLimitReached => "It cannot be extended any further.",
        ExtendError::ExpiryChanged => "Its end has changed in the meantime.",
    }
}

/// The name of a template that is made of another one; no longer than a name may be.
pub(crate) fn copy_of(name: &str) -> String {
    format!("Copy of {name}").chars().take(80).collect()
}

/// A kind of app.
pub(crate) fn app_type(app_type: AppType) -> &'static str {
    match app_type {
        AppType::Rstudio => "RStudio",
        AppType::Notebook => "Jupyter notebook",
        AppType::Custom => "Web app",
    }
}

/// A security profile.
pub(crate) fn security_profile(profile: SecurityProfile) -> &'static str {
    match profile {
        SecurityProfile::Restricted => "restricted: not root (recommended)",
        SecurityProfile::Baseline => "baseline: root inside the container, as stock RStudio images need",
    }
}

/// How many workshops the caller has and may have.
pub(crate) fn limit_reached(limit: u32, held: u32) -> String {
    format!("You have {} and may have {limit}. End one of them, then launch again.", counted(held.into(), "workshop"))
}

/// The title and the text of an error's page. `detail` is the problem's own, shown where there are no better words.
pub(crate) fn error(code: &str, detail: String) -> (String, String) {
    let (title, text) = match code {
        "authentication-required" => ("Please sign in", "You are not signed in, or your session has ended."),
        "admin-only" => ("This is for administrators", "You are signed in, but this page or action is not for you."),
        "cross-site-request" => (
            "That was stopped",
            "It did not come from a page of this service. Open the page again and repeat it there.",
        ),
        "not-found" => ("There is nothing here", "It does not exist, or it is not yours. It may have ended long ago."),
        "version-mismatch" => {
            ("Somebody was quicker", "It has changed since you loaded the page. Load it again and repeat your change.")
        }
        "body-too-large" => ("That is too much", "Go back, shorten what you wrote, and send it again."),
        "invalid-fields" => (
            "That could not be accepted",
            "Something in the form was not as expected. Load the page again and repeat it.",
        ),
        "unavailable" | "at-capacity" => {
            ("Please try again in a moment", "The service cannot answer right now. Running workshops are not affected.")
        }
        "internal" => {
            ("Something went wrong here", "It is not your fault, and it was recorded. Try again in a moment.")
        }
        _ => return ("That did not work".to_owned(), detail),
    };
    (title.to_owned(), text.to_owned())
}
