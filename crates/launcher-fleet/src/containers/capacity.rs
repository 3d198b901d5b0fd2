//! Capacity of this machine for workshops: memory and CPU. A workshop that does not fit waits in a queue.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use launcher_domain::sync::lock;
use tokio::sync::watch;

/// Memory of the machine that stays free for the launcher, the engine and the system: a tenth, at least this many bytes.
const MIN_RESERVE: u64 = 512 * MIB;
const MIB: u64 = 1024 * 1024;
/// CPU is counted in millicores: thousandths of one CPU.
const MILLIS: u64 = 1000;

/// Resources that a workshop requests: those of the app, as in the template, and those of its sidecar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Request {
    /// Memory in bytes.
    pub(crate) memory: u64,
    /// CPU in millicores.
    pub(crate) cpu_millis: u64,
}

impl Request {
    fn fits(self, size: Self) -> bool {
        self.memory <= size.memory && self.cpu_millis <= size.cpu_millis
    }

    fn plus(self, other: Self) -> Self {
        Self {
            memory: self.memory.saturating_add(other.memory),
            cpu_millis: self.cpu_millis.saturating_add(other.cpu_millis),
        }
    }
}

/// The capacity of a machine. Workshops get memory and CPU in the order in which they entered.
pub(crate) struct Capacity(Arc<Shared>);

/// Reservation of one workshop: its memory and CPU, or a position in the queue. Drop releases both.
pub(crate) struct Reservation {
    number: u64,
    shared: Arc<Shared>,
}

struct Shared {
    size: Request,
    ledger: Mutex<Ledger>,
    changes: watch::Sender<()>,
}

#[derive(Default)]
struct Ledger {
    /// Number of the next reservation. Numbers are never used again.
    next: u64,
    taken: BTreeMap<u64, Request>,
    waiting: VecDeque<(u64, Request)>,
}

impl Capacity {
    /// Creates the capacity of a machine with this memory, in bytes, and this number of CPUs.
    pub(crate) fn new(memory: u64, cpus: u64) -> Self {
        let usable = memory.saturating_sub((memory / 10).max(MIN_RESERVE));
        let size = Request { memory: usable / MIB * MIB, cpu_millis: cpus * MILLIS };
        let shared = Shared { size, ledger: Mutex::default(), changes: watch::Sender::default() };
        Self(Arc::new(shared))
    }

    /// Returns the memory and CPU for all workshops together.
    pub(crate) fn size(&self) -> Request {
        self.0.size
    }

    /// True if a workshop with this request fits when no other workshop runs.
    pub(crate) fn can_ever_fit(&self, request: Request) -> bool {
        request.fits(self.size())
    }

    /// Reserves the request, or enters the queue at its end. It waits unless the queue is empty and the request fits. Call
    /// [`Capacity::can_ever_fit`] first: a request that never fits would block the queue forever.
    pub(crate) fn enter(&self, request: Request) -> Reservation {
        self.reserve(|ledger, number| ledger.waiting.push_back((number, request)))
    }

    /// Reserves the request of a workshop that runs already, even if the machine is smaller than before.
    pub(crate) fn adopt(&self, request: Request) -> Reservation {
        self.reserve(|ledger, number| {
            ledger.taken.insert(number, request);
        })
    }

    fn reserve(&self, add: impl FnOnce(&mut Ledger, u64)) -> Reservation {
        let mut ledger = lock(&self.0.ledger);
        let number = ledger.next;
        ledger.next += 1;
        add(&mut ledger, number);
        ledger.fill(self.0.size);
        Reservation { number, shared: Arc::clone(&self.0) }
    }
}

impl Reservation {
    /// Returns the position in the queue, which begins at 1; `None` if the memory and CPU are reserved.
    pub(crate) fn position(&self) -> Option<u32> {
        let ledger = lock(&self.shared.ledger);
        let index = ledger.waiting.iter().position(|(number, _)| *number == self.number)?;
        Some(u32::try_from(index + 1).unwrap_or(u32::MAX))
    }

    /// Returns a receiver that is notified whenever the position may have changed.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.shared.changes.subscribe()
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut ledger = lock(&self.shared.ledger);
        ledger.taken.remove(&self.number);
        ledger.waiting.retain(|(number, _)| *number != self.number);
        ledger.fill(self.shared.size);
        drop(ledger);
        self.shared.changes.send_replace(());
    }
}

impl Ledger {
    /// Gives memory and CPU to the first workshops of the queue, as long as they fit. A workshop that fits does not overtake one
    /// that does not: otherwise small workshops could let a large one wait forever.
    fn fill(&mut self, size: Request) {
        let mut used = self.taken.values().fold(Request::default(), |sum, request| sum.plus(*request));
        while let Some((number, request)) = self.waiting.front().copied() {
            used = used.plus(request);
            if !used.fits(size) {
                return;
            }
            self.waiting.pop_front();
            self.taken.insert(number, request);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::{Capacity, MIB, Request};

    const GIB: u64 = 1024 * MIB;

    fn request(memory: u64, cpu_millis: u64) -> Request {
        Request { memory, cpu_millis }
    }

    #[test]
    fn tenth_of_memory_stays_free_and_at_least_512_mib() {
        assert_eq!(Capacity::new(20 * GIB, 4).size(), request(18 * GIB, 4000));
        assert_eq!(Capacity::new(GIB, 1).size(), request(512 * MIB, 1000));
    }

    #[test]
    fn workshop_waits_until_memory_is_free() {
        let capacity = Capacity::new(4 * GIB, 2);
        let first = capacity.enter(request(3 * GIB, 100));
        let second = capacity.enter(request(GIB, 100));
        assert_eq!((first.position(), second.position()), (None, Some(1)));
        let mut changes = second.changes();

        drop(first);

        assert!(changes.changed().now_or_never().is_some());
        assert_eq!(second.position(), None);
    }

    #[test]
    fn small_workshop_does_not_overtake_large_one() {
        let capacity = Capacity::new(4 * GIB, 2);
        let first = capacity.enter(request(3 * GIB, 100));
        let large = capacity.enter(request(2 * GIB, 100));
        let small = capacity.enter(request(MIB, 100));
        assert_eq!((large.position(), small.position()), (Some(1), Some(2)));

        drop(first);

        assert_eq!((large.position(), small.position()), (None, None));
    }

    #[test]
    fn workshop_that_leaves_the_queue_lets_the_next_one_pass() {
        let capacity = Capacity::new(4 * GIB, 2);
        let _first = capacity.enter(request(3 * GIB, 100));
        let large = capacity.enter(request(2 * GIB, 100));
        let small = capacity.enter(request(MIB, 100));

        drop(large);

        assert_eq!(small.position(), None);
    }

    #[test]
    fn request_above_size_never_fits() {
        let capacity = Capacity::new(4 * GIB, 2);
        assert!(capacity.can_ever_fit(capacity.size()));
        assert!(!capacity.can_ever_fit(request(4 * GIB, 100)));
        assert!(!capacity.can_ever_fit(request(GIB, 2001)));
    }

    #[test]
    fn adopted_workshop_is_not_queued_on_full_machine() {
        let capacity = Capacity::new(4 * GIB, 2);
        let large = capacity.adopt(request(8 * GIB, 4000));
        let small = capacity.adopt(request(GIB, 100));
        let next = capacity.enter(request(MIB, 1));
        assert_eq!((large.position(), small.position(), next.position()), (None, None, Some(1)));

        drop(large);

        assert_eq!(next.position(), None);
    }
}
