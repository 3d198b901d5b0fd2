//! Archives in a folder, and in a bucket of a real S3 server that checks the signatures of all requests.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where by panicking")]

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use bytes::Bytes;
use futures_util::future::pending;
use futures_util::stream::{iter, once};
use futures_util::{StreamExt, TryStreamExt};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use launcher_snapshots::{ByteStream, Location, SaveError, SnapshotStore};
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use s3s_fs::FileSystem;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::oneshot::channel;
use uuid::Uuid;

const ID: Uuid = Uuid::from_u128(1);
const OTHER: Uuid = Uuid::from_u128(2);
const LIMIT: u64 = 64 << 20;

/// An archive of this size, in chunks of 64 KiB.
fn archive(byte: u8, size: usize) -> ByteStream {
    let chunks = vec![byte; size].chunks(64 * 1024).map(|chunk| Ok(Bytes::copy_from_slice(chunk))).collect::<Vec<_>>();
    iter(chunks).boxed()
}

async fn content(store: &SnapshotStore, id: Uuid) -> Vec<u8> {
    store.read(id).await.unwrap().try_collect::<Vec<_>>().await.unwrap().concat()
}

/// Saves, replaces, reads and deletes archives. Failed uploads change nothing.
async fn assert_conforms(store: &SnapshotStore) {
    assert!(store.read(ID).await.is_err());
    assert_eq!(store.save(ID, archive(1, 100), LIMIT).await.unwrap(), 100);
    // Three parts.
    assert_eq!(store.save(OTHER, archive(2, 11 << 20), LIMIT).await.unwrap(), 11 << 20);
    assert_eq!(content(store, ID).await, [1; 100]);
    assert_eq!(content(store, OTHER).await, vec![2; 11 << 20]);

    let broken = archive(3, 6 << 20).chain(iter([Err(io::Error::other("the app is gone"))])).boxed();
    assert!(matches!(store.save(ID, broken, LIMIT).await, Err(SaveError::Source(_))));
    let refused = store.save(ID, archive(3, 6 << 20), (6 << 20) - 1).await;
    assert!(matches!(refused, Err(SaveError::TooLarge { .. })));
    let (told, all_taken) = channel();
    let never = once(async {
        told.send(()).unwrap();
        pending().await
    });
    tokio::select! {
        _ = store.save(ID, archive(3, 6 << 20).chain(never).boxed(), LIMIT) => unreachable!("the archive has no end"),
        taken = all_taken => taken.unwrap(),
    }
    assert_eq!(content(store, ID).await, [1; 100], "the complete archive");

    assert_eq!(store.save(ID, archive(4, 0), LIMIT).await.unwrap(), 0);
    assert!(content(store, ID).await.is_empty());
    store.delete(ID).await.unwrap();
    store.delete(ID).await.unwrap();
    assert!(store.read(ID).await.is_err());
    assert_eq!(content(store, OTHER).await.len(), 11 << 20);
}

#[tokio::test]
async fn existing_open_folder_is_restricted_and_archives_are_private() {
    let parent = TempDir::new().unwrap();
    let folder = parent.path().join("snapshots");
    std::fs::create_dir(&folder).unwrap();
    std::fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
    let store = SnapshotStore::open(&Location::Folder(folder.clone())).unwrap();
    store.save(ID, archive(1, 100), LIMIT).await.unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    assert_eq!(mode(&folder.join(format!("{ID}.tar.gz"))), 0o600);
}

#[tokio::test]
async fn folder_has_complete_archives_only() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("new/snapshots");
    let store = SnapshotStore::open(&Location::Folder(path.clone())).unwrap();
    assert_conforms(&store).await;
    // A launcher that was killed during an upload leaves an unfinished file, which the next start deletes.
    let unfinished = path.join(format!("{ID}.tar.gz#1"));
    std::fs::write(&unfinished, "unfinished").unwrap();
    let store = SnapshotStore::open(&Location::Folder(path)).unwrap();
    assert!(!unfinished.exists() && content(&store, OTHER).await.len() == 11 << 20);
}

#[tokio::test]
async fn folder_that_cannot_be_created_is_named() {
    let error = SnapshotStore::open(&Location::Folder("/dev/null/snapshots".into())).unwrap_err();
    assert!(error.to_string().contains("/dev/null/snapshots"), "{error}");
}

/// Starts an S3 server with a bucket in this folder. Returns its address.
async fn server(folder: &Path, secret: &str) -> String {
    std::fs::create_dir(folder.join("work")).unwrap();
    let mut builder = S3ServiceBuilder::new(FileSystem::new(folder).unwrap());
    builder.set_auth(SimpleAuth::from_single("launcher", secret.to_owned()));
    let service = builder.build();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let service = service.clone();
            tokio::spawn(async move {
                Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await
            });
        }
    });
    format!("http://{address}")
}

/// Opens a bucket with these variables of the environment.
fn open(bucket: &str, endpoint: &str, secret: &str) -> SnapshotStore {
    let variables = [
        ("AWS_ACCESS_KEY_ID", "launcher"),
        ("AWS_SECRET_ACCESS_KEY", secret),
        ("AWS_REGION", "us-east-1"),
        ("AWS_ENDPOINT", endpoint),
        ("AWS_ALLOW_HTTP", "true"),
    ];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    SnapshotStore::open_with(&Location::parse(bucket).unwrap(), variables).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn bucket_has_complete_archives_only() {
    let folder = TempDir::new().unwrap();
    let endpoint = server(folder.path(), "secret").await;
    assert_conforms(&open("s3://work", &endpoint, "secret")).await;
    let below = open("s3://work/class/2026/", &endpoint, "secret");
    below.save(ID, archive(5, 10), LIMIT).await.unwrap();
    assert!(folder.path().join(format!("work/class/2026/{ID}.tar.gz")).exists());
    assert_eq!(content(&below, ID).await, [5; 10]);
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_secret_is_an_error() {
    let folder = TempDir::new().unwrap();
    let endpoint = server(folder.path(), "secret").await;
    let saved = open("s3://work", &endpoint, "guess").save(ID, archive(1, 10), LIMIT).await;
    assert!(matches!(saved, Err(SaveError::Store(_))), "{saved:?}");
}
