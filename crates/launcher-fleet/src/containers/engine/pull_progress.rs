//! Progress of a pull, summed over the image's layers.

use std::collections::BTreeMap;

use bollard::models::CreateImageInfo;

/// Progress of a pull. The total grows while the engine learns the sizes of the layers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PullProgress {
    /// Downloaded bytes.
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

/// Progress of each layer.
#[derive(Debug, Default)]
pub(super) struct Layers(BTreeMap<String, Layer>);

#[derive(Debug, Default)]
struct Layer {
    done_bytes: u64,
    total_bytes: u64,
    is_downloaded: bool,
}

impl Layers {
    /// Adds a message of the engine. Returns true if the progress has changed.
    pub(super) fn update(&mut self, message: &CreateImageInfo) -> bool {
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

    pub(super) fn progress(&self) -> PullProgress {
        let sum = |bytes: fn(&Layer) -> u64| self.0.values().map(bytes).sum();
        PullProgress {
            done_bytes: sum(|layer| layer.done_bytes),
            total_bytes: sum(|layer| layer.total_bytes),
            is_downloaded: !self.0.is_empty() && self.0.values().all(|layer| layer.is_downloaded),
        }
    }
}
