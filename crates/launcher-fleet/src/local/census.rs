//! The processes of this machine at one moment, looked at once for all who want to know.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep_until};

use super::process::{self, Numbered};

/// How long after the begin of one look the next one begins, at the earliest: a look reads some files of every process
/// of the machine.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The processes that ran at one moment, with what tells whose they are. This program itself is not among them.
#[derive(Debug, Default)]
pub(super) struct Census(BTreeMap<Numbered, Kin>);

/// What tells whose a process is.
#[derive(Debug)]
struct Kin {
    group: i32,
    /// `None` for what is not of this place, and for what may not be seen: another user's.
    marker: Option<String>,
}

impl Census {
    /// Looks at all processes; only markers of this place are noted. It blocks.
    pub(super) fn take(place_id: &str) -> Self {
        let own = format!("{place_id}/");
        let seen = process::all().map(|(process, group)| {
            let marker = process.marker().filter(|marker| marker.starts_with(&own));
            (process, Kin { group, marker })
        });
        Self(seen.collect())
    }

    /// Whether this very process ran.
    pub(super) fn has(&self, process: Numbered) -> bool {
        self.0.contains_key(&process)
    }

    /// The processes that carry a marker, or are in the group that a leader of this start of the machine has or had: some
    /// programs write over their environment, and with it the marker.
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
        let belongs = move |(process, kin): &(&Numbered, &Kin)| has_marker(kin) || in_group(**process, kin);
        self.0.iter().filter(belongs).map(|(process, _)| *process)
    }

    /// Whether no other process had the number of this one. The kernel gives none to another while its group has members.
    fn is_nobody_elses(&self, number: Numbered) -> bool {
        self.0.keys().all(|process| *process == number || process.pid() != number.pid())
    }

    /// The markers of this place that processes carried.
    pub(super) fn markers(&self) -> Vec<String> {
        let mut markers: Vec<String> = self.0.values().filter_map(|kin| kin.marker.clone()).collect();
        markers.sort();
        markers.dedup();
        markers
    }
}

/// Takes censuses for one fleet: however many ask at the same time, the machine is looked at once.
#[derive(Debug)]
pub(super) struct CensusTaker {
    place_id: String,
    /// How many censuses were begun.
    begun: AtomicU64,
    last: Mutex<Last>,
}

/// The last census that was finished.
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

    /// A census that began after this was called, shared with all who asked before it began. `None` when the program is
    /// ending.
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
    use std::sync::Arc;
    use std::sync::atomic::Ordering;
    use std::time::Duration;

    use serde_json::json;

    use super::{Census, CensusTaker, Kin, LOOK_EVERY, Numbered};

    fn process(pid: i32, started: u64) -> Numbered {
        serde_json::from_value(json!({ "pid": pid, "started": started })).unwrap()
    }

    #[test]
    fn the_group_of_a_leader_that_is_gone_is_its_own_until_its_number_is_anothers() {
        let leader = process(10, 500);
        let members = |pids: &[(i32, u64)]| {
            let kin = |pid| Kin { group: if pid < 20 { 10 } else { 20 }, marker: None };
            let census = Census(pids.iter().map(|(pid, started)| (process(*pid, *started), kin(*pid))).collect());
            census.members("nobody", Some(leader)).collect::<Vec<_>>()
        };
        assert_eq!(members(&[(11, 500), (21, 600)]), [process(11, 500)]);
        assert_eq!(members(&[(10, 500), (11, 600)]), [leader, process(11, 600)]);
        assert_eq!(members(&[(11, 499)]), [], "what is older than its leader is of an earlier group");
        assert_eq!(members(&[(10, 700), (11, 800)]), [], "its number is another's");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn however_many_ask_the_machine_is_looked_at_once_a_tick() {
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
