//! Snapshots of the machine's processes. Concurrent callers share each snapshot.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep_until};

use super::process_id::{ProcessId, Stat, running_processes};

/// The processes at one moment, with the data that identifies their Workshops. The launcher itself is not included.
#[derive(Default)]
pub(crate) struct ProcessSnapshot(BTreeMap<ProcessId, ProcessInfo>);

pub(crate) struct AppProcesses {
    pub(crate) marker: String,
    /// The leader of the app's process group, which may have exited. `None` if no record names it, or if it was started
    /// before the last reboot.
    pub(crate) leader: Option<ProcessId>,
}

struct ProcessInfo {
    parent: i32,
    group: i32,
    /// Marker of the process; `None` if the process belongs to no Workshop of this data directory. A process without a
    /// marker gets the marker of its nearest marked ancestor.
    marker: Option<String>,
    is_keeper: bool,
}

impl ProcessSnapshot {
    /// Reads all processes. Markers of other data directories are ignored. Blocks.
    pub(crate) fn take(data_dir_id: &str) -> Self {
        let own = format!("{data_dir_id}/");
        let seen = running_processes().map(|(process, Stat { parent, group, .. })| {
            let mark = process.read_marker().filter(|mark| mark.marker.starts_with(&own));
            let is_keeper = mark.as_ref().is_some_and(|mark| mark.is_keeper);
            (process, ProcessInfo { parent, group, marker: mark.map(|mark| mark.marker), is_keeper })
        });
        Self::of(seen.collect())
    }

    /// Gives every process without a marker the marker of its nearest marked ancestor. A keeper is an ancestor of every
    /// process that its app has started, including processes that cleared their environment.
    fn of(mut processes: BTreeMap<ProcessId, ProcessInfo>) -> Self {
        let parents: BTreeMap<i32, (i32, Option<String>)> = processes
            .iter()
            .filter_map(|(process, info)| {
                Some((process.pid()?.as_raw_nonzero().get(), (info.parent, info.marker.clone())))
            })
            .collect();
        for info in processes.values_mut().filter(|info| info.marker.is_none()) {
            let ancestors = std::iter::successors(parents.get(&info.parent), |(parent, _)| parents.get(parent));
            // The limit ends the search in a cycle. A cycle is possible, because the kernel may reuse PIDs while the
            // snapshot is taken.
            info.marker = ancestors.take(parents.len()).find_map(|(_, marker)| marker.clone());
        }
        Self(processes)
    }

    /// True if this process ran when the snapshot was taken. Another process with the same PID does not count.
    pub(crate) fn contains(&self, process: ProcessId) -> bool {
        self.0.contains_key(&process)
    }

    /// Returns the processes of an app: all processes with its marker, and all processes in the group of its leader.
    /// The keeper is not included.
    pub(crate) fn members<'a>(&'a self, app: &'a AppProcesses) -> impl Iterator<Item = ProcessId> + 'a {
        // The kernel does not reuse the PID of a group's leader while the group has members: if another process has the PID,
        // the old group is gone.
        let is_other = |process: &ProcessId, leader: &ProcessId| process != leader && process.pid() == leader.pid();
        let leader = app.leader.filter(|leader| !self.0.keys().any(|process| is_other(process, leader)));
        let group = leader.and_then(|leader| Some((leader, leader.pid()?.as_raw_nonzero().get())));
        let in_group = move |process: ProcessId, info: &ProcessInfo| {
            group.is_some_and(|(leader, number)| info.group == number && !process.is_older_than(leader))
        };
        let has_marker = move |info: &ProcessInfo| info.marker.as_deref() == Some(app.marker.as_str());
        let belongs = move |(process, info): &(&ProcessId, &ProcessInfo)| {
            !info.is_keeper && (has_marker(info) || in_group(**process, info))
        };
        self.0.iter().filter(belongs).map(|(process, _)| *process)
    }

    /// Returns the keepers of a Workshop. A keeper runs until the last process of its app has exited, including
    /// processes that this snapshot missed. A Workshop has two keepers while an earlier start of its app is ending.
    pub(crate) fn keepers<'a>(&'a self, marker: &'a str) -> impl Iterator<Item = ProcessId> + 'a {
        let belongs = move |info: &ProcessInfo| info.is_keeper && info.marker.as_deref() == Some(marker);
        self.0.iter().filter(move |(_, info)| belongs(info)).map(|(process, _)| *process)
    }

    /// Returns all markers in the snapshot, each once.
    pub(crate) fn markers(&self) -> Vec<String> {
        let mut markers: Vec<String> = self.0.values().filter_map(|info| info.marker.clone()).collect();
        markers.sort();
        markers.dedup();
        markers
    }
}

/// Minimum time between the starts of two snapshots. A snapshot is expensive: it reads several files per process.
const SNAPSHOT_INTERVAL: Duration = Duration::from_millis(50);

/// Takes process snapshots for one fleet. Concurrent callers share one snapshot.
pub(crate) struct ProcessScanner {
    data_dir_id: String,
    begun: AtomicU64,
    last: Mutex<Last>,
}

/// The last complete snapshot.
#[derive(Default)]
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
    use std::collections::BTreeMap;
    use std::sync::Arc;
    use std::sync::atomic::Ordering;
    use std::time::Duration;

    use serde_json::json;

    use super::{AppProcesses, ProcessId, ProcessInfo, ProcessScanner, ProcessSnapshot, SNAPSHOT_INTERVAL};

    fn process(pid: i32, started: u64) -> ProcessId {
        serde_json::from_value(json!({ "pid": pid, "started": started })).unwrap()
    }

    fn info(parent: i32, group: i32, marker: Option<&str>) -> ProcessInfo {
        ProcessInfo { parent, group, marker: marker.map(str::to_owned), is_keeper: false }
    }

    #[test]
    fn process_without_marker_gets_marker_of_nearest_marked_ancestor() {
        let snapshot = ProcessSnapshot::of(BTreeMap::from([
            (process(10, 500), ProcessInfo { is_keeper: true, ..info(1, 10, Some("a")) }),
            (process(11, 501), info(10, 11, Some("a"))),
            // This process and its child left the app's process group and cleared their environment.
            (process(12, 502), info(10, 12, None)),
            (process(13, 503), info(12, 13, None)),
            // A process of Workshop b that a process of Workshop a started.
            (process(14, 504), info(13, 14, Some("b"))),
            (process(15, 505), info(14, 15, None)),
            (process(16, 506), info(1, 16, None)),
            // Two processes that are each other's parent: the search for an ancestor must still end.
            (process(17, 507), info(18, 17, None)),
            (process(18, 508), info(17, 17, None)),
        ]));
        let members = |marker: &str| {
            let app = AppProcesses { marker: marker.to_owned(), leader: None };
            snapshot.members(&app).map(ProcessId::pid).collect::<Vec<_>>()
        };
        assert_eq!(members("a"), [11, 12, 13].map(rustix::process::Pid::from_raw));
        assert_eq!(members("b"), [14, 15].map(rustix::process::Pid::from_raw));
        assert_eq!(snapshot.keepers("a").collect::<Vec<_>>(), [process(10, 500)]);
        assert_eq!(snapshot.keepers("b").count(), 0);
        assert_eq!(snapshot.markers(), ["a", "b"]);
    }

    #[test]
    fn group_members_belong_to_app_until_leader_pid_is_reused() {
        let leader = process(10, 500);
        let members = |pids: &[(i32, u64)]| {
            let info = |pid| info(1, if pid < 20 { 10 } else { 20 }, None);
            let snapshot =
                ProcessSnapshot::of(pids.iter().map(|(pid, started)| (process(*pid, *started), info(*pid))).collect());
            let app = AppProcesses { marker: "other".to_owned(), leader: Some(leader) };
            snapshot.members(&app).collect::<Vec<_>>()
        };
        assert_eq!(members(&[(11, 500), (21, 600)]), [process(11, 500)]);
        assert_eq!(members(&[(10, 500), (11, 600)]), [leader, process(11, 600)]);
        assert_eq!(members(&[(11, 499)]), [], "a process that is older than the leader belongs to an earlier group");
        assert_eq!(members(&[(10, 700), (11, 800)]), [], "another process has the leader's PID");
    }

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
