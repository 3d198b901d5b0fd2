//! HTTPS server on the loopback address: ends TLS, and passes each request to a server by http.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use tempfile::TempDir;

use super::http::{Request, Server};

/// Certificate of the servers of one test, for `127.0.0.1` and `localhost`.
pub(crate) struct Certificate {
    directory: TempDir,
    config: Arc<ServerConfig>,
}

impl Certificate {
    pub(crate) fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let request = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=test \
                       -addext subjectAltName=IP:127.0.0.1,DNS:localhost -addext basicConstraints=critical,CA:FALSE \
                       -keyout key.pem -out cert.pem";
        let mut command = Command::new("openssl");
        command.args(request.split_whitespace()).current_dir(directory.path());
        let created = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        assert!(created.expect("openssl is installed").success());
        let certificate = CertificateDer::from_pem_file(directory.path().join("cert.pem")).unwrap();
        let key = PrivateKeyDer::from_pem_file(directory.path().join("key.pem")).unwrap();
        let builder = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
        let builder = builder.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        let config = Arc::new(builder.with_single_cert(vec![certificate], key).unwrap());
        fs::remove_file(directory.path().join("key.pem")).unwrap();
        Self { directory, config }
    }

    /// File with the certificate, which a client must trust.
    pub(crate) fn file(&self) -> PathBuf {
        self.directory.path().join("cert.pem")
    }
}

/// Server, until it is dropped.
pub(crate) struct SecureServer {
    plain: Server,
    address: SocketAddr,
    is_stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl SecureServer {
    pub(crate) fn start(
        certificate: &Certificate,
        answer: impl Fn(&Request, &mut TcpStream) + Send + Sync + 'static,
    ) -> Self {
        let plain = Server::start(answer);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (is_stopped, config, target) =
            (Arc::new(AtomicBool::new(false)), Arc::clone(&certificate.config), plain.address());
        let stopped = Arc::clone(&is_stopped);
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::SeqCst) {
                    break;
                }
                let (stream, config) = (stream.unwrap(), Arc::clone(&config));
                // A client that ends early closes its connection.
                std::thread::spawn(move || drop(forward(config, stream, target)));
            }
        });
        Self { plain, address, is_stopped, thread: Some(thread) }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        self.url_of("127.0.0.1", path)
    }

    /// URL with another name of the host.
    pub(crate) fn url_of(&self, host: &str, path: &str) -> String {
        format!("https://{host}:{}/{path}", self.address.port())
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.plain.requests()
    }
}

impl Drop for SecureServer {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        let _ = self.thread.take().unwrap().join();
    }
}

/// Passes one request on, and its answer back.
fn forward(config: Arc<ServerConfig>, stream: TcpStream, target: SocketAddr) -> io::Result<()> {
    let connection = ServerConnection::new(config).map_err(io::Error::other)?;
    let mut client = BufReader::new(StreamOwned::new(connection, stream));
    let (mut request, mut length) = (Vec::new(), 0);
    loop {
        let mut line = Vec::new();
        if client.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&line).to_ascii_lowercase();
        request.extend(line);
        if let Some(value) = text.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        } else if text.trim().is_empty() {
            break;
        }
    }
    let head = request.len();
    request.resize(head + length, 0);
    client.read_exact(&mut request[head..])?;
    let mut server = TcpStream::connect(target)?;
    server.write_all(&request)?;
    let mut client = client.into_inner();
    io::copy(&mut server, &mut client)?;
    client.conn.send_close_notify();
    client.flush()
}
