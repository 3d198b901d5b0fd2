//! Tests that the gateway never forwards the owner's requests to another program that took the app's port.

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;

use http::StatusCode;
use launcher_fleet::Fleet;
use launcher_workshop::Phase;
use tokio::io::AsyncWriteExt;
use tokio::task::JoinHandle;

use crate::gateway::{get, listen};
use crate::launcher_process::{Launcher, done, role};
use crate::support::{Home, NONE, OWNER, custom, eventually, script, wait_for};

const FOREIGN: &str = "somebody else's app";

/// A foreign program on a port, which answers every connection at once.
struct Foreign(JoinHandle<()>);

impl Foreign {
    fn at(port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        Self(tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let head = format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}", FOREIGN.len());
                let _ = stream.write_all(format!("{head}\r\n\r\n{FOREIGN}").as_bytes()).await;
            }
        }))
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Returns the ports of an app's successive starts. The app appends each port to the file `ports`.
fn ports(home: &Home, name: &str) -> Vec<u16> {
    let text = fs::read_to_string(home.working(name).join("ports")).unwrap_or_default();
    // Ignore an incomplete line, which the app is still writing.
    let complete = text.rfind('\n').map_or("", |end| &text[..end]);
    complete.lines().map(|line| line.parse().unwrap()).collect()
}

async fn next_port(home: &Home, name: &str, known: usize) -> u16 {
    eventually("the app is given a port", || ports(home, name).len() > known).await;
    ports(home, name)[known]
}

#[tokio::test]
async fn app_with_taken_port_restarts_on_other_port() {
    let home = Home::new();
    let fleet = home.open();
    let address = listen(&fleet).await;
    let slow = "echo \"$PORT\" >> ports; if [ \"$(wc -l < ports)\" -eq 1 ]; then exec sleep 1000; fi; \
        exec python3 -m http.server \"$PORT\" --bind 127.0.0.1";
    fleet.apply(&script("lab-a", slow)).await.unwrap();
    let _foreign = Foreign::at(next_port(&home, "lab-a", 0).await);

    wait_for(&fleet, "lab-a", Phase::Running).await;

    let given = ports(&home, "lab-a");
    assert_eq!(given.len(), 2);
    assert_ne!(given[0], given[1]);
    let page = get(address, "lab-a", Some(OWNER)).await;
    assert_eq!(page.status(), StatusCode::OK);
    assert!(!page.text().await.unwrap().contains(FOREIGN));
    fleet.stop().await;
}

#[tokio::test]
async fn app_that_exits_because_of_taken_port_restarts_on_other_port() {
    let home = Home::new();
    let fleet = home.open();
    // JupyterLab prints this message if its port is taken. Other programs print other messages, so the fleet must not
    // parse it.
    let text = "echo \"$PORT\" >> ports; if [ \"$(wc -l < ports)\" -eq 1 ]; then \
        while [ ! -e go ]; do sleep 0.01; done; echo \"The port $PORT is already in use.\" >&2; exit 1; fi; \
        exec python3 -m http.server \"$PORT\" --bind 127.0.0.1";
    fleet.apply(&script("lab-a", text)).await.unwrap();
    // This foreign listener takes the port and never answers.
    let _silent = TcpListener::bind(("127.0.0.1", next_port(&home, "lab-a", 0).await)).unwrap();
    fs::write(home.working("lab-a").join("go"), "").unwrap();

    wait_for(&fleet, "lab-a", Phase::Running).await;

    assert_eq!(ports(&home, "lab-a").len(), 2);
    fleet.stop().await;
}

#[tokio::test]
async fn workshop_fails_after_three_taken_ports() {
    let home = Home::new();
    let fleet = home.open();
    fleet.apply(&script("lab-a", "echo \"$PORT\" >> ports; exec sleep 1000")).await.unwrap();
    let mut foreign = Vec::new();
    for known in 0..3 {
        foreign.push(Foreign::at(next_port(&home, "lab-a", known).await));
    }

    let failed = wait_for(&fleet, "lab-a", Phase::Failed).await.status.unwrap();

    assert_eq!(failed.reason.as_deref(), Some("unschedulable"));
    assert!(failed.message.as_ref().unwrap().contains("ports"), "{failed:?}");
    assert_eq!(ports(&home, "lab-a").len(), 3, "the fleet tries three ports, and then gives up");
    assert_eq!(home.processes(), NONE);
    fleet.stop().await;
}

/// Program that serves its directory. At its first start it closes its port when a file `drop` appears, and keeps
/// running.
const DROPS_ITS_PORT: &str = "
import http.server, os, threading, time
first = not os.path.exists('ports')
server = http.server.ThreadingHTTPServer(('127.0.0.1', int(os.environ['PORT'])), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(os.environ['PORT'], file=open('ports', 'a'))
while not (first and os.path.exists('drop')):
    time.sleep(0.02)  # pacing: a poll loop
server.shutdown()
server.server_close()
open('dropped', 'w')
time.sleep(1000)  # pacing: an app that hangs
";

#[tokio::test]
async fn adopted_app_that_lost_its_port_exposes_no_foreign_program() {
    if let Some(home) = role() {
        let fleet = home.open();
        fleet.apply(&custom("lab-a", &["python3", "-c", DROPS_ITS_PORT])).await.unwrap();
        wait_for(&fleet, "lab-a", Phase::Running).await;
        done(&home).await;
    }
    let home = Home::new();
    let test = "ports::adopted_app_that_lost_its_port_exposes_no_foreign_program";
    Launcher::start(&home, test).await.kill();
    let file = |name: &str| -> PathBuf { home.working("lab-a").join(name) };
    fs::write(file("drop"), "").unwrap();
    eventually("the app to close its port", || file("dropped").exists()).await;
    let _foreign = Foreign::at(ports(&home, "lab-a")[0]);

    let fleet = home.open();

    let address = listen(&fleet).await;
    let status = fleet.get("lab-a").await.unwrap().unwrap().status.unwrap();
    assert_eq!((status.phase, status.report.url), (Phase::Starting, None));
    assert!(status.ready_at.is_some(), "the lifetime is not restarted");
    let page = get(address, "lab-a", Some(OWNER)).await;
    assert!(!page.text().await.unwrap().contains(FOREIGN));
    wait_for(&fleet, "lab-a", Phase::Running).await;
    assert_eq!(ports(&home, "lab-a").len(), 2, "it was started again on another port");
    let page = get(address, "lab-a", Some(OWNER)).await;
    assert_eq!(page.status(), StatusCode::OK);
    assert!(!page.text().await.unwrap().contains(FOREIGN));
    fleet.stop().await;
}
