//! The listener for the workshop's requests, its accept loop and its connection limit. When few slots are free, a new
//! connection displaces the connection with the lowest priority. Otherwise clients that keep many connections open could lock
//! out the owner.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use launcher_domain::sync::lock;
use launcher_process::listener::{Address, ListenOptions, Listener};
use launcher_process::stop::Stop;
use socket2::TcpKeepalive;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::memory::{BACKLOG, FULL, MAX_CONNECTIONS};
use crate::progress::Progress;
use crate::sidecar::Sidecar;
use crate::transport::{BufferPermits, Direction, Socket};

/// Idle time before the kernel probes a connection (TCP keepalive). The probes detect clients that vanish without a
/// close, as after a power failure.
const KEEPALIVE: Duration = Duration::from_secs(60);

/// Listens for the workshop's requests. An unspecified IP address means all IPv4 and IPv6 addresses. TCP connections
/// inherit the socket options from the listener, which saves four system calls per connection.
///
/// # Errors
/// Fails if the address is in use, does not belong to this host, or is not permitted.
pub fn listen(address: &Address) -> io::Result<Listener> {
    let options = ListenOptions {
        backlog: Some(BACKLOG),
        receive_buffer: Some(FULL.receive),
        send_buffer: Some(FULL.send),
        nodelay: true,
        keepalive: Some(TcpKeepalive::new().with_time(KEEPALIVE).with_interval(KEEPALIVE / 4)),
    };
    Listener::bind(address, &options)
}

/// Accepts and serves connections until a stop is requested. The stop waits for the task of each connection.
///
/// The number of connections is limited, because untrusted code in the app can connect too: it must not make the
/// sidecar exceed its memory limit. At the connection limit, a new connection displaces another one.
pub async fn serve(listener: &Listener, sidecar: Sidecar, stop: Stop) {
    let (slots, buffers) = (ConnectionSlots::new(), BufferPermits::default());
    loop {
        let accepted = async {
            let permit = slots.reserve().await;
            (listener.accept_next("client connection").await, permit)
        };
        let ((stream, peer), permit) = tokio::select! {
            accepted = accepted => accepted,
            () = stop.requested() => return,
        };
        let Some(permit) = permit else { return };
        let (served, stopped) = (sidecar.clone(), stop.clone());
        let socket = Socket::new(stream, buffers.take());
        if !socket.has_full_buffers() {
            socket.narrow(Direction::Receive);
            socket.narrow(Direction::Send);
        }
        slots.spawn(permit, &stop, |progress| async move {
            served.serve_io(socket, peer, progress, &stopped).await;
        });
        sidecar.state.metrics.displaced.inc_by(slots.displace_connections(Instant::now()));
    }
}

/// Accepts new connections and closes them at once. Never returns. The address stays bound until the process exits:
/// otherwise an app that keeps running after the stop signal could listen on this address and receive the owner's
/// requests.
pub async fn reject_connections(listener: &Listener) {
    loop {
        listener.accept_next("client connection").await;
    }
}

/// Minimum number of free slots. Below this number, the sidecar displaces connections in advance, so that the next
/// accept does not wait for a slot.
const MIN_FREE: usize = 6;
/// Number of free slots after displacement. It exceeds [`MIN_FREE`], because many connections may arrive at once.
const TARGET_FREE: usize = 16;
/// Maximum number of connections without an admitted request while other connections are displaced first. Above this
/// number, the oldest of these connections is displaced first. The limit is not zero, because the owner's first request
/// may still be on its way on one of them.
const MAX_UNAUTHORIZED: usize = 32;

#[derive(Debug)]
struct ConnectionSlots {
    free: Arc<Semaphore>,
    occupied: Mutex<Vec<Arc<Slot>>>,
}

/// An occupied slot.
#[derive(Debug)]
struct Slot {
    progress: Arc<Progress>,
    task: OnceLock<AbortHandle>,
    /// True once the connection is selected for displacement. Its task may not have ended yet.
    is_displaced: AtomicBool,
}

/// Guard of an occupied slot. Dropping it frees the slot.
#[derive(Debug)]
struct SlotGuard {
    slots: Arc<ConnectionSlots>,
    slot: Arc<Slot>,
    _permit: OwnedSemaphorePermit,
}

impl ConnectionSlots {
    fn new() -> Arc<Self> {
        Arc::new(Self { free: Arc::new(Semaphore::new(MAX_CONNECTIONS)), occupied: Mutex::default() })
    }

    /// Waits for a free slot and reserves it for the next connection.
    async fn reserve(&self) -> Option<OwnedSemaphorePermit> {
        self.free.clone().acquire_owned().await.ok()
    }

    /// Spawns a task that serves a connection in a slot. Displacement aborts the task. `stop` waits for the task.
    fn spawn<F>(self: &Arc<Self>, permit: OwnedSemaphorePermit, stop: &Stop, serve: impl FnOnce(Arc<Progress>) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let progress = Arc::new(Progress::new());
        let slot =
            Arc::new(Slot { progress: progress.clone(), task: OnceLock::new(), is_displaced: AtomicBool::new(false) });
        lock(&self.occupied).push(slot.clone());
        let guard = SlotGuard { slots: self.clone(), slot: slot.clone(), _permit: permit };
        // Box the future. Otherwise each async block around it would store the connection's whole state twice.
        let serving = Box::pin(serve(progress));
        let task = stop.track(async move {
            serving.await;
            drop(guard);
        });
        drop(slot.task.set(task.abort_handle()));
    }

    /// Displaces connections until enough slots are free. Returns the number of displaced connections. A slot becomes
    /// free when the runtime drops its aborted task.
    fn displace_connections(&self, now: Instant) -> u64 {
        let free = self.free.available_permits();
        if free >= MIN_FREE {
            return 0;
        }
        let occupied = lock(&self.occupied);
        let (displaced, mut staying): (Vec<_>, Vec<_>) = occupied.iter().partition(|slot| slot.is_displaced());
        let mut count = 0;
        if free + displaced.len() >= MIN_FREE {
            return 0;
        }
        for _ in free + displaced.len()..TARGET_FREE {
            let Some(index) = select_displaced(&staying, now) else { break };
            staying.swap_remove(index).displace();
            count += 1;
        }
        count
    }
}

impl Slot {
    fn is_displaced(&self) -> bool {
        self.is_displaced.load(Ordering::Relaxed)
    }

    fn displace(&self) {
        self.is_displaced.store(true, Ordering::Relaxed);
        if let Some(task) = self.task.get() {
            task.abort();
        }
    }
}

impl Drop for SlotGuard {
    fn drop(&mut self) {
        let mut occupied = lock(&self.slots.occupied);
        if let Some(index) = occupied.iter().position(|slot| Arc::ptr_eq(slot, &self.slot)) {
            occupied.swap_remove(index);
        }
    }
}

/// Returns the index of the connection to displace next. If more than `MAX_UNAUTHORIZED` connections have no admitted
/// request, this is the oldest of them. Otherwise it is the connection with the lowest priority.
fn select_displaced(staying: &[&Arc<Slot>], now: Instant) -> Option<usize> {
    let unauthorized = || staying.iter().enumerate().filter(|(_, slot)| slot.progress.is_unauthorized());
    let oldest = || unauthorized().min_by_key(|(_, slot)| slot.progress.opened()).map(|(index, _)| index);
    if unauthorized().count() > MAX_UNAUTHORIZED {
        return oldest();
    }
    let authorized = staying.iter().enumerate().filter(|(_, slot)| !slot.progress.is_unauthorized());
    let priorities = authorized.map(|(index, slot)| (index, slot.progress.priority(now)));
    priorities.min_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(index, _)| index).or_else(oldest)
}
