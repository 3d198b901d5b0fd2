//! The address of a workshop that does not run: its owner learns why, and every other caller gets the same bytes as at an
//! address without a workshop.

use std::io::{Read, Write};
use std::net::TcpStream;

use launcher_testkit::eventually;
use reqwest::{Client, Method};
use serde_json::{Value, json};

use crate::serving::Serving;

const PATH: (&str, &str) = ("PATH", "/usr/local/bin:/usr/bin:/bin");
/// The test reads the log only at the end. A log line per request would fill its pipe, and stop the launcher.
const QUIET: (&str, &str) = ("SERVICE_LOG", "warn");
const ALICE: &str = "alice@example.org";
const ADMIN: &str = "admin@example.org";

async fn ask(serving: &Serving, who: &str, method: Method, path: &str, body: &Value) -> Value {
    let request = Client::new().request(method, serving.api(path)).header("X-Auth-Request-Email", who);
    request.json(body).send().await.unwrap().error_for_status().unwrap().json().await.unwrap()
}

/// Creates a template with this command, and launches it as Alice. Returns the name of the instance.
async fn launch(serving: &Serving, command: &str) -> String {
    launch_with(serving, command, &[]).await
}

/// Like [`launch`], with these further fields of the template.
async fn launch_with(serving: &Serving, command: &str, fields: &[(&str, Value)]) -> String {
    let mut template = json!({ "name": "Maps & \"graphs\"", "app_type": "custom", "image": "web", "port": 8000,
        "command": ["sh", "-c", command] });
    for (name, value) in fields {
        template[*name] = value.clone();
    }
    let template = ask(serving, ADMIN, Method::POST, "/templates/", &template).await;
    let launch = format!("/templates/{}/launch", template["template_id"].as_str().unwrap());
    ask(serving, ALICE, Method::POST, &launch, &json!({})).await["k8s_name"].as_str().unwrap().to_owned()
}

async fn until(serving: &Serving, name: &str, state: &str) {
    eventually(async || {
        let row = ask(serving, ALICE, Method::GET, &format!("/instances/{name}"), &json!({})).await;
        (row["state"] == state).then_some(())
    })
    .await;
}

/// Sends a request to the origin of a workshop. Returns the whole response, except the time.
fn visit(serving: &Serving, name: &str, path: &str, lines: &str) -> String {
    let mut stream = TcpStream::connect(serving.listen()).unwrap();
    let host = format!("{name}.localhost:{}", serving.listen().port());
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{lines}\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split_inclusive("\r\n").filter(|line| !line.to_ascii_lowercase().starts_with("date:")).collect()
}

fn explanation(serving: &Serving, name: &str) -> (String, Value) {
    answer_to_alice(serving, name, "/_launcher/status")
}

fn answer_to_alice(serving: &Serving, name: &str, path: &str) -> (String, Value) {
    let lines = format!("X-Auth-Request-Email: {ALICE}\r\nAccept: application/json\r\nAccept-Language: en\r\n");
    let answer = visit(serving, name, path, &lines);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), serde_json::from_str(body).unwrap())
}

/// Path at which the launcher itself answers about a workshop, also on a cluster.
fn of_launcher(name: &str) -> String {
    format!("/_launcher/class/{name}/stopped")
}

fn labels(told: &Value) -> Vec<&str> {
    told["links"].as_array().unwrap().iter().map(|link| link["label"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn only_owner_learns_why_a_workshop_does_not_run() {
    let data = tempfile::tempdir().unwrap();
    let serving = Serving::start_with(data.path(), &[PATH, QUIET]);
    let serves = "exec python3 -m http.server \"$PORT\" --bind 127.0.0.1";
    let (name, failed) = (launch(&serving, serves).await, launch(&serving, "exit 3").await);
    until(&serving, &name, "running").await;
    until(&serving, &failed, "failed").await;
    let owner = format!("X-Auth-Request-Email: {ALICE}\r\n");
    assert!(visit(&serving, &name, "/", &owner).starts_with("HTTP/1.1 200 "));

    ask(&serving, ADMIN, Method::DELETE, &format!("/instances/{name}"), &json!({})).await;
    until(&serving, &name, "terminated").await;

    let page = visit(&serving, &name, "/lab", &format!("{owner}Accept: text/html\r\nAccept-Language: en\r\n"));
    let origin = format!("http://localhost:{}", serving.listen().port());
    for part in [
        "HTTP/1.1 404 ",
        "<h1>No workshop here now</h1>",
        "<p>An admin ended “Maps &amp; &quot;graphs&quot;”.</p>",
        "<p>It ended at 2",
        "<p>The files of this workshop are deleted.</p>",
        &format!("<a href=\"{origin}/instances/{name}\" target=\"_top\">Open its page</a>"),
        &format!("<a href=\"{origin}/launch/"),
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
    assert!(!page.contains(ADMIN), "{page}");
    let (head, told) = explanation(&serving, &name);
    assert!(head.starts_with("HTTP/1.1 404 ") && head.contains("content-type: application/json"), "{head}");
    assert_eq!((&told["state"], &told["title"]), (&json!("terminated"), &json!("No workshop here now")));
    assert_eq!(told["paragraphs"][1]["text"], "It ended at {time}.");
    assert!(told["paragraphs"][1]["time"].is_string(), "{told}");
    assert_eq!(told["links"][0]["label"], "Launch again");
    let (head, same) = answer_to_alice(&serving, &name, &of_launcher(&name));
    assert!(head.starts_with("HTTP/1.1 200 ") && head.contains("content-type: application/json"), "{head}");
    assert_eq!(same, told);
    let german = visit(&serving, &name, "/", &format!("{owner}Accept: text/html\r\nCookie: language=de\r\n"));
    assert!(german.contains("<html lang=\"de\""), "{german}");
    let script = visit(&serving, &name, "/api/kernels", &format!("{owner}Accept: application/json\r\n"));
    assert!(script.starts_with("HTTP/1.1 403 "), "requests of the app's scripts get no explanation: {script}");

    let (_, told) = explanation(&serving, &failed);
    assert_eq!(told["state"], "failed");
    assert!(told.to_string().contains("It ended with status 3."), "{told}");

    let never = format!("{}abcdefghij", &name[..name.len() - 10]);
    let anonymous = String::new();
    let others = [
        anonymous,
        "X-Auth-Request-Email: bob@example.org\r\n".to_owned(),
        format!("X-Auth-Request-Email: {ADMIN}\r\n"),
    ];
    for who in others {
        for (path, accept) in
            [("/", "text/html"), ("/_launcher/status", "application/json"), ("/_launcher/frame", "*/*")]
        {
            let lines = format!("{who}Accept: {accept}\r\nAccept-Language: fr\r\n");
            // The answer depends on the name alone. All names have the same length.
            let at = |name: &str| visit(&serving, name, path, &lines).replace(name, "NAME");
            let missing = at(&never);
            assert!(missing.starts_with("HTTP/1.1 403 "), "{missing}");
            assert_eq!(
                missing.contains(&format!("{origin}/instances/NAME")),
                accept != "application/json",
                "{missing}"
            );
            for stopped in [&name, &failed] {
                assert_eq!(at(stopped), missing, "{who} {path}");
            }
        }
    }
    for who in ["bob@example.org", ADMIN] {
        for name in [&never, &name, &failed] {
            let answer = visit(&serving, name, &of_launcher(name), &format!("X-Auth-Request-Email: {who}\r\n"));
            assert!(answer.starts_with("HTTP/1.1 404 ") && !answer.contains("graphs"), "{who}: {answer}");
        }
    }
    let (code, log) = serving.stop();
    assert_eq!(code, Some(0), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn paused_workshop_offers_its_resume_first() {
    let data = tempfile::tempdir().unwrap();
    let serving = Serving::start_with(data.path(), &[PATH, QUIET]);
    let serves = "exec python3 -m http.server \"$PORT\" --bind 127.0.0.1";
    let storage = ("storage", json!({ "kind": "kept", "path": "/work" }));
    let name = launch_with(&serving, serves, &[storage]).await;
    until(&serving, &name, "running").await;
    ask(&serving, ALICE, Method::POST, &format!("/instances/{name}/suspend"), &json!({})).await;
    until(&serving, &name, "suspended").await;
    let (head, told) = explanation(&serving, &name);
    assert!(head.starts_with("HTTP/1.1 404 "), "{head}");
    assert_eq!(told["state"], "suspended");
    let texts: Vec<_> = told["paragraphs"].as_array().unwrap().iter().map(|paragraph| &paragraph["text"]).collect();
    let files = "A paused workshop has your saved files. Resume it to continue, or end it.";
    assert_eq!(texts, ["“Maps & \"graphs\"” is paused.", files]);
    assert_eq!(labels(&told), ["Resume", "Download", "Saved work"]);
    let page_of_workshop = format!("http://localhost:{}/instances/{name}", serving.listen().port());
    assert_eq!(told["links"][0]["url"], page_of_workshop);
    let lines = format!("X-Auth-Request-Email: {ALICE}\r\nAccept: text/html\r\nAccept-Language: en\r\n");
    let page = visit(&serving, &name, "/lab", &lines);
    let resume = format!("<a href=\"{page_of_workshop}\" target=\"_top\">Resume</a>");
    assert!(page.starts_with("HTTP/1.1 404 ") && page.contains(&resume), "{page}");
    let saved = download(&serving, &told).await;
    assert!(saved.starts_with(&GZIP), "{saved:?}");
    let (code, log) = serving.stop();
    assert_eq!(code, Some(0), "{log}");
}

/// First bytes of a compressed archive.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Follows the link *Download* as Alice.
async fn download(serving: &Serving, told: &Value) -> Vec<u8> {
    let links = told["links"].as_array().unwrap();
    let link = links.iter().find(|link| link["label"] == "Download").unwrap();
    let client = Client::builder().resolve("localhost", serving.listen()).build().unwrap();
    let request = client.get(link["url"].as_str().unwrap()).header("X-Auth-Request-Email", ALICE);
    request.send().await.unwrap().error_for_status().unwrap().bytes().await.unwrap().to_vec()
}

#[tokio::test(flavor = "multi_thread")]
async fn ended_workshop_offers_a_launch_with_its_saved_files_first() {
    let data = tempfile::tempdir().unwrap();
    let store = data.path().join("store").display().to_string();
    let serving = Serving::start_with(data.path(), &[PATH, QUIET, ("SERVICE_SNAPSHOT_STORE", &store)]);
    let name = launch(&serving, "echo kept > notes.txt; exec python3 -m http.server \"$PORT\" --bind 127.0.0.1").await;
    until(&serving, &name, "running").await;
    ask(&serving, ALICE, Method::DELETE, &format!("/instances/{name}"), &json!({})).await;
    until(&serving, &name, "terminated").await;
    let (_, told) = explanation(&serving, &name);
    assert_eq!(told["paragraphs"][2]["text"], "Your files are saved until {time}.", "{told}");
    assert_eq!(labels(&told), ["Launch with these files", "Launch again", "Download", "Saved work", "Open its page"]);
    assert!(download(&serving, &told).await.starts_with(&GZIP));
    let saved = ask(&serving, ALICE, Method::GET, "/snapshots/", &json!({})).await;
    let query = format!("?snapshot={}", saved[0]["snapshot_id"].as_str().unwrap());
    assert!(told["links"][0]["url"].as_str().unwrap().ends_with(&query), "{told}");
    let (code, log) = serving.stop();
    assert_eq!(code, Some(0), "{log}");
}
