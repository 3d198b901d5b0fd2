//! A registry in the test's process: the part of the API that a pull needs.

use std::io::Write;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::header::{CONTENT_TYPE, HeaderName};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::support::archive::Archive;

const MANIFEST: &str = "application/vnd.docker.distribution.manifest.v2+json";
const DIGEST: HeaderName = HeaderName::from_static("docker-content-digest");

/// A registry with the image `app:latest` of two layers. Each other tag of `app` is unknown. The image `private` needs
/// a login.
pub(crate) struct Registry {
    address: String,
    server: JoinHandle<()>,
}

impl Registry {
    pub(crate) async fn new() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let routes = Router::new()
            .route("/v2/", get(async || Json(json!({}))))
            .route("/v2/{name}/manifests/{reference}", get(manifest))
            .route("/v2/{name}/blobs/{digest}", get(blob))
            .with_state(Arc::new(Image::new()));
        let server = tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        Self { address, server }
    }

    /// Returns the reference of an image.
    pub(crate) fn image(&self, name: &str) -> String {
        format!("{}/{name}", self.address)
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        self.server.abort();
    }
}

struct Image {
    manifest: Vec<u8>,
    blobs: Vec<(String, Vec<u8>)>,
}

impl Image {
    fn new() -> Self {
        let layers: Vec<(String, Vec<u8>)> =
            [(1_u32, 300_000), (2, 3_000_000)].map(|(seed, size)| layer(seed, size)).into();
        let architecture = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };
        let diffs: Vec<&String> = layers.iter().map(|(diff, _)| diff).collect();
        let config = json!({
            "architecture": architecture, "os": "linux", "config": {"Cmd": ["/nothing"]},
            "rootfs": {"type": "layers", "diff_ids": diffs},
        });
        let config = config.to_string().into_bytes();
        let described = |kind: &str, blob: &[u8]| json!({"mediaType": format!("application/vnd.docker.{kind}"), "size": blob.len(), "digest": digest(blob)});
        let layers: Vec<Vec<u8>> = layers.into_iter().map(|(_, packed)| packed).collect();
        let entries: Vec<Value> = layers.iter().map(|layer| described("image.rootfs.diff.tar.gzip", layer)).collect();
        let manifest = json!({
            "schemaVersion": 2, "mediaType": MANIFEST,
            "config": described("container.image.v1+json", &config), "layers": entries,
        });
        let blobs = layers.into_iter().chain([config]).map(|blob| (digest(&blob), blob)).collect();
        Self { manifest: manifest.to_string().into_bytes(), blobs }
    }
}

/// Returns a layer with one file that cannot be compressed: the digest of the archive, and the compressed archive.
fn layer(seed: u32, size: usize) -> (String, Vec<u8>) {
    let mut state = seed;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state.to_le_bytes()[1]
    })
    .take(size)
    .collect();
    let mut archive = Archive::default();
    archive.file(&format!("noise{seed}"), 0o644, &noise);
    let archive = archive.finish();
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&archive).unwrap();
    (digest(&archive), packed.finish().unwrap())
}

fn digest(bytes: &[u8]) -> String {
    let hex: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

async fn manifest(State(image): State<Arc<Image>>, Path((name, reference)): Path<(String, String)>) -> Response {
    if name == "private" {
        return refused(StatusCode::UNAUTHORIZED, "UNAUTHORIZED", "authentication required");
    }
    let own = digest(&image.manifest);
    if name != "app" || (reference != "latest" && reference != own) {
        return refused(StatusCode::NOT_FOUND, "MANIFEST_UNKNOWN", "manifest unknown");
    }
    ([(CONTENT_TYPE, MANIFEST.to_owned()), (DIGEST, own)], image.manifest.clone()).into_response()
}

async fn blob(State(image): State<Arc<Image>>, Path((_, wanted)): Path<(String, String)>, _: Method) -> Response {
    match image.blobs.iter().find(|(digest, _)| *digest == wanted) {
        Some((digest, blob)) => ([(DIGEST, digest.clone())], blob.clone()).into_response(),
        None => refused(StatusCode::NOT_FOUND, "BLOB_UNKNOWN", "blob unknown"),
    }
}

fn refused(status: StatusCode, code: &str, message: &str) -> Response {
    (status, Json(json!({"errors": [{"code": code, "message": message}]}))).into_response()
}
