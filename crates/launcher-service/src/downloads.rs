//! Slots of the downloads of volumes and snapshots.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::stream::{StreamExt as _, unfold};
use launcher_domain::EmailAddress;
use launcher_domain::sync::lock;
use launcher_fleet::{ByteStream, STREAM_BYTES};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::zip::DIRECTORY_BYTES;

/// Maximum downloads at the same time. Each uses two threads, and compresses.
const MAX_DOWNLOADS: usize = 8;
/// Maximum downloads that are displaced, but whose client has not read the error yet. Further displacements wait.
const MAX_DISPLACED: usize = 4;
/// Time that a download waits for its client before another download may displace it.
const PATIENCE: Duration = Duration::from_secs(20);
/// Bytes per second that a client must read, or else another download may displace the download.
const MIN_RATE: u64 = 64 * 1024;
/// Maximum memory of one download's compression (256 KiB: zlib's documentation of `deflateInit2`) and of the stacks of its
/// two threads, in bytes.
pub(crate) const COMPRESSION_BYTES: usize = 512 * 1024;
/// Maximum memory of all downloads, in bytes. Each has two streams: the tar archive of the fleet, and the download. A zip archive
/// has its directory, too.
pub const DOWNLOAD_BYTES: usize =
    (MAX_DOWNLOADS + MAX_DISPLACED) * (2 * STREAM_BYTES + COMPRESSION_BYTES + DIRECTORY_BYTES);

/// The running downloads of volumes and snapshots. Each caller has one at most, so that one person does not block all
/// others. If all slots are taken, a new download displaces the one with the slowest client below [`MIN_RATE`].
#[derive(Debug, Default)]
pub(crate) struct Downloads(Mutex<Vec<Running>>);

/// One download.
#[derive(Debug)]
struct Running {
    caller: EmailAddress,
    /// Cancelled when another download displaces this one.
    displaced: CancellationToken,
    /// Bytes that were passed to the client.
    sent: u64,
    /// Time that the download has waited for its client, without the present wait.
    waited: Duration,
    /// Begin of the present wait for the client.
    waiting_since: Option<Instant>,
}

impl Running {
    fn is_active(&self) -> bool {
        !self.displaced.is_cancelled()
    }

    /// Returns the bytes per second that the client reads, if they are below [`MIN_RATE`]. Time in which the download
    /// itself was slow does not count.
    fn slow_rate(&self) -> Option<u64> {
        let waited = self.waited + self.waiting_since.map(|since| since.elapsed()).unwrap_or_default();
        let rate = self.sent / waited.as_secs().max(1);
        (waited >= PATIENCE && rate < MIN_RATE).then_some(rate)
    }
}

/// The slot of a download. Its drop frees the slot.
#[derive(Debug)]
pub(crate) struct DownloadSlot {
    downloads: Arc<Downloads>,
    displaced: CancellationToken,
}

impl Downloads {
    /// Takes a slot for this caller; `None` if the caller has one, or if all are taken, and no slow client can be displaced.
    pub(crate) fn take(self: &Arc<Self>, caller: &EmailAddress) -> Option<DownloadSlot> {
        let mut running = lock(&self.0);
        let (active, displaced): (Vec<_>, Vec<_>) = running.iter().partition(|one| one.is_active());
        let own = active.iter().find(|one| one.caller == *caller);
        if own.is_some() || active.len() >= MAX_DOWNLOADS {
            let candidates = own.map_or(active.as_slice(), std::slice::from_ref);
            let slow = candidates.iter().filter_map(|one| Some((one.slow_rate()?, one)));
            let (_, slowest) = slow.min_by_key(|(rate, _)| *rate).filter(|_| displaced.len() < MAX_DISPLACED)?;
            tracing::info!(by = %slowest.caller, "ending download of a slow client: another download needs its slot");
            slowest.displaced.cancel();
        }
        let displaced = CancellationToken::new();
        running.push(Running {
            caller: caller.clone(),
            displaced: displaced.clone(),
            sent: 0,
            waited: Duration::ZERO,
            waiting_since: None,
        });
        Some(DownloadSlot { downloads: Arc::clone(self), displaced })
    }
}

impl DownloadSlot {
    /// Returns the stream of a download, which holds the slot until its end. A displaced download ends with an error.
    pub(crate) fn hold(self, files: ByteStream) -> ByteStream {
        unfold(Some((self, files)), |state| async move {
            let (slot, mut files) = state?;
            slot.update(|running| {
                running.waited += running.waiting_since.take().map(|since| since.elapsed()).unwrap_or_default();
            });
            let item = tokio::select! {
                biased;
                () = slot.displaced.cancelled() => {
                    let error = io::Error::new(io::ErrorKind::TimedOut, "the client read too slowly");
                    return Some((Err(error), None));
                }
                item = files.next() => item?,
            };
            let bytes = item.as_ref().map_or(0, |bytes| bytes.len() as u64);
            slot.update(|running| {
                running.sent += bytes;
                running.waiting_since = Some(Instant::now());
            });
            Some((item, Some((slot, files))))
        })
        .boxed()
    }

    fn update(&self, change: impl FnOnce(&mut Running)) {
        let mut running = lock(&self.downloads.0);
        if let Some(own) = running.iter_mut().find(|one| one.displaced == self.displaced) {
            change(own);
        }
    }
}

impl Drop for DownloadSlot {
    fn drop(&mut self) {
        lock(&self.downloads.0).retain(|one| one.displaced != self.displaced);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use futures_util::stream::repeat_with;

    fn email(number: usize) -> EmailAddress {
        EmailAddress::parse(&format!("user{number}@example.org")).unwrap()
    }

    /// An endless download with items of 64 KiB.
    fn endless(slot: DownloadSlot) -> ByteStream {
        slot.hold(repeat_with(|| Ok(Bytes::from_static(&[0; 64 << 10]))).boxed())
    }

    #[tokio::test]
    async fn each_caller_has_one_slot_until_the_download_ends() {
        let downloads = Arc::new(Downloads::default());
        let slot = downloads.take(&email(0));
        assert!(slot.is_some() && downloads.take(&email(0)).is_none());
        drop(slot);
        let mut download = endless(downloads.take(&email(0)).unwrap());
        download.next().await.unwrap().unwrap();
        drop(download);
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

    #[tokio::test(start_paused = true)]
    async fn slowest_client_is_displaced_with_an_error_when_all_slots_are_taken() {
        let downloads = Arc::new(Downloads::default());
        let mut running: Vec<_> =
            (0..MAX_DOWNLOADS).map(|number| endless(downloads.take(&email(number)).unwrap())).collect();
        // Client 3 reads 6.4 kB/s, and all others read 640 kB/s.
        for tick in 0..300 {
            for (number, download) in running.iter_mut().enumerate() {
                if number != 3 || tick % 100 == 0 {
                    download.next().await.unwrap().unwrap();
                }
            }
            if tick == 100 {
                assert!(downloads.take(&email(20)).is_none(), "no client is slow yet");
            }
            tokio::time::advance(Duration::from_millis(100)).await;
        }
        let new = downloads.take(&email(20)).unwrap();
        assert_eq!(running[3].next().await.unwrap().unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert!(running[3].next().await.is_none());
        assert!(downloads.take(&email(21)).is_none(), "the others read fast enough");
        drop(running.remove(3));
        for download in &mut running {
            download.next().await.unwrap().unwrap();
        }
        drop(new);
    }

    #[tokio::test(start_paused = true)]
    async fn stalled_download_of_the_same_caller_is_displaced() {
        let downloads = Arc::new(Downloads::default());
        let mut stalled = endless(downloads.take(&email(0)).unwrap());
        stalled.next().await.unwrap().unwrap();
        tokio::time::advance(PATIENCE).await;
        let again = downloads.take(&email(0));
        assert!(again.is_some() && stalled.next().await.unwrap().is_err());
        drop(stalled);
        assert!(downloads.take(&email(0)).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn download_that_waits_for_its_files_is_not_displaced() {
        let downloads = Arc::new(Downloads::default());
        let slot = downloads.take(&email(0)).unwrap();
        let mut slow_files = slot.hold(futures_util::stream::pending().boxed());
        let next = tokio::time::timeout(PATIENCE * 2, slow_files.next()).await;
        assert!(next.is_err() && downloads.take(&email(0)).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn displaced_downloads_that_are_not_read_are_limited() {
        let downloads = Arc::new(Downloads::default());
        let mut unread = Vec::new();
        for _ in 0..=MAX_DISPLACED {
            let mut download = endless(downloads.take(&email(0)).unwrap());
            download.next().await.unwrap().unwrap();
            unread.push(download);
            tokio::time::advance(PATIENCE).await;
        }
        assert!(downloads.take(&email(0)).is_none());
        unread.pop();
        assert!(downloads.take(&email(0)).is_some(), "the only active download has ended");
    }
}
