//! A workshop with kept files on the local fleet: suspended, killed with its launcher, and resumed.

use std::fs;
use std::path::Path;

use launcher_testkit::eventually;
use reqwest::{Client, Method};
use serde_json::{Value, json};

use crate::serving::Serving;

/// Appends a line to a file of the volume at each start, then serves the volume's files.
const APP: &str = "echo started >> starts; exec python3 -m http.server \"$PORT\" --bind 127.0.0.1";
const PATH: (&str, &str) = ("PATH", "/usr/local/bin:/usr/bin:/bin");
/// The test reads the log only at the end. A log line per request would fill its pipe, and stop the launcher.
const QUIET: (&str, &str) = ("SERVICE_LOG", "warn");

async fn ask(serving: &Serving, method: Method, path: &str, body: &Value) -> Value {
    let request = Client::new().request(method, serving.api(path)).header("X-Auth-Request-Email", "admin@example.org");
    request.json(body).send().await.unwrap().error_for_status().unwrap().json().await.unwrap()
}

async fn until(serving: &Serving, name: &str, state: &str) -> Value {
    eventually(async || {
        let row = ask(serving, Method::GET, &format!("/instances/{name}"), &json!({})).await;
        assert_ne!(row["state"], "failed", "{row}");
        (row["state"] == state).then_some(row)
    })
    .await
}

/// Returns the lines of the file `starts` in the only volume.
fn starts(data: &Path) -> usize {
    let volumes: Vec<_> = fs::read_dir(data.join("volumes")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(volumes.len(), 1, "{volumes:?}");
    fs::read_to_string(volumes[0].join("starts")).unwrap().lines().count()
}

#[tokio::test(flavor = "multi_thread")]
async fn suspended_workshop_is_resumed_with_its_files_also_by_the_next_launcher() {
    let data = tempfile::tempdir().unwrap();
    let mut serving = Serving::start_with(data.path(), &[PATH, QUIET]);
    let template = json!({ "name": "Web", "app_type": "custom", "image": "web", "port": 8000,
        "command": ["sh", "-c", APP], "storage": { "kind": "kept", "path": "/work" } });
    let template = ask(&serving, Method::POST, "/templates/", &template).await;
    let launch = format!("/templates/{}/launch", template["template_id"].as_str().unwrap());
    let launched = ask(&serving, Method::POST, &launch, &json!({})).await;
    let name = launched["k8s_name"].as_str().unwrap();
    let before = until(&serving, name, "running").await;
    let (suspend, resume) = (format!("/instances/{name}/suspend"), format!("/instances/{name}/resume"));
    assert_eq!(starts(data.path()), 1);

    ask(&serving, Method::POST, &suspend, &json!({})).await;
    until(&serving, name, "suspended").await;
    ask(&serving, Method::POST, &resume, &json!({})).await;
    let after = until(&serving, name, "running").await;
    assert_eq!((&after["url"], &after["volume"]), (&before["url"], &before["volume"]));
    assert_eq!(starts(data.path()), 2, "the file from before the suspension is there");
    // The launcher counts a change after its transaction.
    let counted =
        ["suspended\"} 1\n", "running\"} 2\n"].map(|end| format!("launcher_transitions_total{{state=\"{end}"));
    eventually(async || {
        let metrics = serving.get(serving.telemetry(), "/metrics", "");
        counted.iter().all(|line| metrics.contains(line)).then_some(())
    })
    .await;

    // The launcher is killed right after each answer.
    ask(&serving, Method::POST, &suspend, &json!({})).await;
    drop(serving);
    serving = Serving::start_with(data.path(), &[PATH, QUIET]);
    until(&serving, name, "suspended").await;
    ask(&serving, Method::POST, &resume, &json!({})).await;
    drop(serving);
    serving = Serving::start_with(data.path(), &[PATH, QUIET]);
    until(&serving, name, "running").await;
    assert_eq!(starts(data.path()), 3);

    ask(&serving, Method::DELETE, &format!("/instances/{name}"), &json!({})).await;
    until(&serving, name, "terminated").await;
    let (code, log) = serving.stop();
    assert_eq!(code, Some(0), "{log}");
}
