//! The frame page of workshops of the local fleet, and the pages of workshops that do not run.

use std::net::SocketAddr;

use http::StatusCode;
use http::header::{ACCEPT, ACCEPT_LANGUAGE, CONTENT_TYPE, HOST};
use launcher_fleet::Fleet;
use launcher_workshop::Phase;
use serde_json::{Value, json};

use crate::gateway::{IDENTITY, echo, listen};
use crate::support::{Home, OWNER, crash, in_time, script, wait_for};

async fn get(address: SocketAddr, path: &str, who: &str, lines: &[(http::HeaderName, &str)]) -> reqwest::Response {
    let request = reqwest::Client::new().get(format!("http://{address}{path}"));
    let request = request.header(HOST, "lab-a.localhost:8000").header(IDENTITY, who);
    let request = lines.iter().fold(request, |request, (name, value)| request.header(name, *value));
    in_time(request.send()).await.unwrap()
}

#[tokio::test]
async fn frame_page_shows_extension_at_once_and_only_to_owner() {
    let home = Home::new();
    let fleet = home.open();
    let address = listen(&fleet).await;
    let mut workshop = fleet.apply(&echo("lab-a")).await.unwrap();
    let running = wait_for(&fleet, "lab-a", Phase::Running).await;
    let origin = "http://lab-a.localhost:8000";
    assert_eq!(running.status.unwrap().report.frame_url.unwrap(), format!("{origin}/_launcher/frame"));
    let shown = async || {
        let answer = get(address, "/_launcher/status", OWNER, &[]).await;
        let status: Value = serde_json::from_str(&in_time(answer.text()).await.unwrap()).unwrap();
        status["expires_at"].as_str().map(ToOwned::to_owned)
    };

    assert!(shown().await.is_some(), "the lifetime has begun");
    workshop.spec.expires_at = Some("2999-01-01T00:00:00Z".parse().unwrap());
    fleet.apply(&workshop).await.unwrap();
    assert_eq!(shown().await.as_deref(), Some("2999-01-01T00:00:00Z"));

    let page = get(address, "/_launcher/frame", OWNER, &[]).await;
    assert_eq!(page.status(), StatusCode::OK);
    let page = in_time(page.text()).await.unwrap();
    assert!(page.contains("href=\"http://localhost:8000/instances/lab-a/extend\""), "{page}");
    for path in ["/_launcher/frame", "/_launcher/status"] {
        assert_eq!(get(address, path, "bob@example.org", &[]).await.status(), StatusCode::FORBIDDEN, "{path}");
    }
    fleet.stop().await;
}

#[tokio::test]
async fn frame_page_knows_the_last_crash_of_the_app() {
    let home = Home::new();
    let fleet = home.open();
    let address = listen(&fleet).await;
    let serves = "echo $$ > leader; exec python3 -m http.server \"$PORT\" --bind 127.0.0.1";
    fleet.apply(&script("lab-a", serves)).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    let shown = async || {
        let answer = get(address, "/_launcher/status", OWNER, &[]).await;
        serde_json::from_str::<Value>(&in_time(answer.text()).await.unwrap()).unwrap()["crash"].clone()
    };
    assert_eq!(shown().await, Value::Null);

    let status = crash(&home, &fleet, "lab-a", home.noted("lab-a", "leader")).await;

    let at = status.report.last_crash.unwrap().at.to_string();
    assert_eq!(shown().await, json!({ "at": at, "out_of_memory": false, "files_lost": false }));
    fleet.stop().await;
}

#[tokio::test]
async fn page_of_missing_workshop_has_language_and_format_of_the_client() {
    let home = Home::new();
    let fleet = home.open();
    let address = listen(&fleet).await;

    let page = get(address, "/", OWNER, &[(ACCEPT, "text/html"), (ACCEPT_LANGUAGE, "fr")]).await;
    assert_eq!(page.status(), StatusCode::FORBIDDEN);
    let text = in_time(page.text()).await.unwrap();
    assert!(text.contains("<html lang=\"fr\"") && text.contains("href=\"http://localhost:8000/\""), "{text}");

    let line = get(address, "/", OWNER, &[(ACCEPT, "application/json")]).await;
    assert_eq!(line.status(), StatusCode::FORBIDDEN);
    assert_eq!(line.headers()[CONTENT_TYPE], "text/plain; charset=utf-8");
    fleet.stop().await;
}
