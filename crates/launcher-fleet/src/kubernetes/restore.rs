//! Saved files of an earlier Workshop: an init container of the new pod waits for them, and this module sends them.
//!
//! The launcher connects to the pod, as for a snapshot. The pod could also ask the launcher. It would then need a way to the
//! launcher through the network policies, a Secret with a token, and a route of the launcher's API for programs. This way needs
//! no new permission.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use launcher_domain::ArchiveToken;
use launcher_domain::clock::{SystemEntropy, random_hex};
use launcher_domain::transfer::{Frame, FrameKind, MAX_FAILURE_BYTES, PLACED, PROOF_BYTES};
use launcher_workshop::WorkshopRestore;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use super::archives::{CONNECT, STALL, connect};
use super::fleet::KubernetesFleet;
use crate::port::{Fleet, FleetError};
use crate::restore::{PATIENCE, RestoreError, open, wait_to_retry};

/// Delay before the next attempt to reach the pod.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// Sends the files, or the reason why they cannot be read, until the Workshop no longer waits. The operator limits the time.
pub(super) async fn send_saved_files(fleet: &KubernetesFleet, workshop: &str, token: &ArchiveToken) {
    let (mut attempt, mut failure): (u32, Option<String>) = (0, None);
    while let Some(waiting) = until_known(fleet, workshop, token).await {
        let sent = match &failure {
            Some(reason) => send_failure(waiting.address, token, reason).await,
            None => {
                let sent = timeout(PATIENCE, waiting.send(fleet, token)).await;
                sent.unwrap_or_else(|_| Err(SendError::Files(RestoreError::late())))
            }
        };
        match sent {
            Ok(()) => {
                if failure.is_none() {
                    tracing::info!(workshop, snapshot = waiting.restore.snapshot, "placed saved files");
                }
                return;
            }
            Err(SendError::Pod(error)) => {
                tracing::debug!(workshop, address = %waiting.address, %error, "sending saved files failed, retrying");
                sleep(RETRY_DELAY).await;
            }
            Err(SendError::Files(error)) => {
                attempt += 1;
                failure = wait_to_retry(workshop, error, attempt).await.err().map(|error| error.to_string());
            }
        }
    }
}

struct Waiting {
    address: SocketAddr,
    restore: WorkshopRestore,
}

#[derive(Debug, thiserror::Error)]
enum SendError {
    /// The pod is not reachable, or is not the one of the Workshop.
    #[error("the pod: {0}")]
    Pod(#[from] io::Error),
    #[error(transparent)]
    Files(#[from] RestoreError),
}

/// Returns the Workshop if it waits for its files. Asks again while the fleet is unavailable.
async fn until_known(fleet: &KubernetesFleet, workshop: &str, token: &ArchiveToken) -> Option<Waiting> {
    loop {
        let found = match fleet.get(workshop).await {
            Ok(found) => found?,
            Err(FleetError::Refused(_)) => return None,
            Err(FleetError::Unavailable(_)) => {
                sleep(RETRY_DELAY).await;
                continue;
            }
        };
        let is_deleted = found.metadata.deletion_timestamp.is_some();
        let digest = found.spec.snapshot.as_ref().map(|snapshot| snapshot.token_sha256.as_str());
        if is_deleted || digest != Some(token.digest().to_string().as_str()) {
            return None;
        }
        return Some(Waiting { address: found.status?.restore_address?, restore: found.spec.restore? });
    }
}

impl Waiting {
    /// Sends the files. They are opened first: a few workshops at a time get files, and the pod serves one connection.
    async fn send(&self, fleet: &KubernetesFleet, token: &ArchiveToken) -> Result<(), SendError> {
        let mut files = open(fleet.saved_files.as_ref(), &self.restore).await?;
        let mut stream = introduce(self.address, token).await?;
        while let Some(bytes) = files.next().await {
            let bytes: Bytes = bytes.map_err(RestoreError::from)?;
            send_frame(&mut stream, FrameKind::Files, &bytes).await?;
        }
        send_frame(&mut stream, FrameKind::End, &[]).await?;
        let mut answer = PLACED.map(|_| 0);
        timeout(STALL, stream.read_exact(&mut answer)).await.map_err(io::Error::from)??;
        if answer == PLACED { Ok(()) } else { Err(io::Error::from(io::ErrorKind::InvalidData).into()) }
    }
}

/// Tells the pod why the files cannot be read. The Workshop then fails.
async fn send_failure(address: SocketAddr, token: &ArchiveToken, reason: &str) -> Result<(), SendError> {
    let mut stream = introduce(address, token).await?;
    let text = reason.get(..reason.floor_char_boundary(MAX_FAILURE_BYTES as usize)).unwrap_or_default();
    send_frame(&mut stream, FrameKind::Failure, text.as_bytes()).await?;
    Ok(stream.shutdown().await?)
}

/// Connects to the pod, checks that it knows the digest of the token, and sends the token.
async fn introduce(address: SocketAddr, token: &ArchiveToken) -> io::Result<TcpStream> {
    let exchange_proofs = async {
        let challenge = random_hex::<{ PROOF_BYTES / 2 }>(&SystemEntropy);
        let mut stream = connect(address).await?;
        stream.write_all(challenge.as_bytes()).await?;
        let mut answer = [0; PROOF_BYTES];
        stream.read_exact(&mut answer).await?;
        if answer != token.digest().answer(challenge.as_bytes()).as_bytes() {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is not the pod of this Workshop"));
        }
        stream.write_all(token.reveal().as_bytes()).await?;
        Ok(stream)
    };
    timeout(CONNECT, exchange_proofs).await?
}

async fn send_frame(stream: &mut TcpStream, kind: FrameKind, content: &[u8]) -> io::Result<()> {
    let length = u32::try_from(content.len()).map_err(io::Error::other)?;
    let sent = async {
        stream.write_all(&Frame { kind, length }.head()).await?;
        stream.write_all(content).await
    };
    timeout(STALL, sent).await?
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex};

    use async_trait::async_trait;
    use futures_util::stream;
    use http::{Request, Response};
    use kube::Client;
    use kube::client::Body;
    use launcher_domain::TokenDigest;
    use launcher_domain::transfer::HEAD_BYTES;
    use serde_json::{Value, json};
    use tokio::net::TcpListener;
    use tower::service_fn;

    use super::*;
    use crate::byte_stream::ByteStream;
    use crate::port::{Archives, SavedFiles, SavedFilesError};

    const SNAPSHOT: &str = "00000000-0000-4000-8000-000000000001";

    /// The current Workshop of an API server; `None` if it does not exist.
    type Current = Arc<Mutex<Option<Value>>>;

    /// Saved files of two parts. The first archives end with an error after the first part.
    #[derive(Debug)]
    struct Saved {
        broken: usize,
        opened: Arc<AtomicUsize>,
        is_missing: bool,
    }

    #[async_trait]
    impl SavedFiles for Saved {
        async fn open(&self, snapshot: &str) -> Result<ByteStream, SavedFilesError> {
            assert_eq!(snapshot, SNAPSHOT);
            let is_broken = self.opened.fetch_add(1, Ordering::SeqCst) < self.broken;
            if self.is_missing {
                return Err(SavedFilesError::Missing);
            }
            let second = if is_broken { Err(io::Error::other("the store is gone")) } else { Ok("two".into()) };
            Ok(stream::iter([Ok("one".into()), second]).boxed())
        }
    }

    fn token() -> ArchiveToken {
        serde_json::from_value(json!("5".repeat(64))).unwrap()
    }

    fn workshop(digest: &str) -> Value {
        let resources = json!({ "cpuRequest": "1", "cpuLimit": "1", "memoryRequest": "1Gi", "memoryLimit": "1Gi" });
        json!({
            "apiVersion": "workshoplauncher.dev/v1alpha1", "kind": "Workshop",
            "metadata": { "name": "lab-a", "namespace": "workshops", "uid": "a" },
            "spec": {
                "owner": "alice@example.org", "image": "app:1", "appType": "custom", "port": 8888,
                "resources": resources, "securityProfile": "restricted", "lifetimeSeconds": 3600,
                "crashSafeDirectory": "/home/jovyan",
                "snapshot": { "tokenSha256": digest, "graceSeconds": 90 }, "restore": { "snapshot": SNAPSHOT },
            },
        })
    }

    /// A fleet with a Workshop that waits at this address.
    fn fleet(address: SocketAddr, saved: Saved) -> (KubernetesFleet, Current) {
        fleet_after(0, address, saved)
    }

    /// The same fleet, whose API server does not answer the first requests.
    fn fleet_after(outages: usize, address: SocketAddr, saved: Saved) -> (KubernetesFleet, Current) {
        let mut waiting = workshop(&token().digest().to_string());
        waiting["status"] = json!({ "phase": "Starting", "restoreAddress": address.to_string() });
        let current: Current = Arc::new(Mutex::new(Some(waiting)));
        let (known, requests) = (current.clone(), AtomicUsize::new(0));
        let service = service_fn(move |_: Request<Body>| {
            let failure = |code: u16, reason: &str| {
                (code, json!({ "kind": "Status", "apiVersion": "v1", "code": code, "message": "no", "reason": reason }))
            };
            let (code, answer) = if requests.fetch_add(1, Ordering::SeqCst) < outages {
                failure(503, "ServiceUnavailable")
            } else {
                known.lock().unwrap().clone().map_or_else(|| failure(404, "NotFound"), |found| (200, found))
            };
            let answer = Body::from(answer.to_string().into_bytes());
            async move { Ok::<_, Infallible>(Response::builder().status(code).body(answer).unwrap()) }
        });
        let fleet = KubernetesFleet::new(Client::new(service, "workshops"), "workshops");
        (fleet.with_saved_files(Some(Arc::new(saved))), current)
    }

    fn saved(broken: usize) -> Saved {
        Saved { broken, opened: Arc::default(), is_missing: false }
    }

    /// Result of one connection, as the pod sees it.
    #[derive(Debug, PartialEq)]
    enum Received {
        Files(String),
        Failure(String),
        /// The connection ended before the archive.
        Broken(String),
        /// The launcher left without its token.
        Refused,
    }

    /// Serves one connection as the pod with this digest.
    async fn receive(listener: &TcpListener, digest: TokenDigest) -> Received {
        receive_and_answer(listener, digest, &PLACED).await
    }

    /// Serves one connection as the pod with this digest, which sends this answer to a complete archive.
    async fn receive_and_answer(listener: &TcpListener, digest: TokenDigest, answer: &[u8]) -> Received {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut challenge = [0; PROOF_BYTES];
        stream.read_exact(&mut challenge).await.unwrap();
        stream.write_all(digest.answer(&challenge).as_bytes()).await.unwrap();
        let mut sent = [0; PROOF_BYTES];
        if stream.read_exact(&mut sent).await.is_err() {
            return Received::Refused;
        }
        assert!(digest.accepts(&sent));
        let mut files = String::new();
        loop {
            let mut head = [0; HEAD_BYTES];
            if stream.read_exact(&mut head).await.is_err() {
                return Received::Broken(files);
            }
            let frame = Frame::parse(head).unwrap();
            let mut content = vec![0; frame.length as usize];
            stream.read_exact(&mut content).await.unwrap();
            let text = String::from_utf8(content).unwrap();
            match frame.kind {
                FrameKind::Files => files.push_str(&text),
                FrameKind::Failure => return Received::Failure(text),
                FrameKind::End => {
                    stream.write_all(answer).await.unwrap();
                    return Received::Files(files);
                }
            }
        }
    }

    async fn listener() -> (TcpListener, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        (listener, address)
    }

    #[tokio::test]
    async fn pod_gets_the_files_from_the_beginning_after_an_error_of_the_store() {
        let (listener, address) = listener().await;
        let (fleet, _) = fleet(address, saved(1));
        let (sending, digest) = (token(), token().digest());
        let pod = async { [receive(&listener, digest).await, receive(&listener, digest).await] };
        let ((), received) = tokio::join!(fleet.send_saved_files("lab-a", &sending), pod);
        assert_eq!(received, [Received::Broken("one".to_owned()), Received::Files("onetwo".to_owned())]);
    }

    #[tokio::test]
    async fn files_are_sent_again_until_the_pod_has_placed_them() {
        let other = PLACED.map(|byte| !byte);
        for answer in [b"".as_slice(), &other] {
            let (listener, address) = listener().await;
            let (fleet, _) = fleet(address, saved(0));
            let (sending, digest) = (token(), token().digest());
            let pod = async { [receive_and_answer(&listener, digest, answer).await, receive(&listener, digest).await] };
            let sent = || Received::Files("onetwo".to_owned());
            tokio::select! {
                biased;
                received = pod => assert_eq!(received, [sent(), sent()]),
                () = fleet.send_saved_files("lab-a", &sending) => panic!("the pod has not placed the files"),
            }
        }
    }

    #[tokio::test]
    async fn files_are_sent_after_an_outage_of_the_api_server() {
        let (listener, address) = listener().await;
        let (fleet, _) = fleet_after(1, address, saved(0));
        let (sending, digest) = (token(), token().digest());
        tokio::select! {
            biased;
            received = receive(&listener, digest) => assert_eq!(received, Received::Files("onetwo".to_owned())),
            () = fleet.send_saved_files("lab-a", &sending) => panic!("the Workshop waits"),
        }
    }

    #[tokio::test]
    async fn pod_learns_that_the_files_are_gone() {
        let (listener, address) = listener().await;
        let (fleet, _) = fleet(address, Saved { is_missing: true, ..saved(0) });
        let (sending, digest) = (token(), token().digest());
        let ((), received) = tokio::join!(fleet.send_saved_files("lab-a", &sending), receive(&listener, digest));
        assert_eq!(received, Received::Failure("the saved files no longer exist".to_owned()));
    }

    #[tokio::test]
    async fn pod_of_another_workshop_gets_neither_token_nor_files() {
        let (listener, address) = listener().await;
        let (fleet, current) = fleet(address, saved(0));
        let other = "0".repeat(64).parse().unwrap();
        let pod = async {
            let received = receive(&listener, other).await;
            // The operator learns that the pod is gone.
            current.lock().unwrap().as_mut().unwrap()["status"]["restoreAddress"].take();
            received
        };
        let sending = token();
        let ((), received) = tokio::join!(fleet.send_saved_files("lab-a", &sending), pod);
        assert_eq!(received, Received::Refused);
    }

    #[tokio::test]
    async fn workshop_that_does_not_wait_gets_nothing() {
        let (listener, address) = listener().await;
        let (fleet, current) = fleet(address, saved(0));
        let waiting = current.lock().unwrap().clone();
        let changes: [fn(&mut Value); 3] = [
            |workshop| workshop["status"]["restoreAddress"] = Value::Null,
            |workshop| workshop["metadata"]["deletionTimestamp"] = "2026-01-01T12:00:00Z".into(),
            |workshop| workshop["spec"]["snapshot"]["tokenSha256"] = "0".repeat(64).into(),
        ];
        let changed = changes.map(|change| {
            let mut workshop = waiting.clone().unwrap();
            change(&mut workshop);
            workshop
        });
        for workshop in changed.into_iter().map(Some).chain([None]) {
            current.lock().unwrap().clone_from(&workshop);
            let sending = token();
            tokio::select! {
                () = fleet.send_saved_files("lab-a", &sending) => {}
                _ = listener.accept() => panic!("{workshop:?} does not wait"),
            }
        }
    }

    #[tokio::test]
    async fn only_a_crash_safe_directory_can_get_saved_files() {
        let (_, address) = listener().await;
        let (fleet, _) = fleet(address, saved(0));
        let mut spec = fleet.get("lab-a").await.unwrap().unwrap().spec;
        assert!(fleet.can_restore(&spec));
        spec.crash_safe_directory = None;
        assert!(!fleet.can_restore(&spec));
    }
}
