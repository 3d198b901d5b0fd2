//! A real JupyterLab behind the gateway, as its owner's browser uses it. TEST_JUPYTER names its program.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

#[path = "../local/support.rs"]
#[expect(dead_code, reason = "shared with the tests of small programs")]
mod support;

use std::net::SocketAddr;

use futures_util::{SinkExt, StreamExt};
use http::header::{COOKIE, HOST, SET_COOKIE};
use http::{HeaderMap, Method, StatusCode};
use launcher_fleet::{Fleet, LocalFleet};
use launcher_process::serve::serve_http;
use launcher_process::stop::Stop;
use launcher_workshop::{Phase, Workshop};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use support::{Home, NONE, OWNER, custom, in_time, wait_for, wait_until_gone};

const HOSTNAME: &str = "lab-a.localhost:8000";

fn home() -> Home {
    let mut home = Home::new();
    home.settings.jupyter =
        std::env::var_os("TEST_JUPYTER").expect("TEST_JUPYTER names the program jupyter-lab").into();
    home
}

/// As a template for a cluster may say it: an address and a port of the image's, and an option of JupyterLab.
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
    tokio::spawn(serve_http(listener, Stop::new(), move |request, peer| {
        let gateway = gateway.clone();
        async move { gateway.serve("lab-a", request, Some(peer.ip())).await }
    }));
    address
}

/// What a browser sends of itself.
struct Browser {
    address: SocketAddr,
    headers: HeaderMap,
}

impl Browser {
    /// Opens the page and keeps its cookies.
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

    /// Runs code in a kernel and returns its result as text.
    async fn run(&self, kernel: &str, code: &str) -> String {
        let mut request = format!("ws://{HOSTNAME}/api/kernels/{kernel}/channels").into_client_request().unwrap();
        for name in ["x-auth-request-email", "origin", "cookie"] {
            request.headers_mut().insert(name, self.headers[name].clone());
        }
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (mut socket, _) = in_time(tokio_tungstenite::client_async(request, stream)).await.unwrap();
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
async fn the_owner_computes_in_jupyterlab() {
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

    // The kernel is in a session of its own, and ends all the same.
    assert!(home.processes().len() >= 2);
    fleet.delete("lab-a", None).await.unwrap();
    wait_until_gone(&fleet, "lab-a").await;
    assert_eq!(home.processes(), NONE);
    fleet.stop().await;
}

#[tokio::test]
async fn a_host_that_is_not_the_workshops_is_refused_by_jupyter_itself() {
    let home = home();
    let fleet = home.open();
    let address = listen(&fleet).await;
    fleet.apply(&notebook()).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;

    let mut browser = Browser::open(address).await;
    browser.headers.insert(HOST, "rebound.example.org".parse().unwrap());
    browser.headers.remove("origin");

    assert_eq!(browser.send(Method::GET, "/api/contents", None).await.status(), StatusCode::FORBIDDEN);
    fleet.stop().await;
}
