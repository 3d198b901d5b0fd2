//! The proxy secret: an identity is valid only with the secret, and the secret never reaches the app.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use launcher_domain::identity::ProxySecret;
use launcher_domain::identity::TrustedHeader;
use launcher_sidecar::Policy;

use super::support::program::{Program, run};
use super::support::{ALICE, App, Client, Setup, eventually, policy, soon};

const SECRET: &str = "0123456789abcdef0123456789abcdef";
const OTHER: &str = "fedcba9876543210fedcba9876543210";

fn proof(secret: &str) -> String {
    format!("X-Auth-Request-Proof: {secret}\r\n")
}

fn get(lines: &str) -> String {
    format!("GET /lab HTTP/1.1\r\nHost: w\r\n{lines}\r\n")
}

async fn with_secret(secrets: &str, policy: Policy) -> (Setup, ProxySecret) {
    let secret = ProxySecret::parse(secrets).unwrap();
    let app = App::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    (Setup::with(Policy { proxy_secret: Some(secret.clone()), ..policy }, app).await, secret)
}

#[tokio::test]
async fn owner_identity_without_valid_proxy_secret_is_refused_like_non_owner() {
    let (setup, _secret) = with_secret(SECRET, policy()).await;
    let bob = format!("X-Auth-Request-Email: bob@example.org\r\n{}", proof(SECRET));
    let stranger = setup.send(get(&format!("{bob}Connection: close\r\n"))).await;
    assert!(stranger.starts_with("HTTP/1.1 403 "), "{stranger}");
    for lines in [
        ALICE.to_owned(),
        format!("{ALICE}{}", proof(OTHER)),
        format!("{ALICE}{}", proof("")),
        format!("{ALICE}{}", proof(&SECRET[1..])),
        format!("{ALICE}{}", proof(&SECRET.to_uppercase())),
        format!("{ALICE}{0}{0}", proof(SECRET)),
        format!("{ALICE}{}{}", proof(OTHER), proof(SECRET)),
        format!("{ALICE}X_Auth_Request_Proof: {SECRET}\r\n"),
        format!("{ALICE}{ALICE}{}", proof(OTHER)),
        bob.replace(SECRET, OTHER),
    ] {
        let answer = setup.send(get(&format!("{lines}Connection: close\r\n"))).await;
        assert_eq!(answer, stranger, "{lines}");
    }
    let nobody = setup.send(get(&format!("{}Connection: close\r\n", proof(SECRET)))).await;
    assert!(nobody.starts_with("HTTP/1.1 403 ") && nobody != stranger, "{nobody}");
    assert_eq!((setup.app.seen().as_str(), setup.app.connections()), ("", 0));
    assert_eq!(setup.status(get(&format!("{ALICE}{}", proof(SECRET)))).await, 200);
}

#[tokio::test]
async fn proxy_secret_never_reaches_the_app() {
    let mut remote = policy();
    remote.trusted_header = TrustedHeader::parse("Remote-Email").unwrap();
    for (policy, identity) in [(policy(), ALICE), (remote, "Remote-Email: alice@example.org\r\n")] {
        let (setup, _secret) = with_secret(SECRET, policy).await;
        let proven = format!("{identity}{}", proof(SECRET));
        let spellings = ["x_auth_request_proof", "X.Auth.Request.Proof", "XAUTHREQUESTPROOF", "X-Auth-Request_Proof"];
        let aliases: String = spellings.iter().map(|name| format!("{name}: {SECRET}\r\n")).collect();
        let trailer = format!("3\r\nabc\r\n0\r\n{}\r\n", proof(SECRET));
        for request in [
            get(&format!("{proven}{aliases}")),
            get(&format!("{proven}Connection: close, x-auth-request-proof\r\n")),
            get(&format!("{proven}Connection: upgrade\r\nUpgrade: websocket\r\n{aliases}")),
            format!("POST / HTTP/1.1\r\nHost: w\r\n{proven}Transfer-Encoding: chunked\r\n\r\n{trailer}"),
        ] {
            assert_eq!(setup.status(&request).await, 200, "{request}");
        }
        let seen = setup.app.seen().to_ascii_lowercase();
        assert_eq!(seen.matches(" http/1.1\r\n").count(), 4, "{seen}");
        assert!(!seen.contains("proof") && !seen.contains(SECRET) && !seen.contains("alice"), "{seen}");
    }
}

#[tokio::test]
async fn each_request_of_a_connection_needs_proxy_secret() {
    let (setup, _secret) = with_secret(SECRET, policy()).await;
    let mut client = setup.client().await;
    let proven = get(&format!("{ALICE}{}", proof(SECRET)));
    client.send(format!("{proven}{}{proven}", get(ALICE))).await;
    for status in [200, 403, 200] {
        assert_eq!(client.read_response().await.status, status);
    }
}

#[tokio::test]
async fn both_proxy_secrets_are_accepted_during_rotation() {
    let (setup, secret) = with_secret(&format!("{SECRET}\n{OTHER}\n"), policy()).await;
    for each in [SECRET, OTHER] {
        assert_eq!(setup.status(get(&format!("{ALICE}{}", proof(each)))).await, 200);
    }
    secret.replace(OTHER).unwrap();
    assert_eq!(setup.status(get(&format!("{ALICE}{}", proof(SECRET)))).await, 403);
    assert_eq!(setup.status(get(&format!("{ALICE}{}", proof(OTHER)))).await, 200);
}

#[tokio::test]
async fn request_with_wrong_proxy_secret_is_forwarded_if_authentication_is_off() {
    let (setup, _secret) = with_secret(SECRET, Policy { require_authentication: false, ..policy() }).await;
    assert_eq!(setup.status(get(&format!("{ALICE}{}", proof(OTHER)))).await, 200);
    assert!(!setup.app.seen().contains(OTHER), "{}", setup.app.seen());
}

/// A temporary file with proxy secrets. Dropping it removes the file.
struct SecretFile(PathBuf);

impl SecretFile {
    fn new(name: &str, content: &str) -> Self {
        let path = std::env::temp_dir().join(format!("launcher-sidecar-{}-{name}", std::process::id()));
        std::fs::write(&path, content).unwrap();
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for SecretFile {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.0));
    }
}

#[test]
fn unusable_secret_file_fails_start_with_one_line_error() {
    let absent = "/nonexistent/proxy-secret";
    let (empty, short) = (SecretFile::new("empty", "\n"), SecretFile::new("short", "hunter2\n"));
    let three = SecretFile::new("three", &format!("{SECRET}\n{OTHER}\n{SECRET}\n"));
    for (path, said) in [
        (absent, "cannot be read: No such file"),
        ("/", "cannot be read"),
        (empty.path(), "openssl rand -hex 32"),
        (short.path(), "line 1: a secret has 32 to 256 characters"),
        (three.path(), "remove the oldest"),
    ] {
        let output = run(&[
            ("SERVICE_OWNER_EMAIL", "alice@example.org"),
            ("SERVICE_APP_PORT", "8888"),
            ("SERVICE_PROXY_SECRET_FILE", path),
        ]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{path}: {error}");
        let names_both = error.contains(&format!("SERVICE_PROXY_SECRET_FILE {path} "));
        assert!(names_both && error.contains(said) && error.lines().count() == 1, "{path}: {error}");
        assert!(!error.contains("hunter2") && !error.contains(SECRET), "{error}");
    }
}

async fn status(client: &mut Client<tokio::net::TcpStream>, secret: &str) -> u16 {
    client.send(get(&format!("{ALICE}{}", proof(secret)))).await;
    client.read_response().await.status
}

#[tokio::test]
async fn changed_secret_file_takes_effect_without_restart() {
    let file = SecretFile::new("followed", SECRET);
    let app = App::answering("HTTP/1.1 204 No Content\r\n\r\n").await;
    let program = Program::start(app.addr, &[("SERVICE_PROXY_SECRET_FILE", file.path())]).await;
    let mut client = Client::connect(program.addr).await;
    assert_eq!((status(&mut client, SECRET).await, status(&mut client, OTHER).await), (204, 403));
    std::fs::write(&file.0, format!("{OTHER}\n{SECRET}\n")).unwrap();
    soon(async { while status(&mut client, OTHER).await != 204 {} }).await;
    assert_eq!(status(&mut client, SECRET).await, 204);
}

#[tokio::test]
async fn requests_without_proxy_secret_are_counted_and_first_ten_logged() {
    let file = SecretFile::new("logged", SECRET);
    let log = SecretFile::new("log", "");
    let app = App::answering("HTTP/1.1 204 No Content\r\n\r\n").await;
    let mut logging = Command::new("sh");
    logging.env_clear().args(["-c", "exec \"$0\" 2>>\"$LOG\"", env!("CARGO_BIN_EXE_launcher-sidecar")]);
    logging.env("LOG", log.path()).env("SERVICE_PROXY_SECRET_FILE", file.path()).env("SERVICE_LOG", "trace");
    logging.stdin(Stdio::null());
    let program = Program::start_by(logging, app.addr).await;
    let mut client = Client::connect(program.addr).await;
    for _ in 0..12 {
        assert_eq!(status(&mut client, OTHER).await, 403);
    }
    assert_eq!(status(&mut client, SECRET).await, 204);
    let metrics = program.ask("/metrics").await;
    assert!(metrics.contains("sidecar_unproven_identities_total 12\n"), "{metrics}");
    assert!(metrics.contains("sidecar_requests_total{outcome=\"not-the-owner\"} 12\n"), "{metrics}");
    let logged = || std::fs::read_to_string(&log.0).unwrap();
    eventually("the log has its lines", || logged().matches("without the owner's identity").count() == 12).await;
    let logged = logged();
    assert_eq!(logged.matches("X-Auth-Request-Proof is missing or wrong").count(), 10, "{logged}");
    assert!(!logged.contains(SECRET) && !logged.contains(OTHER), "{logged}");
}
