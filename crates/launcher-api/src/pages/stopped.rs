//! Explanation for the owner at the address of a workshop that does not run.

use std::sync::Arc;

use http::HeaderMap;
use jiff::Timestamp;
use launcher_domain::{AdminList, Caller, EndReason, Instance, InstanceState, ProxySecret, SnapshotState};
use launcher_service::{Launcher, ServiceError};
use serde::Serialize;
use tokio::sync::Semaphore;

use crate::identity::identify;
use crate::pages::view::{SnapshotView, saved_until};
use crate::pages::{Language, paths};
use crate::settings::ApiSettings;

/// Explains to its owner why a workshop does not run. Cheap to clone.
#[derive(Debug, Clone)]
pub struct StoppedWorkshops {
    launcher: Launcher,
    settings: ApiSettings,
    proxy_secret: Option<ProxySecret>,
    slots: Arc<Semaphore>,
}

/// Maximum number of explanations that read the database at the same time. Further requests wait, so that requests for many
/// addresses leave connections to the database for pages and loops.
const MAX_QUERIES: usize = 4;

/// Explanation for the owner of a workshop that does not run, in the reader's language.
#[derive(Debug, Serialize)]
pub struct StoppedWorkshop {
    /// Code of the language.
    #[serde(skip)]
    pub language: &'static str,
    /// State of the workshop.
    pub state: &'static str,
    /// Heading.
    pub title: String,
    /// Sentences: the event, and where the files are.
    pub paragraphs: Vec<Paragraph>,
    /// Links to pages of the launcher, the most useful one first. They change nothing.
    pub links: Vec<Link>,
}

/// A paragraph of an explanation.
#[derive(Debug, Serialize)]
pub struct Paragraph {
    /// The text. `{time}` stands for the point in time.
    text: String,
    /// The point in time that the text names.
    time: Option<Timestamp>,
    /// The text with its time in UTC.
    #[serde(skip)]
    pub plain: String,
}

/// A link to a page of the launcher.
#[derive(Debug, Serialize)]
pub struct Link {
    /// Text of the link.
    pub label: String,
    /// URL of the page.
    pub url: String,
}

impl StoppedWorkshop {
    /// True while the workshop starts: it answers at the same address soon.
    #[must_use]
    pub fn is_starting(&self) -> bool {
        InstanceState::parse(self.state).is_some_and(starts)
    }
}

impl StoppedWorkshops {
    /// Creates the explanations of this launcher's workshops.
    #[must_use]
    pub fn new(launcher: Launcher, settings: ApiSettings, proxy_secret: Option<ProxySecret>) -> Self {
        Self { launcher, settings, proxy_secret, slots: Arc::new(Semaphore::new(MAX_QUERIES)) }
    }

    /// Returns the explanation if the caller owns an instance with this name, also an ended one that is still stored.
    /// Returns `None` for every other caller, admins included, after the same query as for a name without an instance.
    ///
    /// # Errors
    /// The store failed.
    pub async fn explain(&self, k8s_name: &str, headers: &HeaderMap) -> Result<Option<StoppedWorkshop>, ServiceError> {
        let Ok(email) = identify(&self.settings, self.proxy_secret.as_ref(), headers) else { return Ok(None) };
        // A caller of an empty list of admins sees only own instances.
        let caller = AdminList::default().caller(email);
        // The semaphore is never closed.
        let _slot = self.slots.acquire().await.ok();
        let instance = match self.launcher.instance(&caller, k8s_name).await {
            Ok(listed) => listed.instance,
            Err(ServiceError::NotFound) => return Ok(None),
            Err(error) => return Err(error),
        };
        let t = Language::of(headers);
        let starts = starts(instance.state);
        let mut paragraphs = events(t, &instance);
        let files = if starts { None } else { self.files(t, &caller, &instance).await? };
        let are_saved = files.as_ref().is_some_and(|(_, are_saved)| *are_saved);
        paragraphs.extend(files.map(|(paragraph, _)| paragraph));
        Ok(Some(StoppedWorkshop {
            language: t.code(),
            state: instance.state.as_str(),
            title: t.text(if starts { "stopped-starting-title" } else { "stopped-title" }).into_owned(),
            paragraphs,
            links: self.links(t, &instance, are_saved),
        }))
    }

    /// States where the files of the workshop are, and until when. Returns true in addition if they are saved as an archive.
    async fn files(
        &self,
        t: Language,
        caller: &Caller,
        instance: &Instance,
    ) -> Result<Option<(Paragraph, bool)>, ServiceError> {
        use InstanceState::{Suspended, Suspending};
        if instance.volume.is_some() {
            let is_paused = matches!(instance.state, Suspending | Suspended);
            return Ok(Some((plain(t, if is_paused { "files-of-paused" } else { "stopped-files-kept" }), false)));
        }
        let Some(snapshot) = &instance.snapshot else {
            // The remedy of a failure says that the files are lost. A workshop that never started has no files.
            let had_files = instance.reason.is_none() && instance.started_at.is_some();
            return Ok(had_files.then(|| (plain(t, "stopped-files-deleted"), false)));
        };
        let Some(view) = SnapshotView::of(t, snapshot) else { return Ok(None) };
        if snapshot.state != SnapshotState::Saved {
            return Ok(Some((paragraph(view.text.before), false)));
        }
        Ok(Some(match saved_until(&self.launcher, caller, instance).await? {
            Some((_, Some(until))) => (timed(t, "snapshot-saved-until", "value", until), true),
            Some((_, None)) => (paragraph(view.text.before), true),
            None => (plain(t, "snapshot-deleted"), false),
        }))
    }

    fn links(&self, t: Language, instance: &Instance, are_saved: bool) -> Vec<Link> {
        let link = |label: &str, path: String| Link {
            label: t.text(label).into_owned(),
            url: format!("{}{path}", self.settings.origin()),
        };
        let (page, is_paused) = (paths::instance(&instance.k8s_name), instance.state == InstanceState::Suspended);
        let with_files = || paths::relaunch_with(instance, Some(instance.instance_id));
        let links = [
            is_paused.then(|| link("resume", page.clone())),
            (are_saved && self.launcher.can_restore()).then(|| link("launch-with-files", with_files())),
            instance.can_relaunch().then(|| link("launch-again", paths::relaunch(instance))),
            (are_saved || instance.volume.is_some()).then(|| link("stopped-download", "/work".to_owned())),
            (!is_paused).then(|| link("stopped-page", page)),
        ];
        links.into_iter().flatten().collect()
    }
}

const fn starts(state: InstanceState) -> bool {
    matches!(state, InstanceState::Queued | InstanceState::Starting | InstanceState::Running)
}

/// States what happened to the workshop, and when.
fn events(t: Language, instance: &Instance) -> Vec<Paragraph> {
    use InstanceState::{Failed, Suspended, Suspending};
    let named = |key: &str| paragraph(t.with_one(key, "name", instance.settings.name.as_str()));
    let mut paragraphs = vec![match (instance.state, instance.end_reason) {
        (state, _) if starts(state) => named("stopped-starting"),
        (Suspending | Suspended, _) => named("stopped-paused"),
        (Failed, _) | (_, Some(EndReason::Failed)) => named("stopped-failed"),
        (_, Some(EndReason::Owner)) => named("stopped-owner"),
        (_, Some(EndReason::Admin)) => named("stopped-admin"),
        (_, Some(EndReason::Teacher)) => named("stopped-teacher"),
        (_, Some(EndReason::Expired)) => named("stopped-expired"),
        (_, Some(EndReason::Lost) | None) => named("stopped-lost"),
    }];
    if let Some(failure) = instance.failure() {
        paragraphs.push(paragraph(t.failure_message(&failure)));
        paragraphs.push(paragraph(t.failure_remedy(&failure, false)));
    }
    paragraphs.extend(instance.ended_at.map(|at| timed(t, "stopped-at", "time", at)));
    paragraphs
}

fn paragraph(text: String) -> Paragraph {
    Paragraph { plain: text.clone(), text, time: None }
}

fn plain(t: Language, key: &str) -> Paragraph {
    paragraph(t.text(key).into_owned())
}

/// Returns a message with a point in time, which is its value with this name.
fn timed(t: Language, key: &str, value: &'static str, at: Timestamp) -> Paragraph {
    let utc = at.strftime("%Y-%m-%d %H:%M UTC").to_string();
    Paragraph { text: t.with_one(key, value, "{time}"), time: Some(at), plain: t.with_one(key, value, utc) }
}
