//! Slots of the downloads of volumes and snapshots.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use futures_util::StreamExt;
use launcher_domain::EmailAddress;
use launcher_domain::sync::lock;
use launcher_fleet::{ByteStream, STREAM_BYTES};

/// Maximum downloads at the same time. Each uses two threads, and compresses.
const MAX_DOWNLOADS: usize = 8;
/// Maximum memory of one download's compression (256 KiB: zlib's documentation of `deflateInit2`) and of the stacks of its
/// two threads, in bytes.
pub(crate) const COMPRESSION_BYTES: usize = 512 * 1024;
/// Maximum memory of all downloads, in bytes. Each has two streams: the tar archive of the fleet, and the download.
pub const DOWNLOAD_BYTES: usize = MAX_DOWNLOADS * (2 * STREAM_BYTES + COMPRESSION_BYTES);

/// The callers that download a volume or a snapshot. Each has one slot at most, so that a few slow clients of one person do not block
/// all others.
#[derive(Debug, Default)]
pub(crate) struct Downloads(Mutex<HashSet<EmailAddress>>);

/// The slot of a download. Its drop frees the slot.
#[derive(Debug)]
pub(crate) struct DownloadSlot {
    downloads: Arc<Downloads>,
    caller: EmailAddress,
}

impl Downloads {
    /// Takes a slot for this caller; `None` if the caller has one, or if all are taken.
    pub(crate) fn take(self: &Arc<Self>, caller: &EmailAddress) -> Option<DownloadSlot> {
        let mut callers = lock(&self.0);
        if callers.len() >= MAX_DOWNLOADS || !callers.insert(caller.clone()) {
            return None;
        }
        Some(DownloadSlot { downloads: Arc::clone(self), caller: caller.clone() })
    }
}

impl DownloadSlot {
    /// Holds the slot until this stream is dropped.
    pub(crate) fn hold(self, files: ByteStream) -> ByteStream {
        // The reference moves the slot into the stream.
        files
            .inspect(move |_| {
                let _ = &self;
            })
            .boxed()
    }
}

impl Drop for DownloadSlot {
    fn drop(&mut self) {
        lock(&self.downloads.0).remove(&self.caller);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn email(number: usize) -> EmailAddress {
        EmailAddress::parse(&format!("user{number}@example.org")).unwrap()
    }

    #[test]
    fn each_caller_has_one_slot_until_the_download_ends() {
        let downloads = Arc::new(Downloads::default());
        let slot = downloads.take(&email(0));
        assert!(slot.is_some() && downloads.take(&email(0)).is_none());
        drop(slot);
        assert!(downloads.take(&email(0)).is_some());
    }

    #[test]
    fn number_of_slots_is_limited() {
        let downloads = Arc::new(Downloads::default());
        let mut slots: Vec<_> = (0..MAX_DOWNLOADS).map(|number| downloads.take(&email(number)).unwrap()).collect();
        assert!(downloads.take(&email(MAX_DOWNLOADS)).is_none());
        slots.pop();
        assert!(downloads.take(&email(MAX_DOWNLOADS)).is_some());
    }
}
