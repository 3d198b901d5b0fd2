//! Proxy to the database server that can refuse connections or freeze them.

use std::path::PathBuf;

use tempfile::TempDir;
use tokio::io::copy_bidirectional;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

pub(crate) const SOCKET: &str = ".s.PGSQL.5432";

/// Returns the folder of the server's socket from a database URL.
pub(crate) fn folder_of(url: &str) -> &str {
    let host = url.split(['?', '&']).find_map(|parameter| parameter.strip_prefix("host="));
    host.filter(|host| host.starts_with('/')).expect("TEST_POSTGRES has a parameter host, the folder of a Unix socket")
}

/// A Unix socket in a temporary folder, forwarded to a database server.
pub(crate) struct Proxy {
    /// URL of the database through this proxy.
    pub(crate) url: String,
    folder: TempDir,
    server: PathBuf,
    freeze: watch::Sender<()>,
    open: Option<JoinHandle<()>>,
}

impl Proxy {
    pub(crate) fn new(database: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let of_server = folder_of(database);
        let url = database.replace(of_server, &folder.path().display().to_string());
        let server = PathBuf::from(of_server).join(SOCKET);
        let mut proxy = Self { url, folder, server, freeze: watch::Sender::new(()), open: None };
        proxy.open();
        proxy
    }

    /// Starts forwarding connections.
    pub(crate) fn open(&mut self) {
        let listener = UnixListener::bind(self.folder.path().join(SOCKET)).unwrap();
        let (server, freeze) = (self.server.clone(), self.freeze.clone());
        self.open = Some(tokio::spawn(async move {
            // When this task is aborted, the set is dropped, which closes all connections.
            let mut connections = JoinSet::new();
            loop {
                let (client, _) = listener.accept().await.unwrap();
                connections.spawn(forward(client, server.clone(), freeze.subscribe()));
            }
        }));
    }

    /// Closes all connections and refuses new ones.
    pub(crate) async fn shut(&mut self) {
        if let Some(open) = self.open.take() {
            open.abort();
            let _ = open.await;
        }
        std::fs::remove_file(self.folder.path().join(SOCKET)).unwrap();
    }

    /// Freezes the existing connections: they pass no bytes and stay open.
    pub(crate) fn freeze(&self) {
        self.freeze.send_replace(());
    }
}

async fn forward(mut client: UnixStream, server: PathBuf, mut freeze: watch::Receiver<()>) {
    let mut server = UnixStream::connect(server).await.unwrap();
    tokio::select! {
        _ = copy_bidirectional(&mut client, &mut server) => {}
        _ = freeze.changed() => std::future::pending().await,
    }
}
