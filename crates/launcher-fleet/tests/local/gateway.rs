//! Tests of the gateway: requests to a workshop's origin on the launcher's listener.

use std::net::SocketAddr;

use futures_util::{SinkExt, StreamExt};
use http::header::{CONTENT_TYPE, HOST, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Request, StatusCode};
use launcher_fleet::{Fleet, LocalFleet};
use launcher_process::serve::{ServeLimits, serve_http};
use launcher_process::stop::Stop;
use launcher_workshop::{Phase, Workshop};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use crate::support::{Home, OWNER, custom, eventually, in_time, kill, script, server, wait_for, wait_until_gone};

pub(crate) const IDENTITY: &str = "X-Auth-Request-Email";

/// Starts a listener that passes every request to the gateway. The launcher's listener does this for workshop hosts.
pub(crate) async fn listen(fleet: &LocalFleet) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let gateway = fleet.gateway();
    tokio::spawn(serve_http(listener, Stop::new(), ServeLimits::service(), move |request: Request<_>, peer| {
        let gateway = gateway.clone();
        async move {
            let host = request.headers()[HOST].to_str().unwrap().to_owned();
            let name = gateway.names_workshop(&host).expect("the host of a workshop");
            gateway.serve(&name, request, Some(peer.ip())).await.unwrap_or_else(|unserved| unserved.answer)
        }
    }));
    address
}

pub(crate) fn echo(name: &str) -> Workshop {
    custom(name, &["python3", "-c", include_str!("echo.py")])
}

/// Requests a page of a workshop with this identity, or without an identity.
pub(crate) async fn get(address: SocketAddr, name: &str, who: Option<&str>) -> reqwest::Response {
    let mut headers = HeaderMap::from_iter([(HOST, format!("{name}.localhost:8000").parse().unwrap())]);
    if let Some(who) = who {
        headers.insert("x-auth-request-email", HeaderValue::from_str(who).unwrap());
    }
    in_time(reqwest::Client::new().get(format!("http://{address}/")).headers(headers).send()).await.unwrap()
}

#[tokio::test]
async fn request_reaches_app_for_its_owner_only() {
    let home = Home::new();
    let fleet = home.open();
    let address = listen(&fleet).await;
    fleet.apply(&echo("lab-a")).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;

    let owner = get(address, "lab-a", Some(OWNER)).await;
    assert_eq!(owner.status(), StatusCode::OK);
    assert_eq!(owner.headers().get_all("set-cookie").iter().count(), 2);
    let head = owner.text().await.unwrap();
    assert!(head.starts_with("GET / HTTP/1.1\r\n"), "{head}");
    assert!(head.to_ascii_lowercase().contains("host: lab-a.localhost:8000\r\n"), "{head}");
    assert!(!head.to_ascii_lowercase().contains("x-auth-request"), "{head}");

    for other in [None, Some("bob@example.org"), Some("alice@example.org,bob@example.org")] {
        assert_eq!(get(address, "lab-a", other).await.status(), StatusCode::FORBIDDEN, "{other:?}");
    }
    fleet.stop().await;
}

#[tokio::test]
async fn gateway_forwards_request_head_unchanged() {
    let home = Home::new();
    let fleet = home.open();
    let address = listen(&fleet).await;
    fleet.apply(&echo("lab-a")).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    let exchange = async |lines: &str| {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!(
            "GET /api/contents/a%2Fb;c//d?x=%00 HTTP/1.1\r\nHost: lab-a.localhost:8000\r\nConnection: close\r\n{lines}\r\n"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        in_time(stream.read_to_string(&mut answer)).await.unwrap();
        answer
    };

    let answer = exchange(&format!("{IDENTITY}: {OWNER}\r\nX-Twice: 1\r\nX-Twice: 2\r\n")).await;
    assert!(answer.contains("GET /api/contents/a%2Fb;c//d?x=%00 HTTP/1.1\r\n"), "{answer}");
    assert!(answer.contains("X-Twice: 1\r\n") && answer.contains("X-Twice: 2\r\n"), "{answer}");
    for forged in [
        format!("{IDENTITY}: {OWNER}\r\n{IDENTITY}: {OWNER}\r\n"),
        format!("{IDENTITY}: {OWNER}\r\nX_Auth_Request_Email: bob@example.org\r\n"),
        format!("X_Auth_Request_Email: {OWNER}\r\n"),
    ] {
        let answer = exchange(&forged).await;
        assert!(answer.starts_with("HTTP/1.1 403 "), "{forged}: {answer}");
    }
    fleet.stop().await;
}

#[tokio::test]
async fn websocket_is_forwarded_for_owner_only() {
    let home = Home::new();
    let fleet = home.open();
    let address = listen(&fleet).await;
    fleet.apply(&echo("lab-a")).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    let connect = async |who: &str| {
        let mut request = "ws://lab-a.localhost:8000/api/kernels".into_client_request().unwrap();
        request.headers_mut().insert("x-auth-request-email", who.parse().unwrap());
        request.headers_mut().insert("origin", "http://lab-a.localhost:8000".parse().unwrap());
        let stream = TcpStream::connect(address).await.unwrap();
        in_time(tokio_tungstenite::client_async(request, stream)).await
    };

    let (mut socket, _) = connect(OWNER).await.unwrap();
    socket.send(Message::text("is anybody there?")).await.unwrap();
    let answer = in_time(socket.next()).await.unwrap().unwrap();
    assert_eq!(answer, Message::text("is anybody there?"));

    assert!(connect("bob@example.org").await.is_err());

    // The deletion of the workshop must close the WebSocket.
    fleet.delete("lab-a", None).await.unwrap();
    let ended = in_time(async { while let Some(Ok(_)) = socket.next().await {} });
    ended.await;
    fleet.stop().await;
}

#[tokio::test]
async fn large_download_arrives_complete() {
    let home = Home::new();
    let fleet = home.open();
    let address = listen(&fleet).await;
    fleet.apply(&server("lab-a")).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    let content: Vec<u8> = (0..8_000_000_u32).map(|number| number.to_le_bytes()[0]).collect();
    std::fs::write(home.working("lab-a").join("large"), &content).unwrap();

    let request = reqwest::Client::new().get(format!("http://{address}/large"));
    let request = request.header(HOST, "lab-a.localhost:8000").header(IDENTITY, OWNER);
    let answer = in_time(request.send()).await.unwrap();

    assert_eq!(answer.content_length(), Some(8_000_000));
    assert!(in_time(answer.bytes()).await.unwrap() == content);
    fleet.stop().await;
}

#[tokio::test]
async fn page_of_terminating_workshop_does_not_reload() {
    let mut home = Home::new();
    home.settings.machine.stop_grace = std::time::Duration::from_secs(1000);
    let fleet = home.open();
    let address = listen(&fleet).await;
    fleet.apply(&script("lab-a", "trap '' TERM; touch ready; while :; do sleep 1; done")).await.unwrap();
    eventually("the app has started", || home.working("lab-a").join("ready").exists()).await;

    fleet.delete("lab-a", None).await.unwrap();

    let owner = get(address, "lab-a", Some(OWNER)).await;
    assert_eq!(owner.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(!owner.headers().contains_key("refresh"));
    home.processes().into_iter().for_each(kill);
    wait_until_gone(&fleet, "lab-a").await;
    fleet.stop().await;
}

#[tokio::test]
async fn page_of_expired_workshop_does_not_reload() {
    let home = Home::new();
    let fleet = home.open();
    let address = listen(&fleet).await;
    fleet.apply(&echo("lab-a")).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    home.clock.advance(3600);
    wait_for(&fleet, "lab-a", Phase::Expired).await;

    let owner = get(address, "lab-a", Some(OWNER)).await;
    assert_eq!(owner.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(!owner.headers().contains_key("refresh") && !owner.headers().contains_key(RETRY_AFTER));
    fleet.stop().await;
}

#[tokio::test]
async fn starting_workshop_shows_waiting_page_to_owner_only() {
    let home = Home::new();
    let fleet = home.open();
    let address = listen(&fleet).await;
    fleet.apply(&custom("lab-a", &["sleep", "1000"])).await.unwrap();

    let owner = get(address, "lab-a", Some(OWNER)).await;
    assert_eq!(owner.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(owner.headers().contains_key("refresh"), "the page loads itself again");
    assert!(owner.headers().contains_key(RETRY_AFTER));
    assert!(owner.headers()[CONTENT_TYPE].to_str().unwrap().starts_with("text/html"));
    assert_eq!(get(address, "lab-a", Some("bob@example.org")).await.status(), StatusCode::FORBIDDEN);
    assert_eq!(get(address, "lab-a", None).await.status(), StatusCode::FORBIDDEN);
    fleet.stop().await;
}

#[tokio::test]
async fn existence_of_workshop_is_visible_to_owner_only() {
    let home = Home::new();
    let fleet = home.open();
    let address = listen(&fleet).await;
    let answer = async |name: &str, who: Option<&str>| {
        let answer = get(address, name, who).await;
        let mut headers = answer.headers().clone();
        headers.remove("date");
        (answer.status(), headers, answer.text().await.unwrap())
    };
    let names = ["lab-running", "lab-starting", "lab-failed", "lab-unknown", "odd.lab-running"];
    let mut before = Vec::new();
    for name in names {
        before.push(answer(name, None).await);
    }
    fleet.apply(&echo("lab-running")).await.unwrap();
    fleet.apply(&custom("lab-starting", &["sleep", "1000"])).await.unwrap();
    fleet.apply(&custom("lab-failed", &["no-such-program"])).await.unwrap();
    wait_for(&fleet, "lab-running", Phase::Running).await;
    wait_for(&fleet, "lab-failed", Phase::Failed).await;

    let [running, .., unknown, odd] = &before[..] else { panic!("{before:?}") };
    assert_eq!(unknown.0, StatusCode::FORBIDDEN);
    assert!(
        running.2.contains("<a href=\"http://localhost:8000/instances/lab-running\" target=\"_top\">"),
        "{}",
        running.2
    );
    assert!(!odd.2.contains("/instances/"), "no workshop has this name: {}", odd.2);
    for who in [None, Some(""), Some("bob@example.org"), Some("nobody"), Some("alice@example.org,bob@example.org")] {
        for (name, before) in names.iter().zip(&before) {
            assert_eq!(answer(name, who).await, *before, "{name} as {who:?}");
        }
    }
    assert_eq!(
        answer("lab-unknown", Some(OWNER)).await,
        *unknown,
        "an unknown workshop gets the same answer for every user"
    );
    assert_eq!(answer("lab-running", Some(OWNER)).await.0, StatusCode::OK);
    fleet.stop().await;
}

#[tokio::test]
async fn failure_page_is_escaped_and_for_owner_only() {
    let home = Home::new();
    let fleet = home.open();
    let address = listen(&fleet).await;
    fleet.apply(&custom("lab-a", &["no-such-<img>"])).await.unwrap();
    let status = wait_for(&fleet, "lab-a", Phase::Failed).await.status.unwrap();

    let owner = get(address, "lab-a", Some(OWNER)).await;
    assert_eq!(owner.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(!owner.headers().contains_key("refresh"));
    let page = owner.text().await.unwrap();
    assert!(page.contains("no-such-&lt;img&gt;"), "{page}");
    let shown = page.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
    let texts = [status.message.unwrap(), status.remedy.unwrap()];
    assert!(texts.iter().all(|text| shown.contains(&format!("<p>{text}</p>"))), "{texts:?} {page}");
    assert_eq!(get(address, "lab-a", None).await.status(), StatusCode::FORBIDDEN);
    fleet.stop().await;
}

#[tokio::test]
async fn gateway_without_authentication_admits_all_requests() {
    let mut home = Home::new();
    home.settings.machine.origins.require_authentication = false;
    let fleet = home.open();
    let address = listen(&fleet).await;
    fleet.apply(&script("lab-a", "exec python3 -m http.server \"$PORT\" --bind 127.0.0.1")).await.unwrap();
    let starting = get(address, "lab-a", None).await;
    assert_ne!(starting.status(), StatusCode::FORBIDDEN);
    wait_for(&fleet, "lab-a", Phase::Running).await;

    assert_eq!(get(address, "lab-a", None).await.status(), StatusCode::OK);
    assert_eq!(get(address, "lab-b", None).await.status(), StatusCode::NOT_FOUND);
    fleet.stop().await;
}

#[tokio::test]
async fn host_below_workshop_domain_names_a_workshop() {
    let mut home = Home::new();
    home.settings.machine.origins.public_origin = "http://launcher.localhost:8000".parse().unwrap();
    let fleet = home.open();
    let gateway = fleet.gateway();
    for (host, expected) in [
        ("lab-a.localhost:8000", Some("lab-a")),
        ("LAB-A.LocalHost", Some("lab-a")),
        ("lab-a.localhost.", Some("lab-a")),
        ("odd.lab-a.localhost:8000", Some("odd.lab-a")),
        ("launcher.localhost:8000", None),
        ("LAUNCHER.localhost.:8000", None),
        ("localhost:8000", None),
        ("127.0.0.1:8000", None),
        ("[::1]:8000", None),
        ("lab-a.example.org", None),
        ("evil-localhost", None),
        ("", None),
    ] {
        assert_eq!(gateway.names_workshop(host).as_deref(), expected, "{host}");
    }
    fleet.stop().await;
}
