//! Verification of the server's certificate, according to `sslmode` in the URL.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use launcher_store::{Store, StoreError};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::proxy::{SOCKET, folder_of};
use crate::support::*;

/// PostgreSQL's SSLRequest message.
const REQUEST: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];

/// Creates a self-signed certificate for the name `database.test`.
fn certificate(folder: &Path) {
    let made = Command::new("openssl")
        .current_dir(folder)
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"])
        .args(["-keyout", "key.pem", "-out", "certificate.pem", "-subj", "/CN=database.test"])
        .args(["-addext", "subjectAltName=DNS:database.test", "-addext", "basicConstraints=critical,CA:FALSE"])
        .output()
        .expect("the program openssl");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

/// Serves TLS on a socket in this folder, with the certificate from the folder. Forwards connections to the server.
fn serve(folder: &Path, server: String) -> JoinHandle<()> {
    let certificate = CertificateDer::from_pem_file(folder.join("certificate.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(folder.join("key.pem")).unwrap();
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = UnixListener::bind(folder.join(SOCKET)).unwrap();
    tokio::spawn(async move {
        loop {
            let (client, _) = listener.accept().await.unwrap();
            tokio::spawn(forward(client, acceptor.clone(), server.clone()));
        }
    })
}

/// Forwards one connection. Closes it if the client does not request TLS or rejects the certificate.
async fn forward(mut client: UnixStream, acceptor: TlsAcceptor, server: String) -> std::io::Result<()> {
    let mut request = [0; 8];
    client.read_exact(&mut request).await?;
    if request == REQUEST {
        client.write_all(b"S").await?;
        let mut client = acceptor.accept(client).await?;
        let mut server = UnixStream::connect(server).await?;
        copy_bidirectional(&mut client, &mut server).await?;
    }
    Ok(())
}

#[tokio::test]
async fn server_certificate_is_verified_per_sslmode() {
    let database = postgres().await;
    let folder = tempfile::tempdir().unwrap();
    certificate(folder.path());
    let serving = serve(folder.path(), format!("{}/{SOCKET}", folder_of(&database.url)));
    let url = database.url.replace(folder_of(&database.url), &folder.path().display().to_string());
    let with = |host: &str, parameters: &str| format!("{}&{parameters}", url.replace(":///", &format!("://{host}/")));
    let authority = format!("sslrootcert={}/certificate.pem", folder.path().display());

    for (host, parameters) in [
        ("database.test", format!("sslmode=verify-full&{authority}")),
        ("other.test", format!("sslmode=verify-ca&{authority}")),
        ("other.test", "sslmode=require".to_owned()),
        ("other.test", "sslmode=prefer".to_owned()),
    ] {
        let store = Store::open(&with(host, &parameters)).await.unwrap_or_else(|error| panic!("{parameters}: {error}"));
        store.ping().await.unwrap();
        store.close().await;
    }
    for (host, parameters) in [
        ("other.test", format!("sslmode=verify-full&{authority}")),
        ("database.test", "sslmode=verify-full".to_owned()),
        ("database.test", "sslmode=verify-ca".to_owned()),
    ] {
        let error = Store::open(&with(host, &parameters)).await.unwrap_err();
        assert!(matches!(error, StoreError::Open { .. }), "{parameters}: {error:?}");
        assert!(error.to_string().contains("certificate"), "{parameters}: {error}");
    }
    assert!(Store::open(&with("database.test", "sslmode=disable")).await.is_err(), "this server wants TLS");
    serving.abort();
}
