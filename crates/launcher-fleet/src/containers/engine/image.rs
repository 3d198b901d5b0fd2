//! Images: presence, and pull with its progress.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::pin::pin;
use std::time::Duration;

use bollard::models::CreateImageInfo;
use bollard::query_parameters::CreateImageOptions;
use futures_util::StreamExt;
use serde::de::IgnoredAny;
use tokio::time::timeout;

use super::container::is_image_unknown;
use super::{Engine, EngineError};

/// Maximum time between two messages of a pull while bytes are missing.
const DOWNLOAD_IDLE: Duration = Duration::from_secs(60);
/// Maximum time between two messages of a pull after the download. Podman sends none while it unpacks the layers.
const UNPACK_IDLE: Duration = Duration::from_secs(600);

impl Engine {
    pub async fn has_image(&self, image: &str) -> Result<bool, EngineError> {
        check_reference(image)?;
        match self.get::<IgnoredAny>(&format!("/images/{}/json", with_tag(image))).await {
            Ok(_) => Ok(true),
            Err(EngineError::NotFound(_)) => Ok(false),
            Err(EngineError::Other(message)) if is_image_unknown(&message) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Pulls an image from its registry, without credentials, and reports the progress of the download.
    pub async fn pull(&self, image: &str, progress: &(dyn Fn(PullProgress) + Send + Sync)) -> Result<(), EngineError> {
        check_reference(image)?;
        let reference = with_tag(image).into_owned();
        let options = CreateImageOptions { from_image: Some(reference), ..CreateImageOptions::default() };
        let mut messages = pin!(self.docker.create_image(Some(options), None, None));
        let mut layers = Layers::default();
        loop {
            let limit = if layers.progress().is_downloaded { UNPACK_IDLE } else { DOWNLOAD_IDLE };
            match timeout(limit, messages.next()).await {
                Err(_) => {
                    let problem = format!("no progress of the pull within {} seconds", limit.as_secs());
                    return Err(EngineError::Other(problem));
                }
                Ok(None) => break,
                Ok(Some(Err(error))) => return Err(pull_error(image, self.error(error))),
                Ok(Some(Ok(message))) => {
                    if layers.update(&message) {
                        progress(layers.progress());
                    }
                }
            }
        }
        if self.has_image(image).await? {
            return Ok(());
        }
        Err(EngineError::Other("the pull ended without the image".to_owned()))
    }
}

/// Refuses references that would change the path of a request.
fn check_reference(image: &str) -> Result<(), EngineError> {
    let is_component = |part: &str| !part.is_empty() && part != "." && part != "..";
    let is_valid = image.split('/').all(is_component)
        && image.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-/:@+".contains(&byte));
    if is_valid { Ok(()) } else { Err(EngineError::BadParameter(format!("{image:?} is not an image reference"))) }
}

/// Adds the tag `latest` to a reference without tag and digest. Without it, Docker Engine pulls all tags.
fn with_tag(image: &str) -> Cow<'_, str> {
    let last = image.rsplit('/').next().unwrap_or(image);
    if last.contains([':', '@']) { image.into() } else { format!("{image}:latest").into() }
}

/// Classifies an error of a pull by its text. Statuses differ between engines and versions, and an error within the
/// stream has none.
fn pull_error(image: &str, error: EngineError) -> EngineError {
    const DENIED: [&str; 6] =
        ["denied", "unauthorized", "authentication required", "no basic auth credentials", "forbidden", "login"];
    const MISSING: [&str; 5] =
        ["manifest unknown", "name unknown", "repository name not known", "no such image", "not found"];
    if matches!(error, EngineError::Unreachable { .. } | EngineError::DiskFull { .. }) {
        return error;
    }
    let message = error.message();
    let lower = message.to_ascii_lowercase();
    let contains = |texts: &[&str]| texts.iter().any(|text| lower.contains(text));
    let image = image.to_owned();
    if contains(&["toomanyrequests", "too many requests"]) {
        EngineError::Other(message)
    } else if contains(&DENIED) {
        EngineError::ImageDenied { image, message }
    } else if contains(&MISSING) {
        EngineError::ImageMissing { image, message }
    } else {
        match error {
            EngineError::NotFound(message) | EngineError::Conflict(message) => EngineError::Other(message),
            error => error,
        }
    }
}

/// Progress of a pull. The total grows while the engine learns the sizes of the layers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PullProgress {
    pub done_bytes: u64,
    /// Bytes of the layers whose size is known.
    pub total_bytes: u64,
    /// True if layers are known and all are downloaded: the engine unpacks them.
    pub is_downloaded: bool,
}

impl PullProgress {
    /// Returns the downloaded part of the known bytes: 0 to 99 during the download, and 100 while the engine unpacks the
    /// layers. 0 if the engine reports no sizes.
    #[must_use]
    pub fn percent(&self) -> u32 {
        let percent = (self.done_bytes * 100).checked_div(self.total_bytes).unwrap_or_default();
        u32::try_from(percent).unwrap_or_default().min(if self.is_downloaded { 100 } else { 99 })
    }
}

#[derive(Debug, Default)]
struct Layers(BTreeMap<String, PullProgress>);

impl Layers {
    /// Adds a message of the engine. Returns true if the progress has changed.
    fn update(&mut self, message: &CreateImageInfo) -> bool {
        let (Some(id), Some(status)) = (&message.id, &message.status) else { return false };
        let before = self.progress();
        match status.as_str() {
            "Pulling fs layer" | "Waiting" => {
                self.0.entry(id.clone()).or_default();
            }
            "Downloading" => {
                let layer = self.0.entry(id.clone()).or_default();
                let detail = message.progress_detail.clone().unwrap_or_default();
                let bytes = |bytes: Option<i64>| bytes.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or_default();
                layer.total_bytes = layer.total_bytes.max(bytes(detail.total));
                layer.done_bytes = bytes(detail.current).min(layer.total_bytes);
            }
            "Verifying Checksum" | "Download complete" | "Extracting" | "Pull complete" => {
                if let Some(layer) = self.0.get_mut(id) {
                    layer.done_bytes = layer.total_bytes;
                    layer.is_downloaded = true;
                }
            }
            _ => {}
        }
        self.progress() != before
    }

    fn progress(&self) -> PullProgress {
        let sum = |bytes: fn(&PullProgress) -> u64| self.0.values().map(bytes).sum();
        PullProgress {
            done_bytes: sum(|layer| layer.done_bytes),
            total_bytes: sum(|layer| layer.total_bytes),
            is_downloaded: !self.0.is_empty() && self.0.values().all(|layer| layer.is_downloaded),
        }
    }
}
