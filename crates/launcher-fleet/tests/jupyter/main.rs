//! Tests with a real JupyterLab behind the gateway. A client sends the same requests as the owner's browser.
//! `TEST_JUPYTER` has the path of the program `jupyter-lab`.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

#[path = "../local/support.rs"]
#[expect(dead_code, reason = "shared with the tests of small programs")]
mod support;

use std::net::SocketAddr;

use futures_util::{SinkExt, StreamExt};
use http::header::{COOKIE, HOST, SET_COOKIE};
use http::{HeaderMap, Method, StatusCode};
use launcher_fleet::{Fleet, LocalFleet};
use launcher_process::serve::{ServeLimits, serve_http};
use launcher_process::stop::Stop;
use launcher_workshop::{Phase, Workshop};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{WebSocketStream, connect_async};

use support::{Home, NONE, OWNER, custom, in_time, wait_for, wait_until_gone};

const HOSTNAME: &str = "lab-a.localhost:8000";

fn home() -> Home {
    let mut home = Home::new();
    home.settings.programs.local_jupyter =
        std::env::var_os("TEST_JUPYTER").expect("TEST_JUPYTER names the program jupyter-lab").into();
    home
}

/// A notebook Workshop with arguments of a cluster template: address and port of the image, and an option of
/// JupyterLab.
fn notebook() -> Workshop {
    let mut workshop = custom("lab-a", &[]);
    workshop.spec.app_type = "notebook".to_owned();
    workshop.spec.args = ["--ip=0.0.0.0", "--port=8888", "--no-browser", "--ServerApp.terminals_enabled=False"]
        .map(str::to_owned)
        .into();
    workshop
}

async fn listen(fleet: &LocalFleet) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let gateway = fleet.gateway();
    tokio::spawn(serve_http(listener, Stop::new(), ServeLimits::service(), move |request, peer| {
        let gateway = gateway.clone();
        async move { gateway.serve("lab-a", request, Some(peer.ip())).await.unwrap_or_else(|unserved| unserved.answer) }
    }));
    address
}

/// A client that sends the headers of the owner's browser.
struct Browser {
    address: SocketAddr,
    headers: HeaderMap,
}

impl Browser {
    /// Opens JupyterLab's page and keeps the cookies for later requests.
    async fn open(address: SocketAddr) -> Self {
        let headers = HeaderMap::from_iter([
            (HOST, HOSTNAME.parse().unwrap()),
            ("x-auth-request-email".parse().unwrap(), OWNER.parse().unwrap()),
            ("origin".parse().unwrap(), format!("http://{HOSTNAME}").parse().unwrap()),
        ]);
        let mut browser = Self { address, headers };
        let page = browser.send(Method::GET, "/lab", None).await;
        assert_eq!(page.status(), StatusCode::OK);
        let cookies = page.headers().get_all(SET_COOKIE).iter().map(|cookie| cookie.to_str().unwrap().to_owned());
        let cookies: Vec<String> = cookies.map(|cookie| cookie.split(';').next().unwrap().to_owned()).collect();
        let xsrf = cookies.iter().find_map(|cookie| cookie.strip_prefix("_xsrf=")).expect("a cookie _xsrf");
        browser.headers.insert("x-xsrftoken", xsrf.parse().unwrap());
        browser.headers.insert(COOKIE, cookies.join("; ").parse().unwrap());
        assert!(page.text().await.unwrap().contains("JupyterLab"));
        browser
    }

    async fn send(&self, method: Method, path: &str, body: Option<Value>) -> reqwest::Response {
        let request = reqwest::Client::new().request(method, format!("http://{}{path}", self.address));
        let request = request.headers(self.headers.clone());
        let request = if let Some(body) = body { request.json(&body) } else { request };
        in_time(request.send()).await.unwrap()
    }

    async fn start_kernel(&self) -> String {
        let answer = self.send(Method::POST, "/api/kernels", Some(json!({"name": "python3"}))).await;
        assert_eq!(answer.status(), StatusCode::CREATED);
        answer.json::<Value>().await.unwrap()["id"].as_str().unwrap().to_owned()
    }

    /// Opens a WebSocket.
    async fn connect(&self, path: &str) -> WebSocketStream<TcpStream> {
        let mut request = format!("ws://{HOSTNAME}{path}").into_client_request().unwrap();
        for name in ["x-auth-request-email", "origin", "cookie"] {
            request.headers_mut().insert(name, self.headers[name].clone());
        }
        let stream = TcpStream::connect(self.address).await.unwrap();
        in_time(tokio_tungstenite::client_async(request, stream)).await.unwrap().0
    }

    /// Runs code in a kernel and returns its result as text.
    async fn run(&self, kernel: &str, code: &str) -> String {
        let mut socket = self.connect(&format!("/api/kernels/{kernel}/channels")).await;
        let message = json!({
            "channel": "shell", "parent_header": {}, "metadata": {}, "buffers": [],
            "header": {"msg_id": "1", "msg_type": "execute_request", "session": "1", "username": "", "version": "5.3"},
            "content": {"code": code, "silent": false, "allow_stdin": false},
        });
        socket.send(Message::text(message.to_string())).await.unwrap();
        in_time(async {
            loop {
                let Message::Text(text) = socket.next().await.unwrap().unwrap() else { continue };
                let answer: Value = serde_json::from_str(&text).unwrap();
                if answer["msg_type"] == "execute_result" {
                    return answer["content"]["data"]["text/plain"].as_str().unwrap().to_owned();
                }
            }
        })
        .await
    }
}

#[tokio::test]
async fn owner_runs_code_in_jupyterlab() {
    let home = home();
    let fleet = home.open();
    let address = listen(&fleet).await;
    fleet.apply(&notebook()).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;

    let browser = Browser::open(address).await;
    let kernel = browser.start_kernel().await;
    assert_eq!(browser.run(&kernel, "6 * 7").await, "42");
    let working = home.working("lab-a").canonicalize().unwrap();
    assert_eq!(browser.run(&kernel, "import os; os.getcwd()").await, format!("'{}'", working.display()));

    // The kernel runs in a separate session, but the deletion must terminate it, too.
    assert!(home.processes().len() >= 2);
    fleet.delete("lab-a", None).await.unwrap();
    wait_until_gone(&fleet, "lab-a").await;
    assert_eq!(home.processes(), NONE);
    fleet.stop().await;
}

/// One JupyterLab serves all these requests, because its start takes long.
#[tokio::test]
async fn jupyter_refuses_foreign_hosts_pages_and_users() {
    let home = home();
    let fleet = home.open();
    let address = listen(&fleet).await;
    fleet.apply(&notebook()).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;

    foreign_host_is_refused(Browser::open(address).await).await;
    foreign_page_cannot_use_gateway_login(Browser::open(address).await).await;
    requests_without_token_are_refused(port(&home)).await;
    fleet.stop().await;
}

async fn foreign_host_is_refused(mut browser: Browser) {
    browser.headers.insert(HOST, "rebound.example.org".parse().unwrap());
    browser.headers.remove("origin");

    assert_eq!(browser.send(Method::GET, "/api/contents", None).await.status(), StatusCode::FORBIDDEN);
}

/// Returns the port on which JupyterLab listens.
fn port(home: &Home) -> u16 {
    let record = std::fs::read(home.record("lab-a").join("state.json")).unwrap();
    serde_json::from_slice::<Value>(&record).unwrap()["process"]["port"].as_u64().unwrap().try_into().unwrap()
}

async fn requests_without_token_are_refused(port: u16) {
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let app = format!("http://127.0.0.1:{port}");
    for path in ["/api/contents", "/api/kernels", "/files/a.txt"] {
        for header in ["x-nothing", "x-auth-request-email"] {
            let answer = in_time(client.get(format!("{app}{path}")).header(header, OWNER).send()).await.unwrap();
            assert!([StatusCode::FORBIDDEN, StatusCode::FOUND].contains(&answer.status()), "{path}: {answer:?}");
            let to = answer.headers().get("location").map_or("/login", |location| location.to_str().unwrap());
            assert!(to.starts_with("/login"), "{path} leads to {to}");
        }
    }
    let page = in_time(client.get(format!("{app}/lab")).send()).await.unwrap();
    assert_eq!(page.headers()["location"], "/login?next=%2Flab");
    let kernel = in_time(client.post(format!("{app}/api/kernels")).send()).await.unwrap();
    assert_eq!(kernel.status(), StatusCode::FORBIDDEN);
    let request = format!("ws://127.0.0.1:{port}/api/kernels/0-0-0-0-0/channels");
    match in_time(connect_async(request)).await {
        Err(tungstenite::Error::Http(answer)) => assert_eq!(answer.status(), StatusCode::FORBIDDEN),
        other => panic!("{other:?}"),
    }
}

async fn foreign_page_cannot_use_gateway_login(mut browser: Browser) {
    // A browser sends a foreign page's requests with the cookies, but without this header: only the workshop's pages
    // can set it.
    browser.headers.remove("x-xsrftoken");
    for origin in [None, Some("http://evil.example"), Some("http://lab-b.localhost:8000")] {
        browser.headers.remove("origin");
        if let Some(origin) = origin {
            browser.headers.insert("origin", origin.parse().unwrap());
        }
        let started = browser.send(Method::POST, "/api/kernels", Some(json!({"name": "python3"}))).await;
        assert!([StatusCode::FORBIDDEN, StatusCode::NOT_FOUND].contains(&started.status()), "{origin:?}: {started:?}");
        let read = browser.send(Method::GET, "/api/contents", None).await;
        assert!(!read.headers().contains_key("access-control-allow-origin"), "{origin:?}: {read:?}");
    }
}

#[tokio::test]
async fn owner_runs_command_in_jupyter_terminal() {
    let home = home();
    let fleet = home.open();
    let address = listen(&fleet).await;
    let mut workshop = notebook();
    workshop.spec.args.clear();
    fleet.apply(&workshop).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    let browser = Browser::open(address).await;

    let terminal = browser.send(Method::POST, "/api/terminals", None).await.json::<Value>().await.unwrap();
    let path = format!("/terminals/websocket/{}", terminal["name"].as_str().unwrap());
    let mut socket = browser.connect(&path).await;
    socket.send(Message::text(json!(["stdin", "echo $((6 * 7))-seen\r"]).to_string())).await.unwrap();
    let seen = in_time(async {
        let mut output = String::new();
        while !output.contains("42-seen") {
            output.push_str(socket.next().await.unwrap().unwrap().to_text().unwrap());
        }
        output
    });
    seen.await;
    fleet.stop().await;
}
