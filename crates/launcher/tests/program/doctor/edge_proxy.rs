use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

use super::Visit;

const LOGIN: &str = "302 Found\r\nLocation: https://login.example.org/";
const ME: &str = r#"{"email": "ada@example.org", "user": null, "is_admin": true}"#;

/// Maps the head of a request, in lower case, to a response: the status line with header lines, and the body.
type Answers = fn(&str) -> (&'static str, &'static str);

/// A stub of the edge proxy at the public address. Dropping it stops its thread.
struct Front {
    url: String,
    listener: TcpListener,
    serving: Option<JoinHandle<()>>,
}

impl Front {
    fn that(answers: Answers) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let accepting = listener.try_clone().unwrap();
        let serving = std::thread::spawn(move || {
            while let Some(head) = accepting.accept().ok().and_then(|(stream, _)| answer(stream, answers)) {
                assert!(head.contains("user-agent: launcher-doctor"), "{head}");
            }
        });
        Self { url, listener, serving: Some(serving) }
    }

    fn visit(&self) -> Visit {
        Visit::with(&[("SERVICE_PUBLIC_URL", &self.url)])
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        // A connection without a request ends the stub's accept loop.
        drop(TcpStream::connect(self.listener.local_addr().unwrap()));
        drop(self.serving.take().map(JoinHandle::join));
    }
}

/// Answers one request and returns its head. Returns `None` if the client sends no request.
fn answer(stream: TcpStream, answers: Answers) -> Option<String> {
    let lines = BufReader::new(&stream).lines().map_while(Result::ok).take_while(|line| !line.is_empty());
    let head = lines.collect::<Vec<_>>().join("\n").to_ascii_lowercase();
    if head.is_empty() {
        return None;
    }
    let (status, body) = answers(&head);
    let length = body.len();
    write!(&stream, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}").unwrap();
    Some(head)
}

fn is_login(head: &str) -> bool {
    head.starts_with("get /oauth2/start ")
}

#[test]
fn doctor_accepts_edge_proxy_that_requires_login() {
    let front = Front::that(|head| if is_login(head) { (LOGIN, "") } else { ("401 Unauthorized", "{}") });
    let visit = front.visit();
    visit.says("ok", "edge proxy", &["/api/v1/me", "(401)"]);
    visit.says("ok", "identity header", &["x-auth-request-email, X_Auth_Request_Email, x.auth.request.email"]);
    visit.says("ok", "login", &["/oauth2/start answers (302)"]);
}

#[test]
fn doctor_reports_edge_proxy_that_passes_forged_identity() {
    fn plain(head: &str) -> (&'static str, &'static str) {
        if head.contains("\nx-auth-request-email: ada@example.org") { ("200 OK", ME) } else { (LOGIN, "") }
    }
    fn folded(head: &str) -> (&'static str, &'static str) {
        if head.contains("\nx_auth_request_email: ada@example.org") { ("200 OK", ME) } else { (LOGIN, "") }
    }
    fn dots(head: &str) -> (&'static str, &'static str) {
        if head.contains("\nx.auth.request.email: ada@example.org") { ("200 OK", ME) } else { (LOGIN, "") }
    }
    let cases: [(Answers, &str); 3] =
        [(plain, "x-auth-request-email"), (folded, "X_Auth_Request_Email"), (dots, "x.auth.request.email")];
    for (answers, spelling) in cases {
        let visit = Front::that(answers).visit();
        visit.says("ok", "edge proxy", &["(302)"]);
        let said = format!("ANY CLIENT CAN BE AN ADMIN: the edge proxy does not remove the header {spelling}");
        visit.says("FAIL", "identity header", &[&said, "docs/front.md"]);
    }
}

#[test]
fn doctor_reports_misconfigured_edge_proxy() {
    let visit = Front::that(|_| ("200 OK", ME)).visit();
    visit.says("FAIL", "edge proxy", &["ACCESS WITHOUT LOGIN", "ada@example.org"]);
    let visit = Front::that(|_| ("200 OK", "<h1>It works!</h1>")).visit();
    visit.says("FAIL", "edge proxy", &["but another service does", "SERVICE_PUBLIC_URL"]);
    visit.is_silent_about("identity header");
    let visit = Front::that(|_| ("401 Unauthorized", "{}")).visit();
    visit.says("FAIL", "login", &["no user can log in", "answers 401", "SERVICE_LOGIN_URL"]);
    let visit = Front::that(|_| ("421 Misdirected Request", "{}")).visit();
    visit.says("FAIL", "edge proxy", &["answers 421", "changes the Host header"]);
    let visit = Front::that(|_| ("502 Bad Gateway", "")).visit();
    visit.says("FAIL", "edge proxy", &["answers 502", "Check that the launcher runs"]);
    visit.says("warn", "identity header", &["no clear result"]);
}

#[test]
fn doctor_only_warns_of_unreachable_edge_proxy() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let visit = Visit::with(&[("SERVICE_PUBLIC_URL", &format!("http://{closed}"))]);
    visit.says("warn", "edge proxy", &["cannot be reached from here", "Try it from outside"]);
    visit.is_silent_about("identity header");
    visit.is_silent_about("login");
}

#[test]
fn doctor_reports_unresolvable_workshop_domain() {
    let front = Front::that(|_| ("401 Unauthorized", "{}"));
    let domain = |domain| Visit::with(&[("SERVICE_PUBLIC_URL", &front.url), ("SERVICE_WORKSHOP_DOMAIN", domain)]);
    domain("workshops.invalid").says("FAIL", "workshop domain", &["has no address", "*.workshops.invalid"]);
    domain("localhost").is_silent_about("workshop domain");
}
