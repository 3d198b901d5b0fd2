use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::Visit;

/// Creates a self-signed certificate for the host `name`.
fn certificate(folder: &Path, name: &str) {
    let made = Command::new("openssl")
        .current_dir(folder)
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"])
        .args(["-keyout", "key.pem", "-out", "certificate.pem", "-subj", &format!("/CN={name}")])
        .args(["-addext", &format!("subjectAltName=DNS:{name}"), "-addext", "basicConstraints=critical,CA:FALSE"])
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

async fn answer(stream: TcpStream, acceptor: TlsAcceptor) -> std::io::Result<()> {
    let mut stream = acceptor.accept(stream).await?;
    let mut head = [0; 4096];
    let _read = stream.read(&mut head).await?;
    stream.write_all(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").await?;
    stream.shutdown().await
}

/// Runs the doctor on an edge proxy at `https://localhost` whose certificate is for the host `name`.
async fn visit(name: &str, trusted: bool) -> Visit {
    let folder = tempfile::tempdir().unwrap();
    certificate(folder.path(), name);
    let file = folder.path().join("certificate.pem");
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![CertificateDer::from_pem_file(&file).unwrap()],
            PrivateKeyDer::from_pem_file(folder.path().join("key.pem")).unwrap(),
        )
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    let serving = tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(answer(stream, acceptor.clone()));
        }
    });
    let visiting = tokio::task::spawn_blocking(move || {
        let mut settings = vec![("SERVICE_PUBLIC_URL", url.as_str())];
        settings.extend(trusted.then_some(("SSL_CERT_FILE", file.to_str().unwrap())));
        Visit::with(&settings)
    });
    let visit = visiting.await.unwrap();
    serving.abort();
    visit
}

#[tokio::test]
async fn doctor_fails_for_invalid_certificate_and_warns_of_unknown_authority() {
    visit("localhost", true).await.says("ok", "edge proxy", &["https://localhost:", "(401)"]);
    let other = visit("other.test", true).await;
    other.says("FAIL", "edge proxy", &["not valid for name \"localhost\"", "correct its names"]);
    visit("localhost", false).await.says("warn", "edge proxy", &["not trusted here", "SSL_CERT_FILE"]);
}
