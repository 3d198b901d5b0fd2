//! Room on this machine: memory and CPU that the apps request. A workshop that does not fit waits for its turn.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use launcher_domain::sync::lock;
use tokio::sync::watch;

/// Memory of the machine that stays free for the launcher, the engine and the system: a tenth, at least this many bytes.
const MIN_RESERVE: u64 = 512 * MIB;
const MIB: u64 = 1024 * 1024;
/// CPU is counted in thousandths.
const MILLIS: u64 = 1000;

/// Resources that a workshop requests: those of the app, as in the template, and those of its sidecar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Request {
    /// Memory in bytes.
    pub(crate) memory: u64,
    /// CPU in thousandths.
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

/// The room of a machine. Workshops get room in the order in which they entered.
#[derive(Debug)]
pub(crate) struct Room {
    size: Request,
    places: Arc<Places>,
}

/// The place of one workshop: room, or a position in the queue. Dropping it frees the room, or leaves the queue.
#[derive(Debug)]
pub(crate) struct Place {
    number: u64,
    places: Arc<Places>,
}

#[derive(Debug)]
struct Places {
    size: Request,
    seats: Mutex<Seats>,
    /// Notifies of each change of the seats.
    changes: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct Seats {
    /// Number of the next place. Numbers are never used again.
    next: u64,
    taken: BTreeMap<u64, Request>,
    waiting: VecDeque<(u64, Request)>,
}

impl Room {
    /// Creates the room of a machine with this memory, in bytes, and this number of CPUs.
    pub(crate) fn new(memory: u64, cpus: u64) -> Self {
        let usable = memory.saturating_sub((memory / 10).max(MIN_RESERVE));
        let size = Request { memory: usable / MIB * MIB, cpu_millis: cpus * MILLIS };
        let places = Places { size, seats: Mutex::default(), changes: watch::Sender::default() };
        Self { size, places: Arc::new(places) }
    }

    /// Returns the room of all workshops together.
    pub(crate) fn size(&self) -> Request {
        self.size
    }

    /// True if a workshop with this request fits when no other workshop runs.
    pub(crate) fn can_ever_fit(&self, request: Request) -> bool {
        request.fits(self.size)
    }

    /// Returns a place at the end of the queue. It has room at once if the queue is empty and the request fits. Call
    /// [`Room::can_ever_fit`] first: a request that never fits would block the queue forever.
    pub(crate) fn enter(&self, request: Request) -> Place {
        self.place(|seats, number| seats.waiting.push_back((number, request)))
    }

    /// Returns the place of a workshop that runs already. It has room, even if the machine has less room than before.
    pub(crate) fn adopt(&self, request: Request) -> Place {
        self.place(|seats, number| {
            seats.taken.insert(number, request);
        })
    }

    fn place(&self, add: impl FnOnce(&mut Seats, u64)) -> Place {
        let mut seats = lock(&self.places.seats);
        let number = seats.next;
        seats.next += 1;
        add(&mut seats, number);
        seats.fill(self.size);
        Place { number, places: Arc::clone(&self.places) }
    }
}

impl Place {
    /// Returns the position in the queue, which begins at 1; `None` if the workshop has room.
    pub(crate) fn position(&self) -> Option<u32> {
        let seats = lock(&self.places.seats);
        let index = seats.waiting.iter().position(|(number, _)| *number == self.number)?;
        Some(u32::try_from(index + 1).unwrap_or(u32::MAX))
    }

    /// Returns a receiver that is notified whenever the position may have changed.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.places.changes.subscribe()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut seats = lock(&self.places.seats);
        seats.taken.remove(&self.number);
        seats.waiting.retain(|(number, _)| *number != self.number);
        seats.fill(self.places.size);
        drop(seats);
        self.places.changes.send_replace(());
    }
}

impl Seats {
    /// Gives room to the first workshops of the queue, as long as they fit. A workshop that fits does not overtake one
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

    use super::{MIB, Request, Room};

    const GIB: u64 = 1024 * MIB;

    fn request(memory: u64, cpu_millis: u64) -> Request {
        Request { memory, cpu_millis }
    }

    #[test]
    fn tenth_of_memory_stays_free_and_at_least_512_mib() {
        assert_eq!(Room::new(20 * GIB, 4).size(), request(18 * GIB, 4000));
        assert_eq!(Room::new(GIB, 1).size(), request(512 * MIB, 1000));
    }

    #[test]
    fn workshop_waits_until_room_is_free() {
        let room = Room::new(4 * GIB, 2);
        let first = room.enter(request(3 * GIB, 100));
        let second = room.enter(request(GIB, 100));
        assert_eq!((first.position(), second.position()), (None, Some(1)));
        let mut changes = second.changes();

        drop(first);

        assert!(changes.changed().now_or_never().is_some());
        assert_eq!(second.position(), None);
    }

    #[test]
    fn small_workshop_does_not_overtake_large_one() {
        let room = Room::new(4 * GIB, 2);
        let first = room.enter(request(3 * GIB, 100));
        let large = room.enter(request(2 * GIB, 100));
        let small = room.enter(request(MIB, 100));
        assert_eq!((large.position(), small.position()), (Some(1), Some(2)));

        drop(first);

        assert_eq!((large.position(), small.position()), (None, None));
    }

    #[test]
    fn workshop_that_leaves_the_queue_lets_the_next_one_pass() {
        let room = Room::new(4 * GIB, 2);
        let _first = room.enter(request(3 * GIB, 100));
        let large = room.enter(request(2 * GIB, 100));
        let small = room.enter(request(MIB, 100));

        drop(large);

        assert_eq!(small.position(), None);
    }

    #[test]
    fn request_above_size_never_fits() {
        let room = Room::new(4 * GIB, 2);
        assert!(room.can_ever_fit(room.size()));
        assert!(!room.can_ever_fit(request(4 * GIB, 100)));
        assert!(!room.can_ever_fit(request(GIB, 2001)));
    }

    #[test]
    fn adopted_workshop_has_room_on_full_machine() {
        let room = Room::new(4 * GIB, 2);
        let large = room.adopt(request(8 * GIB, 4000));
        let small = room.adopt(request(GIB, 100));
        let next = room.enter(request(MIB, 1));
        assert_eq!((large.position(), small.position(), next.position()), (None, None, Some(1)));

        drop(large);

        assert_eq!(next.position(), None);
    }
}
