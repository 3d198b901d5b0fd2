//! Archives of volumes and of apps: a container of the operator reads the files, and this module receives them.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream::{empty, try_unfold};
use futures_util::{StreamExt, TryFutureExt, TryStreamExt};
use http::header::{AUTHORIZATION, HOST};
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use kube::api::{DeleteParams, PostParams, Preconditions};
use kube::{Api, ResourceExt};
use launcher_domain::ArchiveToken;
use launcher_domain::clock::{SystemEntropy, random_hex};
use launcher_workshop::{WorkshopDownload, WorkshopDownloadSpec, WorkshopSpec};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{sleep, timeout};

use super::error::{status_code, to_fleet_error};
use super::fleet::KubernetesFleet;
use super::restore;
use crate::byte_stream::ByteStream;
use crate::port::{Archives, Fleet, FleetError, ReadError, check_readable, missing};

/// Maximum time until the pod has sent the head of its response.
pub(super) const CONNECT: Duration = Duration::from_secs(10);
/// Maximum time without a byte of the archive. Compression and the user's connection do not count.
pub(super) const STALL: Duration = Duration::from_secs(60);
/// Maximum buffer of the HTTP client, and receive buffer of the socket in the kernel, in bytes. Together they are smaller
/// than [`crate::STREAM_BYTES`].
const BUFFER: usize = 64 * 1024;

#[async_trait]
impl Archives for KubernetesFleet {
    /// The pod can read only this volume. It ends after this download, also if the launcher is killed.
    async fn read(&self, volume: &str) -> Result<ByteStream, ReadError> {
        if self.claim(volume).await?.is_none() {
            return Ok(empty().boxed());
        }
        let token = ArchiveToken::random(&SystemEntropy);
        let download = Download::create(self, volume, &token).await?;
        let address = download.until_ready().await?;
        open(address, &token, Some(download)).await
    }

    /// The crash-safe directory is a volume of the pod. Other files of the app exist only in its container.
    fn can_read_app(&self, spec: &WorkshopSpec) -> bool {
        spec.storage.is_none() && spec.crash_safe_directory.is_some()
    }

    /// The files need the crash-safe directory, too.
    fn can_restore(&self, spec: &WorkshopSpec) -> bool {
        self.saved_files.is_some() && self.can_read_app(spec)
    }

    async fn send_saved_files(&self, workshop: &str, token: &ArchiveToken) {
        restore::send_saved_files(self, workshop, token).await;
    }

    /// A container of the app's pod reads the directory.
    async fn read_app(&self, workshop: &str, token: &ArchiveToken) -> Result<ByteStream, ReadError> {
        let found = self.get(workshop).await?.ok_or_else(|| missing(workshop))?;
        check_readable(&found)?;
        let Some(address) = found.status.and_then(|status| status.archive_address) else {
            return Err(ReadError::NotReady(format!("the operator reports no address for the files of {workshop}")));
        };
        open(address, token, None).await
    }
}

async fn open(address: SocketAddr, token: &ArchiveToken, download: Option<Download>) -> Result<ByteStream, ReadError> {
    let body = timeout(CONNECT, request(address, token)).await.unwrap_or_else(|elapsed| Err(elapsed.into()));
    let body = body.map_err(|error| ReadError::NotReady(format!("the pod at {address} does not answer: {error}")))?;
    // The stream has the download, which is deleted when the stream is dropped.
    // An error is the last item: hyper reports a body without its last chunk as an error.
    let chunks = try_unfold((body.into_data_stream(), download), |(mut body, download)| async move {
        let next = timeout(STALL, body.try_next()).await?.map_err(io::Error::other)?;
        Ok(next.map(|chunk| (chunk, (body, download))))
    });
    Ok(chunks.boxed())
}

async fn request(address: SocketAddr, token: &ArchiveToken) -> io::Result<Incoming> {
    let stream = TokioIo::new(connect(address).await?);
    let (mut sender, connection) =
        http1::Builder::new().max_buf_size(BUFFER).handshake(stream).await.map_err(io::Error::other)?;
    tokio::spawn(connection.map_err(|error| tracing::debug!(%error, "connection to a pod that sends files failed")));
    let bearer = format!("Bearer {}", token.reveal());
    let request = Request::get("/archive").header(HOST, address.to_string()).header(AUTHORIZATION, bearer);
    let request = request.body(Empty::<Bytes>::new()).map_err(io::Error::other)?;
    let response = sender.send_request(request).await.map_err(io::Error::other)?;
    match response.status() {
        StatusCode::OK => Ok(response.into_body()),
        status => Err(io::Error::other(format!("it answered {status}"))),
    }
}

pub(super) async fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_recv_buffer_size(u32::try_from(BUFFER).unwrap_or(u32::MAX))?;
    socket.connect(address).await
}

/// Maximum time until the pod is ready.
const READY: Duration = Duration::from_secs(30);
/// Interval of checks for the pod. The launcher has no permission to watch these resources.
const POLL: Duration = Duration::from_millis(300);
const NAME_BYTES: usize = 4;

/// A created resource. Its drop deletes it, and so its pod. If the launcher is killed, the operator deletes it.
struct Download {
    api: Api<WorkshopDownload>,
    name: String,
    uid: Option<String>,
}

impl Download {
    async fn create(fleet: &KubernetesFleet, volume: &str, token: &ArchiveToken) -> Result<Self, FleetError> {
        let api: Api<WorkshopDownload> = Api::namespaced(fleet.client.clone(), &fleet.namespace);
        let token_sha256 = token.digest().to_string();
        let spec = WorkshopDownloadSpec { volume: volume.to_owned(), token_sha256 };
        let name = format!("{volume}-{}", random_hex::<NAME_BYTES>(&SystemEntropy));
        let mut wanted = WorkshopDownload::new(&name, spec);
        wanted.metadata.labels = Some(launcher_workshop::download_labels());
        // The guard exists before the request: the resource may exist although the answer was lost.
        let mut download = Self { api, name: wanted.name_any(), uid: None };
        let created = download.api.create(&PostParams::default(), &wanted).await;
        download.uid = created.map_err(to_fleet_error)?.uid();
        Ok(download)
    }

    async fn until_ready(&self) -> Result<SocketAddr, ReadError> {
        let mut message = "the operator has not answered".to_owned();
        let ready = timeout(READY, self.poll(&mut message)).await;
        ready.unwrap_or(Err(ReadError::NotReady(message)))
    }

    async fn poll(&self, message: &mut String) -> Result<SocketAddr, ReadError> {
        loop {
            let Some(found) = self.api.get_opt(&self.name).await.map_err(to_fleet_error)? else {
                return Err(ReadError::NotReady(format!("the operator has given up: {message}")));
            };
            let status = found.status.unwrap_or_default();
            if let Some(address) = status.address {
                return Ok(address);
            }
            *message = status.message.unwrap_or_else(|| message.clone());
            sleep(POLL).await;
        }
    }
}

impl Drop for Download {
    fn drop(&mut self) {
        let (api, name) = (self.api.clone(), std::mem::take(&mut self.name));
        let exactly = Preconditions { uid: self.uid.take(), resource_version: None };
        tokio::spawn(async move {
            match api.delete(&name, &DeleteParams::background().preconditions(exactly)).await {
                Ok(_) => {}
                // The operator has deleted it.
                Err(error) if status_code(&error) == Some(404) => {}
                Err(error) => {
                    tracing::warn!(download = %name, %error, "deleting a download failed, the operator will delete it");
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::{Arc, Mutex};

    use http::{Method, Request, Response};
    use http_body_util::BodyExt;
    use kube::Client;
    use kube::client::Body;
    use serde_json::{Value, json};
    use sha2::{Digest, Sha256};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio::task::yield_now;
    use tower::service_fn;

    use super::*;
    use crate::port::FleetError;

    const VOLUME: &str = "work-abcdefghij";
    const CHUNK: &str = "5\r\nsaved\r\n";
    const END: &str = "0\r\n\r\n";

    /// Requests that an API server received: method, kind and body.
    type Calls = Arc<Mutex<Vec<(Method, String, Value)>>>;

    fn failure(code: u16) -> (u16, Value) {
        let reason = if code == 404 { "NotFound" } else { "Unknown" };
        (code, json!({ "kind": "Status", "apiVersion": "v1", "code": code, "message": "no", "reason": reason }))
    }

    fn claim(labels: Value) -> Value {
        json!({
            "apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata",
            "metadata": { "name": VOLUME, "uid": "claim", "labels": labels },
        })
    }

    fn ours() -> Option<Value> {
        Some(claim(json!({ "managed-by": "workshop-launcher" })))
    }

    /// A fleet whose API server has this claim, or none. Downloads have this status; `None`: the operator has deleted them.
    fn fleet(claim: Option<Value>, status: Option<Value>) -> (KubernetesFleet, Calls) {
        let calls = Calls::default();
        let recorded = calls.clone();
        let service = service_fn(move |request: Request<Body>| {
            let (recorded, claim, status) = (recorded.clone(), claim.clone(), status.clone());
            async move {
                let (head, body) = request.into_parts();
                let body: Value = serde_json::from_slice(&body.collect().await.unwrap().to_bytes()).unwrap_or_default();
                let kind =
                    head.uri.path().split('/').skip_while(|part| *part != "namespaces").nth(2).unwrap().to_owned();
                let posted =
                    recorded.lock().unwrap().iter().find(|call| call.0 == Method::POST).map(|call| call.2.clone());
                let (code, answer) = match (&head.method, kind.as_str(), claim, status) {
                    (&Method::GET, "persistentvolumeclaims", Some(claim), _) => (200, claim),
                    (&Method::POST, ..) => {
                        let mut created = body.clone();
                        created["metadata"]["uid"] = "download".into();
                        (201, created)
                    }
                    (&Method::GET, "workshopdownloads", _, Some(status)) => {
                        let mut found = posted.unwrap();
                        found["status"] = status;
                        (200, found)
                    }
                    (&Method::DELETE, ..) => {
                        (200, json!({ "kind": "Status", "apiVersion": "v1", "status": "Success" }))
                    }
                    _ => failure(404),
                };
                recorded.lock().unwrap().push((head.method, kind, body));
                let answer = Body::from(answer.to_string().into_bytes());
                Ok::<_, Infallible>(Response::builder().status(code).body(answer).unwrap())
            }
        });
        (KubernetesFleet::new(Client::new(service, "workshops"), "workshops"), calls)
    }

    /// A pod that answers one request with this status line and body, and then closes the connection. Returns its address and
    /// the head of the request.
    async fn pod(status: &'static str, body: String) -> (SocketAddr, tokio::task::JoinHandle<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let served = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            let answer = format!("HTTP/1.1 {status}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n{body}");
            stream.write_all(answer.as_bytes()).await.unwrap();
            String::from_utf8(head).unwrap()
        });
        (address, served)
    }

    async fn ready_fleet(
        status: &'static str,
        body: String,
    ) -> (KubernetesFleet, Calls, tokio::task::JoinHandle<String>) {
        let (address, served) = pod(status, body).await;
        let (fleet, calls) = fleet(ours(), Some(json!({ "address": address.to_string() })));
        (fleet, calls, served)
    }

    fn bodies(calls: &Calls, method: &Method) -> Vec<Value> {
        calls.lock().unwrap().iter().filter(|call| call.0 == *method).map(|call| call.2.clone()).collect()
    }

    /// Waits until the download was deleted, by its uid.
    async fn until_deleted(calls: &Calls) {
        let deletion = async {
            while bodies(calls, &Method::DELETE).is_empty() {
                yield_now().await;
            }
        };
        timeout(Duration::from_secs(120), deletion).await.unwrap();
        assert_eq!(bodies(calls, &Method::DELETE)[0]["preconditions"]["uid"], "download");
    }

    async fn refused(fleet: &KubernetesFleet) -> ReadError {
        fleet.read(VOLUME).await.err().unwrap()
    }

    #[tokio::test]
    async fn archive_comes_from_the_pod_and_the_download_is_then_deleted() {
        let (fleet, calls, served) = ready_fleet("200 OK", CHUNK.repeat(3) + END).await;
        let chunks: Vec<_> = fleet.read(VOLUME).await.unwrap().try_collect().await.unwrap();
        assert_eq!(chunks.concat(), b"savedsavedsaved");
        until_deleted(&calls).await;
        let created = bodies(&calls, &Method::POST);
        assert_eq!((created.len(), &created[0]["spec"]["volume"]), (1, &json!(VOLUME)));
        assert_eq!(created[0]["metadata"]["labels"]["app"], "workshop-download");
        assert!(created[0]["metadata"]["name"].as_str().unwrap().starts_with("work-abcdefghij-"));

        let head = served.await.unwrap();
        let token = head.lines().find_map(|line| line.strip_prefix("authorization: Bearer ")).unwrap();
        let digest: String = Sha256::digest(token).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(created[0]["spec"]["tokenSha256"], digest);
        assert!(head.starts_with("GET /archive HTTP/1.1\r\n") && token.len() == 64, "{head}");
        assert!(!created[0].to_string().contains(token), "the resource reveals the token");
    }

    #[tokio::test]
    async fn tokens_and_names_of_two_downloads_differ() {
        let specs = async || {
            let (fleet, calls, _) = ready_fleet("200 OK", END.to_owned()).await;
            drop(fleet.read(VOLUME).await.unwrap());
            let created = bodies(&calls, &Method::POST).remove(0);
            (created["metadata"]["name"].clone(), created["spec"]["tokenSha256"].clone())
        };
        let (first, second) = (specs().await, specs().await);
        assert!(first.0 != second.0 && first.1 != second.1, "{first:?} {second:?}");
    }

    #[tokio::test]
    async fn archive_without_its_end_is_an_error() {
        let (fleet, calls, _) = ready_fleet("200 OK", CHUNK.to_owned()).await;
        let mut stream = fleet.read(VOLUME).await.unwrap();
        assert_eq!(stream.try_next().await.unwrap().unwrap(), "saved");
        assert!(stream.try_next().await.is_err());
        assert!(stream.try_next().await.unwrap().is_none());
        until_deleted(&calls).await;
    }

    #[tokio::test]
    async fn download_of_a_user_who_leaves_is_deleted() {
        let (fleet, calls, _) = ready_fleet("200 OK", CHUNK.to_owned()).await;
        drop(fleet.read(VOLUME).await.unwrap());
        until_deleted(&calls).await;
    }

    #[tokio::test]
    async fn refusal_of_the_pod_is_not_ready() {
        let (fleet, calls, _) = ready_fleet("409 Conflict", END.to_owned()).await;
        let error = refused(&fleet).await;
        assert!(matches!(&error, ReadError::NotReady(text) if text.contains("409")), "{error}");
        until_deleted(&calls).await;
    }

    #[tokio::test(start_paused = true)]
    async fn pod_that_is_not_ready_in_time_is_reported_with_the_reason() {
        for (status, expected) in
            [(json!({ "message": "no room" }), "no room"), (json!({}), "the operator has not answered")]
        {
            let (fleet, calls) = fleet(ours(), Some(status));
            let began = tokio::time::Instant::now();
            let error = refused(&fleet).await;
            assert!(matches!(&error, ReadError::NotReady(text) if text == expected), "{error}");
            assert_eq!(began.elapsed().as_secs(), 30);
            until_deleted(&calls).await;
        }
    }

    #[tokio::test]
    async fn download_that_the_operator_has_ended_is_not_ready() {
        let (fleet, _) = fleet(ours(), None);
        let error = refused(&fleet).await;
        assert!(matches!(&error, ReadError::NotReady(text) if text.contains("given up")), "{error}");
    }

    #[tokio::test]
    async fn archive_of_a_missing_volume_is_empty() {
        let (fleet, calls) = fleet(None, None);
        let chunks: Vec<_> = fleet.read(VOLUME).await.unwrap().try_collect().await.unwrap();
        assert!(chunks.is_empty() && bodies(&calls, &Method::POST).is_empty());
    }

    #[tokio::test]
    async fn foreign_claim_and_invalid_name_are_refused() {
        let (foreign, calls) = fleet(Some(claim(json!({ "managed-by": "Helm" }))), None);
        for name in [VOLUME, "database", "../work"] {
            let error = foreign.read(name).await.err().unwrap();
            assert!(matches!(error, ReadError::Fleet(FleetError::Refused(_))), "{error}");
        }
        assert!(bodies(&calls, &Method::POST).is_empty());
    }

    /// A fleet whose API server has the Workshop `lab-a` with this status and these changes of its spec, and no other one.
    fn fleet_with_workshop(status: &Value, changes: &Value) -> KubernetesFleet {
        let resources = json!({ "cpuRequest": "1", "cpuLimit": "1", "memoryRequest": "1Gi", "memoryLimit": "1Gi" });
        let mut spec = json!({
            "owner": "alice@example.org", "image": "app:1", "appType": "custom", "port": 8888, "resources": resources,
            "securityProfile": "restricted", "lifetimeSeconds": 3600, "crashSafeDirectory": "/home/jovyan",
            "snapshot": { "tokenSha256": "0".repeat(64), "graceSeconds": 90 },
        });
        spec.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        let workshop = json!({
            "apiVersion": "workshoplauncher.dev/v1alpha1", "kind": "Workshop",
            "metadata": { "name": "lab-a", "namespace": "workshops", "uid": "workshop" }, "spec": spec, "status": status,
        });
        let service = service_fn(move |request: Request<Body>| {
            let is_known = request.uri().path().ends_with("/namespaces/workshops/workshops/lab-a");
            let (code, answer) = if is_known { (200, workshop.clone()) } else { failure(404) };
            let answer = Body::from(answer.to_string().into_bytes());
            async move { Ok::<_, Infallible>(Response::builder().status(code).body(answer).unwrap()) }
        });
        KubernetesFleet::new(Client::new(service, "workshops"), "workshops")
    }

    #[tokio::test]
    async fn files_of_an_app_come_from_its_pod_with_the_token_of_the_workshop() {
        let (address, served) = pod("200 OK", CHUNK.repeat(2) + END).await;
        let status = json!({ "phase": "Running", "archiveAddress": address.to_string() });
        let fleet = fleet_with_workshop(&status, &json!({}));
        let token = ArchiveToken::random(&SystemEntropy);
        let chunks: Vec<_> = fleet.read_app("lab-a", &token).await.unwrap().try_collect().await.unwrap();
        assert_eq!(chunks.concat(), b"savedsaved");
        let head = served.await.unwrap();
        assert!(head.starts_with("GET /archive HTTP/1.1\r\n"), "{head}");
        assert!(head.contains(&format!("authorization: Bearer {}\r\n", token.reveal())), "{head}");
    }

    #[tokio::test]
    async fn files_of_an_app_without_its_pod_are_not_ready() {
        let (closed, _) = pod("401 Unauthorized", END.to_owned()).await;
        let with_address = json!({ "phase": "Running", "archiveAddress": closed.to_string() });
        for (status, expected) in [(json!({ "phase": "Starting" }), "no address"), (with_address, "401")] {
            let fleet = fleet_with_workshop(&status, &json!({}));
            let error = fleet.read_app("lab-a", &ArchiveToken::random(&SystemEntropy)).await.err().unwrap();
            assert!(matches!(&error, ReadError::NotReady(text) if text.contains(expected)), "{error}");
        }
    }

    #[tokio::test]
    async fn files_of_unknown_and_ended_workshops_are_refused() {
        let cases = [
            ("lab-b", "Running", json!({}), "no Workshop has the name"),
            ("lab-a", "Expired", json!({}), "it has ended"),
            ("lab-a", "Running", json!({ "snapshot": null }), "its spec has no snapshot"),
        ];
        for (name, phase, changes, expected) in cases {
            let fleet = fleet_with_workshop(&json!({ "phase": phase }), &changes);
            let error = fleet.read_app(name, &ArchiveToken::random(&SystemEntropy)).await.err().unwrap();
            let is_expected = |text: &str| text.contains(expected);
            assert!(matches!(&error, ReadError::Fleet(FleetError::Refused(text)) if is_expected(text)), "{error}");
        }
    }

    #[tokio::test]
    async fn only_files_of_a_crash_safe_directory_can_be_read() {
        let can_read = async |changes: Value| {
            let fleet = fleet_with_workshop(&json!({}), &changes);
            let spec = fleet.get("lab-a").await.unwrap().unwrap().spec;
            fleet.can_read_app(&spec)
        };
        assert!(can_read(json!({})).await);
        assert!(!can_read(json!({ "crashSafeDirectory": null })).await);
        let storage = json!({ "storage": { "volume": VOLUME, "size": "1Gi", "path": "/home/jovyan" } });
        assert!(!can_read(storage).await, "the files are kept");
    }
}
