//! `launcher-sidecar archive`: sends the files of a volume to the launcher, once, as a tar archive.
//!
//! The operator runs this mode in a pod that mounts the volume. The program ends after one archive, or if no client asks
//! for it in time. The requests are `GET /ready` for the kubelet, and `GET /archive` with the token of this download.

mod files;
mod request;
mod response;
mod settings;
mod unreadable;

use std::convert::Infallible;
use std::io::{self, Read as _};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::Builder;
use std::time::Duration;

use launcher_process::address::Address;
use launcher_process::listen::ListenOptions;
use launcher_process::listener::Listener;
use tokio::net::TcpListener;

pub use files::write_archive;
use request::{Request, read_request};
use response::{Chunked, answer};
pub use settings::{ArchiveSettings, TokenDigest};

/// Maximum time without progress while the archive is sent. A client that reads more slowly loses the connection.
const STALL: Duration = Duration::from_secs(300);
/// Maximum time of a request's head.
const HEAD: Duration = Duration::from_secs(5);
/// Maximum connections at the same time. Further ones are closed: only the launcher and the kubelet connect.
const CONNECTIONS: usize = 8;
/// Stack of a connection's thread, in bytes. It needs less than 100 KiB, for every depth of the directories.
const STACK: usize = 512 * 1024;
/// Pause after a failed accept. Without it, the loop would spin while the process has no free file descriptor.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Reason why no complete archive was sent.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// No client asked for the archive in time.
    #[error("no client asked for the archive within {} s", .0.as_secs())]
    NotRequested(Duration),
    /// The connection broke, or the client did not read.
    #[error("sending the archive failed: {0}")]
    Interrupted(io::Error),
    /// The listener could not be opened, or the waiting thread failed.
    #[error("connections cannot be accepted: {0}")]
    Listener(io::Error),
}

/// Progress of the download, from its connection's thread.
enum Progress {
    Began,
    Ended(io::Result<()>),
}

/// The one archive of this process.
struct Offer {
    directory: Box<Path>,
    token: TokenDigest,
    is_taken: AtomicBool,
    progress: SyncSender<Progress>,
}

/// Sends one archive, and returns when it is complete.
///
/// # Errors
/// [`ArchiveError`]: the client has no complete archive.
pub async fn serve_archive(settings: &ArchiveSettings) -> Result<(), ArchiveError> {
    let listener = Listener::bind(&Address::Tcp(settings.listen_addr), &ListenOptions::default());
    let Listener::Tcp(listener) = listener.map_err(ArchiveError::Listener)? else {
        return Err(ArchiveError::Listener(io::ErrorKind::Unsupported.into()));
    };
    tracing::info!(listen = %settings.listen_addr, "waiting for the launcher");
    // Two: the beginning and the end of the only download.
    let (progress, events) = sync_channel(2);
    let offer = Arc::new(Offer {
        directory: settings.directory.as_path().into(),
        token: settings.token_sha256,
        is_taken: AtomicBool::new(false),
        progress,
    });
    let wait = settings.wait();
    let ended = tokio::task::spawn_blocking(move || wait_for_end(&events, wait));
    tokio::select! {
        ended = ended => ended.unwrap_or_else(|error| Err(ArchiveError::Listener(error.into()))),
        never = accept(&listener, &offer) => match never {},
    }
}

fn wait_for_end(events: &Receiver<Progress>, wait: Duration) -> Result<(), ArchiveError> {
    match events.recv_timeout(wait) {
        Ok(Progress::Began) => {}
        Ok(Progress::Ended(outcome)) => return outcome.map_err(ArchiveError::Interrupted),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
            return Err(ArchiveError::NotRequested(wait));
        }
    }
    match events.recv() {
        Ok(Progress::Ended(outcome)) => outcome.map_err(ArchiveError::Interrupted),
        Ok(Progress::Began) | Err(_) => Err(ArchiveError::Interrupted(io::ErrorKind::BrokenPipe.into())),
    }
}

/// Accepts connections, and serves each in a thread: reading files blocks. An error does not end the running download.
async fn accept(listener: &TcpListener, offer: &Arc<Offer>) -> Infallible {
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "accepting a connection failed, retrying");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        // The offer itself, and one reference for each connection.
        if Arc::strong_count(offer) > CONNECTIONS {
            continue;
        }
        let offer = Arc::clone(offer);
        let serve = move || {
            if let Err(error) = stream.into_std().and_then(|stream| serve_connection(&offer, &stream)) {
                tracing::debug!(%error, "connection failed");
            }
        };
        if let Err(error) = Builder::new().stack_size(STACK).spawn(serve) {
            tracing::warn!(%error, "starting a thread failed, closing the connection");
        }
    }
}

fn serve_connection(offer: &Offer, stream: &TcpStream) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(HEAD))?;
    stream.set_write_timeout(Some(STALL))?;
    match read_request(stream)? {
        Request::Ready => answer(stream, "200 OK", "ready\n"),
        Request::Archive { token } if !offer.token.accepts(&token) => {
            tracing::warn!("refusing a request with a wrong token");
            answer(stream, "401 Unauthorized", "wrong token\n")
        }
        Request::Archive { .. } if offer.is_taken.swap(true, Ordering::AcqRel) => {
            answer(stream, "409 Conflict", "the archive was already requested\n")
        }
        Request::Archive { .. } => {
            send_progress(offer, Progress::Began);
            let sent = send_archive(&offer.directory, stream);
            send_progress(offer, Progress::Ended(sent));
            Ok(())
        }
        Request::Unknown => answer(stream, "404 Not Found", "unknown path\n"),
    }
}

/// The channel has room for both events. It is closed only when the process ends.
fn send_progress(offer: &Offer, progress: Progress) {
    drop(offer.progress.try_send(progress));
}

/// Sends the archive in chunks. Without the last chunk, the client knows that the archive is incomplete.
fn send_archive(directory: &Path, stream: &TcpStream) -> io::Result<()> {
    let mut chunked = Chunked::begin(stream, "application/x-tar")?;
    write_archive(directory, &mut chunked)?;
    chunked.end()?;
    wait_for_close(stream)
}

/// Waits until the client has closed the connection, so has received all. The end of the process ends the network of its pod,
/// and with it the bytes that the kernel has not sent yet.
fn wait_for_close(mut stream: &TcpStream) -> io::Result<()> {
    stream.shutdown(Shutdown::Write)?;
    stream.set_read_timeout(Some(STALL))?;
    match stream.read(&mut [0]) {
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => Err(error),
        // Closed, or closed with unread bytes: these follow the end of the archive.
        Ok(_) | Err(_) => Ok(()),
    }
}
