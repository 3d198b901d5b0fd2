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
        let files = if starts { Files::default() } else { self.files(t, &caller, &instance).await? };
        let Files { paragraph, are_kept, download } = files;
        paragraphs.extend(paragraph);
        Ok(Some(StoppedWorkshop {
            language: t.code(),
            state: instance.state.as_str(),
            title: t.text(if starts { "stopped-starting-title" } else { "stopped-title" }).into_owned(),
            paragraphs,
            links: self.links(t, &instance, are_kept, download),
        }))
    }

    /// States where the files of the workshop are, and until when.
    async fn files(&self, t: Language, caller: &Caller, instance: &Instance) -> Result<Files, ServiceError> {
        use InstanceState::{Suspended, Suspending};
        if let Some(volume) = &instance.volume {
            let is_paused = matches!(instance.state, Suspending | Suspended);
            let text = plain(t, if is_paused { "files-of-paused" } else { "stopped-files-kept" });
            return match self.launcher.volume(caller, volume).await {
                Ok(_) => Ok(Files::kept(text, self.launcher.can_download().then(|| paths::volume_download(volume)))),
                Err(ServiceError::NotFound) => Ok(Files::not_kept(plain(t, "stopped-files-deleted"))),
                Err(error) => Err(error),
            };
        }
        let Some(snapshot) = &instance.snapshot else {
            // The remedy of a failure says that the files are lost. A workshop that never started has no files.
            let had_files = instance.reason.is_none() && instance.started_at.is_some();
            return Ok(if had_files { Files::not_kept(plain(t, "stopped-files-deleted")) } else { Files::default() });
        };
        let Some(view) = SnapshotView::of(t, snapshot) else { return Ok(Files::default()) };
        if snapshot.state != SnapshotState::Saved {
            return Ok(Files::not_kept(paragraph(view.text.before)));
        }
        let download = || Some(paths::snapshot_download(instance.instance_id));
        Ok(match saved_until(&self.launcher, caller, instance).await? {
            Some((_, Some(until))) => Files::kept(timed(t, "snapshot-saved-until", "value", until), download()),
            Some((_, None)) => Files::kept(paragraph(view.text.before), download()),
            None => Files::not_kept(plain(t, "snapshot-deleted")),
        })
    }

    fn links(&self, t: Language, instance: &Instance, are_kept: bool, download: Option<String>) -> Vec<Link> {
        let link = |label: &str, path: String| Link {
            label: t.text(label).into_owned(),
            url: format!("{}{path}", self.settings.origin()),
        };
        let (page, is_paused) = (paths::instance(&instance.k8s_name), instance.state == InstanceState::Suspended);
        let with_files = || paths::relaunch_with(instance, Some(instance.instance_id));
        let is_archive = are_kept && instance.volume.is_none();
        let links = [
            is_paused.then(|| link("resume", page.clone())),
            (is_archive && self.launcher.can_restore()).then(|| link("launch-with-files", with_files())),
            instance.can_relaunch().then(|| link("launch-again", paths::relaunch(instance))),
            download.map(|path| link("saved-work-download", path)),
            are_kept.then(|| link("stopped-saved-work", paths::SAVED_WORK.to_owned())),
            (!is_paused).then(|| link("stopped-page", page)),
        ];
        links.into_iter().flatten().collect()
    }
}

/// The files of a workshop that does not run.
#[derive(Debug, Default)]
struct Files {
    /// Their place, and the time of their deletion.
    paragraph: Option<Paragraph>,
    /// True if they are in the saved work of the owner.
    are_kept: bool,
    /// Path of their download.
    download: Option<String>,
}

impl Files {
    fn kept(paragraph: Paragraph, download: Option<String>) -> Self {
        Self { paragraph: Some(paragraph), are_kept: true, download }
    }

    fn not_kept(paragraph: Paragraph) -> Self {
        Self { paragraph: Some(paragraph), are_kept: false, download: None }
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
