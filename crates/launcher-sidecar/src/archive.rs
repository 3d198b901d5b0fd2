//! `launcher-sidecar archive`: sends the files of a volume to the launcher, as a tar archive.
//!
//! The operator runs this mode in a pod that mounts the volume. For a download, the program ends after one archive, or if
//! no client asks for it in time. For a snapshot, it runs beside an app until a signal ends it: it must never make the pod
//! of the app unready. The requests are `GET /ready` for the kubelet, and `GET /archive` with the token.

mod files;
mod http;

use std::convert::Infallible;
use std::io::{self, Read as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::Builder;
use std::time::Duration;

use launcher_domain::TokenDigest;
use launcher_process::listener::{ListenOptions, Listener, Stream};
use launcher_process::stop::Stop;
use launcher_process::telemetry::LogSettings;

use http::{Chunked, HEAD_TIMEOUT, Request, answer, begin_archive, end_archive, read_request};

pub use files::write_archive;

/// Maximum time without progress while the archive is sent. A client that reads more slowly loses the connection.
const STALL: Duration = Duration::from_secs(300);
/// The same limit for the snapshot of a running app. A snapshot must finish within a minute: if a launcher replica is
/// lost, another replica must get the archive within this minute.
const SNAPSHOT_STALL: Duration = Duration::from_secs(20);
/// Maximum connections at the same time. Further ones are closed: only the launcher and the kubelet connect.
const CONNECTIONS: usize = 8;
/// Stack of a connection's thread, in bytes. It needs less than 100 KiB, for every depth of the directories.
const STACK: usize = 512 * 1024;
/// Pause after a failed attempt to listen beside an app, which may use the port.
const LISTEN_PAUSE: Duration = Duration::from_secs(1);

/// Progress of the download, from its connection's thread.
enum Progress {
    Began,
    Ended(io::Result<()>),
}

/// The archive of this process, which one client at a time can take.
struct Offer {
    directory: Box<Path>,
    token: TokenDigest,
    is_taken: AtomicBool,
    /// `None` if each request gets the archive.
    progress: Option<SyncSender<Progress>>,
}

impl Offer {
    fn new(settings: &ArchiveSettings, progress: Option<SyncSender<Progress>>) -> Arc<Self> {
        let directory = settings.directory.as_path().into();
        Arc::new(Self { directory, token: settings.token_sha256, is_taken: AtomicBool::new(false), progress })
    }
}

/// Sends one archive, and returns when it is complete; or sends archives until a stop signal.
///
/// # Errors
/// Returns one line with the reason why the client has no complete archive.
pub async fn serve_archive(settings: &ArchiveSettings) -> Result<(), String> {
    if let Some(wait) = settings.wait() {
        return serve_once(settings, wait).await;
    }
    // Without a handler, the first process of a container ignores SIGTERM, and delays the end of its pod.
    let stop = Stop::on_signals().map_err(not_accepting)?;
    tokio::select! {
        () = stop.requested() => Ok(()),
        never = serve_each(settings) => match never {},
    }
}

async fn serve_once(settings: &ArchiveSettings, wait: Duration) -> Result<(), String> {
    let listener = open(settings).map_err(not_accepting)?;
    // Two: the beginning and the end of the only download.
    let (progress, events) = sync_channel(2);
    let offer = Offer::new(settings, Some(progress));
    let ended = tokio::task::spawn_blocking(move || wait_for_end(&events, wait));
    tokio::select! {
        ended = ended => ended.unwrap_or_else(|error| Err(not_accepting(error.into()))),
        never = accept(&listener, &offer) => match never {},
    }
}

fn not_accepting(error: io::Error) -> String {
    format!("connections cannot be accepted: {error}")
}

/// Sends the archive for each request. A port in use must not end the program.
async fn serve_each(settings: &ArchiveSettings) -> Infallible {
    loop {
        match open(settings) {
            Ok(listener) => return accept(&listener, &Offer::new(settings, None)).await,
            Err(error) => tracing::warn!(%error, listen = %settings.listen_addr, "listening failed, retrying"),
        }
        tokio::time::sleep(LISTEN_PAUSE).await;
    }
}

fn open(settings: &ArchiveSettings) -> io::Result<Listener> {
    let listener = Listener::bind(&settings.listen_addr.into(), &ListenOptions::default())?;
    tracing::info!(listen = %settings.listen_addr, "waiting for the launcher");
    Ok(listener)
}

fn wait_for_end(events: &Receiver<Progress>, wait: Duration) -> Result<(), String> {
    let outcome = match events.recv_timeout(wait) {
        Ok(Progress::Ended(outcome)) => outcome,
        Ok(Progress::Began) => match events.recv() {
            Ok(Progress::Ended(outcome)) => outcome,
            Ok(Progress::Began) | Err(_) => Err(io::ErrorKind::BrokenPipe.into()),
        },
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
            return Err(format!("no client asked for the archive within {} s", wait.as_secs()));
        }
    };
    outcome.map_err(|error| format!("sending the archive failed: {error}"))
}

/// Accepts connections, and serves each in a thread: reading files blocks. An error does not end the running download.
async fn accept(listener: &Listener, offer: &Arc<Offer>) -> Infallible {
    loop {
        let (Stream::Tcp(stream), _) = listener.accept_next("a connection").await else { continue };
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
    stream.set_read_timeout(Some(HEAD_TIMEOUT))?;
    let stall = if offer.progress.is_some() { STALL } else { SNAPSHOT_STALL };
    stream.set_write_timeout(Some(stall))?;
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
            let sent = send_files(&offer.directory, stream);
            if offer.progress.is_none() {
                // Before the end of the archive: its client may ask again at once.
                offer.is_taken.store(false, Ordering::Release);
                return end_archive(sent?);
            }
            let sent = sent.and_then(end_archive).and_then(|()| wait_for_close(stream));
            send_progress(offer, Progress::Ended(sent));
            Ok(())
        }
        Request::Unknown => answer(stream, "404 Not Found", "unknown path\n"),
    }
}

/// The channel has room for both events. It is closed only when the process ends.
fn send_progress(offer: &Offer, progress: Progress) {
    drop(offer.progress.as_ref().map(|channel| channel.try_send(progress)));
}

/// Sends the archive in chunks, except for the last chunk. Without it, the client knows that the archive is incomplete.
fn send_files<'a>(directory: &Path, stream: &'a TcpStream) -> io::Result<Chunked<'a>> {
    let mut body = begin_archive(stream)?;
    write_archive(directory, &mut body)?;
    Ok(body)
}

/// Waits until the client has closed the connection, which means that it has received all bytes. The end of the process
/// removes the network of its pod, and bytes that the kernel has not sent yet would be lost.
fn wait_for_close(mut stream: &TcpStream) -> io::Result<()> {
    stream.shutdown(Shutdown::Write)?;
    stream.set_read_timeout(Some(STALL))?;
    match stream.read(&mut [0]) {
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => Err(error),
        // Closed, or closed with unread bytes: these follow the end of the archive.
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Sends the files of a directory as a tar archive to the client that knows the token: once, or until a signal ends the
/// program. Exits with 0 when the one archive is complete, and with 1 if it is not, or if no client asked for it in time
#[derive(Debug, Clone, clap::Parser)]
#[command(name = "launcher-sidecar archive", version)]
pub struct ArchiveSettings {
    /// Listen address: IP:PORT
    #[arg(long, env = "SERVICE_LISTEN_ADDR", value_name = "ADDR", default_value = "0.0.0.0:8080")]
    pub listen_addr: SocketAddr,

    /// Directory with the files
    #[arg(long, env = "SERVICE_ARCHIVE_DIRECTORY", value_name = "DIRECTORY")]
    pub directory: PathBuf,

    /// SHA-256 of the token, in hexadecimal
    #[arg(long, env = "SERVICE_ARCHIVE_TOKEN_SHA256", value_name = "DIGEST")]
    pub token_sha256: TokenDigest,

    /// Maximum seconds until a client asks for the archive. 0: no maximum, and each request gets the archive
    #[arg(long, env = "SERVICE_ARCHIVE_WAIT", value_name = "SECONDS", default_value = "60",
          value_parser = clap::value_parser!(u32).range(..=3600))]
    wait: u32,

    /// Log settings
    #[command(flatten)]
    pub logs: LogSettings,
}

impl ArchiveSettings {
    /// Returns the maximum time until a client asks for the only archive. `None`: each request gets the archive.
    #[must_use]
    pub fn wait(&self) -> Option<Duration> {
        (self.wait > 0).then(|| Duration::from_secs(self.wait.into()))
    }
}
