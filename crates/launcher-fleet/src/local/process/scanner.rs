//! Takes snapshots of the machine's processes, and shares each snapshot between concurrent callers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep_until};

use super::snapshot::ProcessSnapshot;

/// Minimum time between the starts of two snapshots. A snapshot is expensive: it reads several files per process.
const SNAPSHOT_INTERVAL: Duration = Duration::from_millis(50);

/// Takes process snapshots for one fleet. Concurrent callers share one snapshot.
#[derive(Debug)]
pub(crate) struct ProcessScanner {
    data_dir_id: String,
    /// Number of snapshots begun so far.
    begun: AtomicU64,
    last: Mutex<Last>,
}

/// The last complete snapshot.
#[derive(Debug, Default)]
struct Last {
    number: u64,
    began: Option<Instant>,
    snapshot: Arc<ProcessSnapshot>,
}

impl ProcessScanner {
    pub(crate) fn new(data_dir_id: String) -> Self {
        Self { data_dir_id, begun: AtomicU64::new(0), last: Mutex::default() }
    }

    /// Returns a snapshot that began after this call. All callers that wait for the same snapshot share it. `None` if
    /// the program is ending.
    pub(crate) async fn fresh_snapshot(&self) -> Option<Arc<ProcessSnapshot>> {
        let asked = self.begun.load(Ordering::SeqCst);
        let mut last = self.last.lock().await;
        if last.number <= asked {
            if let Some(began) = last.began {
                sleep_until(began + SNAPSHOT_INTERVAL).await;
            }
            let number = self.begun.fetch_add(1, Ordering::SeqCst) + 1;
            let began = Instant::now();
            let data_dir_id = self.data_dir_id.clone();
            let snapshot = Arc::new(spawn_blocking(move || ProcessSnapshot::take(&data_dir_id)).await.ok()?);
            *last = Last { number, began: Some(began), snapshot };
        }
        Some(Arc::clone(&last.snapshot))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::Ordering;
    use std::time::Duration;

    use super::{ProcessScanner, SNAPSHOT_INTERVAL};

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn concurrent_callers_share_one_process_snapshot_per_interval() {
        const CALLS: u32 = 4;
        let scanner = Arc::new(ProcessScanner::new("no-fleet".to_owned()));
        let began = tokio::time::Instant::now();
        let asking = (0..60).map(|_| {
            let scanner = Arc::clone(&scanner);
            tokio::spawn(async move {
                for _ in 0..CALLS {
                    scanner.fresh_snapshot().await.unwrap();
                }
            })
        });
        for asked in asking.collect::<Vec<_>>() {
            tokio::time::timeout(Duration::from_secs(120), asked).await.unwrap().unwrap();
        }
        let ticks = began.elapsed().as_millis() / SNAPSHOT_INTERVAL.as_millis() + 1;
        let looks = u128::from(scanner.begun.load(Ordering::SeqCst));
        assert!(looks >= u128::from(CALLS), "each snapshot began after the call");
        assert!(looks <= ticks, "{looks} snapshots in {ticks} intervals");
        assert!(looks <= 60, "{looks} snapshots for 60 callers that each asked {CALLS} times");
    }
}
