//! Snapshots of the machine's processes, shared by all concurrent readers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep_until};

use super::process::{self, Numbered, Running};

/// Minimum time between the starts of two snapshots: each one reads several files of every process of the machine.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The processes at one moment, with the data that identifies their Workshop. This program itself is not included.
#[derive(Debug, Default)]
pub(super) struct Census(BTreeMap<Numbered, Kin>);

/// Data that identifies the Workshop of a process.
#[derive(Debug)]
struct Kin {
    parent: i32,
    group: i32,
    /// `None` if the process belongs to no Workshop of this data directory. A process without a marker inherits its
    /// parent's.
    marker: Option<String>,
    is_keeper: bool,
}

impl Census {
    /// Reads all processes, and the markers of this data directory only. Blocks.
    pub(super) fn take(place_id: &str) -> Self {
        let own = format!("{place_id}/");
        let seen = process::all().map(|Running { process, parent, group }| {
            let mark = process.mark().filter(|mark| mark.marker.starts_with(&own));
            let is_keeper = mark.as_ref().is_some_and(|mark| mark.is_keeper);
            (process, Kin { parent, group, marker: mark.map(|mark| mark.marker), is_keeper })
        });
        Self::of(seen.collect())
    }

    /// Gives every process without a marker the marker of its nearest ancestor with one. A keeper is an ancestor of
    /// every process that its app has started, including those that cleared their environment.
    fn of(mut processes: BTreeMap<Numbered, Kin>) -> Self {
        let parents: BTreeMap<i32, (i32, Option<String>)> = processes
            .iter()
            .filter_map(|(process, kin)| {
                Some((process.pid()?.as_raw_nonzero().get(), (kin.parent, kin.marker.clone())))
            })
            .collect();
        for kin in processes.values_mut().filter(|kin| kin.marker.is_none()) {
            let ancestors = std::iter::successors(parents.get(&kin.parent), |(parent, _)| parents.get(parent));
            // A snapshot is not atomic, and PIDs may be reused meanwhile: a chain could be a cycle.
            kin.marker = ancestors.take(parents.len()).find_map(|(_, marker)| marker.clone());
        }
        Self(processes)
    }

    /// True if exactly this process was running.
    pub(super) fn has(&self, process: Numbered) -> bool {
        self.0.contains_key(&process)
    }

    /// The processes of an app: those with this marker, and those in the group whose leader runs or ran since the
    /// machine booted. The Workshop's keeper is not included.
    pub(super) fn members<'a>(
        &'a self,
        marker: &'a str,
        leader: Option<Numbered>,
    ) -> impl Iterator<Item = Numbered> + 'a {
        let leader = leader.filter(|leader| self.is_nobody_elses(*leader));
        let group = leader.and_then(|leader| Some((leader, leader.pid()?.as_raw_nonzero().get())));
        let in_group = move |process: Numbered, kin: &Kin| {
            group.is_some_and(|(leader, number)| kin.group == number && !process.is_older_than(leader))
        };
        let has_marker = move |kin: &Kin| kin.marker.as_deref() == Some(marker);
        let belongs =
            move |(process, kin): &(&Numbered, &Kin)| !kin.is_keeper && (has_marker(kin) || in_group(**process, kin));
        self.0.iter().filter(belongs).map(|(process, _)| *process)
    }

    /// The keepers of a Workshop. A keeper runs as long as any process of its app, including processes that this
    /// snapshot missed. While an earlier start of the app is ending there is more than one.
    pub(super) fn keepers<'a>(&'a self, marker: &'a str) -> impl Iterator<Item = Numbered> + 'a {
        let belongs = move |kin: &Kin| kin.is_keeper && kin.marker.as_deref() == Some(marker);
        self.0.iter().filter(move |(_, kin)| belongs(kin)).map(|(process, _)| *process)
    }

    /// True if no other process had this PID. The kernel does not reuse a PID while its process group has members.
    fn is_nobody_elses(&self, number: Numbered) -> bool {
        self.0.keys().all(|process| *process == number || process.pid() != number.pid())
    }

    /// All markers of this data directory in the snapshot.
    pub(super) fn markers(&self) -> Vec<String> {
        let mut markers: Vec<String> = self.0.values().filter_map(|kin| kin.marker.clone()).collect();
        markers.sort();
        markers.dedup();
        markers
    }
}

/// Takes snapshots for one fleet: concurrent callers share one snapshot.
#[derive(Debug)]
pub(super) struct CensusTaker {
    place_id: String,
    /// Number of snapshots that were begun.
    begun: AtomicU64,
    last: Mutex<Last>,
}

/// The last complete snapshot.
#[derive(Debug, Default)]
struct Last {
    number: u64,
    began: Option<Instant>,
    census: Arc<Census>,
}

impl CensusTaker {
    pub(super) fn new(place_id: String) -> Self {
        Self { place_id, begun: AtomicU64::new(0), last: Mutex::default() }
    }

    /// Returns a snapshot that began after this call, shared with all callers that asked before it began. `None` if the
    /// program is ending.
    pub(super) async fn fresh(&self) -> Option<Arc<Census>> {
        let asked = self.begun.load(Ordering::SeqCst);
        let mut last = self.last.lock().await;
        if last.number <= asked {
            if let Some(began) = last.began {
                sleep_until(began + LOOK_EVERY).await;
            }
            let number = self.begun.fetch_add(1, Ordering::SeqCst) + 1;
            let began = Instant::now();
            let place_id = self.place_id.clone();
            let census = Arc::new(spawn_blocking(move || Census::take(&place_id)).await.ok()?);
            *last = Last { number, began: Some(began), census };
        }
        Some(Arc::clone(&last.census))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;
    use std::sync::atomic::Ordering;
    use std::time::Duration;

    use serde_json::json;

    use super::{Census, CensusTaker, Kin, LOOK_EVERY, Numbered};

    fn process(pid: i32, started: u64) -> Numbered {
        serde_json::from_value(json!({ "pid": pid, "started": started })).unwrap()
    }

    fn kin(parent: i32, group: i32, marker: Option<&str>) -> Kin {
        Kin { parent, group, marker: marker.map(str::to_owned), is_keeper: false }
    }

    #[test]
    fn process_without_marker_belongs_to_the_workshop_of_its_nearest_marked_ancestor() {
        let census = Census::of(BTreeMap::from([
            (process(10, 500), Kin { is_keeper: true, ..kin(1, 10, Some("a")) }),
            (process(11, 501), kin(10, 11, Some("a"))),
            // It left the group and cleared its environment; so did its child.
            (process(12, 502), kin(10, 12, None)),
            (process(13, 503), kin(12, 13, None)),
            // A process of another Workshop, started by one of the first Workshop.
            (process(14, 504), kin(13, 14, Some("b"))),
            (process(15, 505), kin(14, 15, None)),
            (process(16, 506), kin(1, 16, None)),
            // A cycle, which no real machine has.
            (process(17, 507), kin(18, 17, None)),
            (process(18, 508), kin(17, 17, None)),
        ]));
        let members = |marker| census.members(marker, None).map(|process| process.pid()).collect::<Vec<_>>();
        assert_eq!(members("a"), [11, 12, 13].map(rustix::process::Pid::from_raw));
        assert_eq!(members("b"), [14, 15].map(rustix::process::Pid::from_raw));
        assert_eq!(census.keepers("a").collect::<Vec<_>>(), [process(10, 500)]);
        assert_eq!(census.keepers("b").count(), 0);
        assert_eq!(census.markers(), ["a", "b"]);
    }

    #[test]
    fn process_group_of_exited_leader_is_kept_until_its_pid_is_reused() {
        let leader = process(10, 500);
        let members = |pids: &[(i32, u64)]| {
            let kin = |pid| kin(1, if pid < 20 { 10 } else { 20 }, None);
            let census = Census::of(pids.iter().map(|(pid, started)| (process(*pid, *started), kin(*pid))).collect());
            census.members("nobody", Some(leader)).collect::<Vec<_>>()
        };
        assert_eq!(members(&[(11, 500), (21, 600)]), [process(11, 500)]);
        assert_eq!(members(&[(10, 500), (11, 600)]), [leader, process(11, 600)]);
        assert_eq!(members(&[(11, 499)]), [], "what is older than its leader is of an earlier group");
        assert_eq!(members(&[(10, 700), (11, 800)]), [], "its number is another's");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn concurrent_callers_share_one_process_snapshot_per_interval() {
        const LOOKS: u32 = 4;
        let taker = Arc::new(CensusTaker::new("no-fleet".to_owned()));
        let began = tokio::time::Instant::now();
        let asking = (0..60).map(|_| {
            let taker = Arc::clone(&taker);
            tokio::spawn(async move {
                for _ in 0..LOOKS {
                    taker.fresh().await.unwrap();
                }
            })
        });
        for asked in asking.collect::<Vec<_>>() {
            tokio::time::timeout(Duration::from_secs(30), asked).await.unwrap().unwrap();
        }
        let ticks = began.elapsed().as_millis() / LOOK_EVERY.as_millis() + 1;
        let looks = u128::from(taker.begun.load(Ordering::SeqCst));
        assert!(looks >= u128::from(LOOKS), "each census is one that began after it was asked for");
        assert!(looks <= ticks, "{looks} looks in {ticks} ticks");
        assert!(looks <= 60, "{looks} looks for 60 who asked {LOOKS} times each");
    }
}
