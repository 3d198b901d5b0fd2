//! Room on this machine: memory and CPU that the apps request. A workshop that does not fit waits for its turn.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Memory of the machine that stays free for the launcher, the engine and the system: a tenth, at least this many bytes.
const MIN_RESERVE: u64 = 512 * MIB;
const MIB: u64 = 1024 * 1024;
/// CPU is counted in thousandths.
const MILLIS: u64 = 1000;

/// Resources that an app requests, as in the template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Request {
    /// Memory in bytes.
    pub(crate) memory: u64,
    /// CPU in thousandths.
    pub(crate) cpu_millis: u64,
}

/// The room of a machine. Workshops get room in the order of their requests.
#[derive(Debug)]
pub(crate) struct Room {
    /// One permit for each MiB.
    memory: Arc<Semaphore>,
    /// One permit for each thousandth of a CPU.
    cpu: Arc<Semaphore>,
    size: Request,
}

/// The room of one workshop. Dropping it frees the room.
#[derive(Debug)]
pub(crate) struct Place {
    _memory: Option<OwnedSemaphorePermit>,
    _cpu: Option<OwnedSemaphorePermit>,
}

impl Room {
    /// Creates the room of a machine with this memory, in bytes, and this number of CPUs.
    pub(crate) fn new(memory: u64, cpus: u64) -> Self {
        let usable = memory.saturating_sub((memory / 10).max(MIN_RESERVE));
        let size = Request { memory: usable / MIB * MIB, cpu_millis: cpus * MILLIS };
        let semaphore = |permits: u64| {
            let permits = usize::try_from(permits).unwrap_or(Semaphore::MAX_PERMITS);
            Arc::new(Semaphore::new(permits.min(Semaphore::MAX_PERMITS)))
        };
        Self { memory: semaphore(size.memory / MIB), cpu: semaphore(size.cpu_millis), size }
    }

    /// Returns the room of all workshops together.
    pub(crate) fn size(&self) -> Request {
        self.size
    }

    /// True if a workshop with this request fits when no other workshop runs.
    pub(crate) fn can_ever_fit(&self, request: Request) -> bool {
        request.memory <= self.size.memory && request.cpu_millis <= self.size.cpu_millis
    }

    /// Returns a place if there is room now and no other workshop waits.
    pub(crate) fn try_take(&self, request: Request) -> Option<Place> {
        let (memory, cpu) = permits(request);
        let memory = Arc::clone(&self.memory).try_acquire_many_owned(memory).ok()?;
        let cpu = Arc::clone(&self.cpu).try_acquire_many_owned(cpu).ok()?;
        Some(Place { _memory: Some(memory), _cpu: Some(cpu) })
    }

    /// Waits for a place. The caller must check [`Room::can_ever_fit`] first; otherwise it waits forever.
    pub(crate) async fn take(&self, request: Request) -> Place {
        let (memory, cpu) = permits(request);
        // All workshops take memory before CPU, so two workshops never wait for each other.
        let memory = Arc::clone(&self.memory).acquire_many_owned(memory).await.ok();
        let cpu = Arc::clone(&self.cpu).acquire_many_owned(cpu).await.ok();
        Place { _memory: memory, _cpu: cpu }
    }

    /// Returns the place of a workshop that runs already. It never waits: if the machine has less room than before, the
    /// place is smaller than the request.
    pub(crate) fn adopt(&self, request: Request) -> Place {
        let (memory, cpu) = permits(request);
        Place { _memory: up_to(&self.memory, memory), _cpu: up_to(&self.cpu, cpu) }
    }
}

/// Takes `wanted` permits, or all that are left.
fn up_to(semaphore: &Arc<Semaphore>, wanted: u32) -> Option<OwnedSemaphorePermit> {
    let left = u32::try_from(semaphore.available_permits()).unwrap_or(u32::MAX);
    Arc::clone(semaphore).try_acquire_many_owned(wanted.min(left)).ok()
}

/// Returns the permits of a request: MiB, rounded up, and thousandths of a CPU.
fn permits(request: Request) -> (u32, u32) {
    let count = |amount: u64| u32::try_from(amount).unwrap_or(u32::MAX);
    (count(request.memory.div_ceil(MIB)), count(request.cpu_millis))
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
    fn workshop_waits_until_place_is_free() {
        let room = Room::new(4 * GIB, 2);
        let first = room.try_take(request(3 * GIB, 100)).unwrap();
        assert!(room.try_take(request(GIB, 100)).is_none());
        let mut waiting = Box::pin(room.take(request(GIB, 100)));
        assert!(waiting.as_mut().now_or_never().is_none());

        drop(first);

        assert!(waiting.now_or_never().is_some());
    }

    #[test]
    fn small_workshop_does_not_overtake_large_one() {
        let room = Room::new(4 * GIB, 2);
        let first = room.try_take(request(3 * GIB, 100)).unwrap();
        let mut large = Box::pin(room.take(request(2 * GIB, 100)));
        assert!(large.as_mut().now_or_never().is_none());

        assert!(room.try_take(request(MIB, 100)).is_none(), "the large workshop waits longer");
        drop(first);
        assert!(large.now_or_never().is_some());
    }

    #[test]
    fn request_above_size_never_fits() {
        let room = Room::new(4 * GIB, 2);
        assert!(room.can_ever_fit(room.size()));
        assert!(!room.can_ever_fit(request(4 * GIB, 100)));
        assert!(!room.can_ever_fit(request(GIB, 2001)));
    }

    #[test]
    fn adopted_workshop_gets_place_on_full_machine() {
        let room = Room::new(4 * GIB, 2);
        let _large = room.adopt(request(8 * GIB, 4000));
        let small = room.adopt(request(GIB, 100));
        assert!(room.try_take(request(MIB, 1)).is_none());
        drop(small);
    }
}
