//! Tests of the token that keeps other users of the machine away from an app, and of the gateway's login with the
//! token.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;

use http::StatusCode;
use http::header::{AUTHORIZATION, COOKIE, HOST};
use launcher_fleet::Fleet;
use launcher_workshop::{Phase, Workshop};
use serde_json::Value;

use crate::gateway::{get, listen};
use crate::launcher_process::{Launcher, done, role};
use crate::support::{Home, OWNER, custom, in_time, wait_for};

/// Configures a small program that requires a token, in place of JupyterLab.
fn with_token_app(mut home: Home) -> Home {
    let program = home.path().join("token-app");
    if !program.exists() {
        fs::write(&program, include_str!("token_app.py")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
    }
    home.settings.programs.local_jupyter = program;
    home
}

fn notebook(args: &[&str]) -> Workshop {
    let mut workshop = custom("lab-a", &[]);
    workshop.spec.app_type = "notebook".to_owned();
    workshop.spec.args = args.iter().map(|argument| (*argument).to_owned()).collect();
    // A template that was written for a cluster may set this variable. The launcher adds its own directory before this
    // one.
    workshop.spec.env.insert("JUPYTER_CONFIG_PATH".to_owned(), "/etc/jupyter-of-the-image".to_owned());
    workshop
}

/// Returns the process in the stored record of the Workshop.
fn process(home: &Home) -> Value {
    let record: Value = serde_json::from_slice(&fs::read(home.record("lab-a").join("state.json")).unwrap()).unwrap();
    record["process"].clone()
}

/// Requests the app directly and not through the gateway, as any other user of this machine can.
async fn past_the_gateway(home: &Home) -> StatusCode {
    let port = process(home)["port"].as_u64().unwrap();
    in_time(reqwest::get(format!("http://127.0.0.1:{port}/"))).await.unwrap().status()
}

/// Sends the owner's request through the gateway, with these additional headers.
async fn send(address: SocketAddr, headers: &[(http::HeaderName, &str)]) -> reqwest::Response {
    let request = reqwest::Client::new().get(format!("http://{address}/lab"));
    let request = request.header(HOST, "lab-a.localhost:8000").header("x-auth-request-email", OWNER);
    let request = headers.iter().fold(request, |request, (name, value)| request.header(name, *value));
    in_time(request.send()).await.unwrap()
}

#[tokio::test]
async fn notebook_app_is_reachable_through_gateway_only() {
    let home = with_token_app(Home::new());
    let fleet = home.open();
    let address = listen(&fleet).await;
    fleet.apply(&notebook(&["--ServerApp.token="])).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;

    assert_eq!(past_the_gateway(&home).await, StatusCode::FORBIDDEN);
    assert_eq!(get(address, "lab-a", Some(OWNER)).await.status(), StatusCode::OK);
    assert_eq!(get(address, "lab-a", Some("bob@example.org")).await.status(), StatusCode::FORBIDDEN);
    fleet.stop().await;
}

#[tokio::test]
async fn gateway_adds_its_login_cookie_and_never_the_token() {
    let home = with_token_app(Home::new());
    let fleet = home.open();
    let address = listen(&fleet).await;
    fleet.apply(&notebook(&[])).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;

    let head = send(address, &[]).await.text().await.unwrap();
    assert!(!head.to_ascii_lowercase().contains("authorization"), "{head}");

    let sent = [(COOKIE, "_xsrf=1; jupyter-login=forged"), (COOKIE, "a=b"), (AUTHORIZATION, "Bearer of-the-client")];
    let answer = send(address, &sent).await;
    assert_eq!(answer.status(), StatusCode::OK);
    assert!(!answer.headers().contains_key("set-cookie"), "the browser does not learn the cookie");
    let head = answer.text().await.unwrap().to_ascii_lowercase();
    assert!(head.contains("cookie: _xsrf=1; a=b; jupyter-login=\"2|1:0|signed=\"\n"), "{head}");
    assert!(head.contains("authorization: bearer of-the-client\n"), "{head}");
    fleet.stop().await;
}

#[tokio::test]
async fn token_is_in_no_command_line_and_in_private_files_only() {
    let home = with_token_app(Home::new());
    let fleet = home.open();
    fleet.apply(&notebook(&[])).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    let token = process(&home)["token"].as_str().unwrap().to_owned();
    assert_eq!(token.len(), 64);

    for process in home.processes() {
        for (file, of_whom) in [("cmdline", "the app"), ("environ", "the app and all that it starts")] {
            let content = fs::read(format!("/proc/{process}/{file}")).unwrap();
            assert!(!String::from_utf8_lossy(&content).contains(&token), "{file} of {of_whom}");
        }
    }
    for file in ["state.json", "app/login/jupyter_server_config.json"] {
        let path = home.record("lab-a").join(file);
        assert!(fs::read_to_string(&path).unwrap().contains(&token), "{file}");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{file}");
    }
    fleet.stop().await;
}

#[tokio::test]
async fn each_app_start_has_a_new_token() {
    let home = with_token_app(Home::new());
    let fleet = home.open();
    fleet.apply(&notebook(&[])).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    let before = process(&home)["token"].clone();
    fleet.stop().await;
    drop(fleet);

    let fleet = home.open();
    let address = listen(&fleet).await;

    wait_for(&fleet, "lab-a", Phase::Running).await;
    assert_ne!(process(&home)["token"], before);
    assert_eq!(send(address, &[]).await.status(), StatusCode::OK);
    fleet.stop().await;
}

#[tokio::test]
async fn adopted_app_keeps_its_token() {
    if let Some(home) = role() {
        let home = with_token_app(home);
        let fleet = home.open();
        fleet.apply(&notebook(&[])).await.unwrap();
        wait_for(&fleet, "lab-a", Phase::Running).await;
        done(&home).await;
    }
    let home = with_token_app(Home::new());
    Launcher::start(&home, "tokens::adopted_app_keeps_its_token").await.kill();
    let before = process(&home);

    let fleet = home.open();
    let address = listen(&fleet).await;

    wait_for(&fleet, "lab-a", Phase::Running).await;
    assert_eq!(process(&home), before, "it is the same process");
    assert_eq!(send(address, &[]).await.status(), StatusCode::OK);
    assert_eq!(past_the_gateway(&home).await, StatusCode::FORBIDDEN);
    fleet.stop().await;
}

#[tokio::test]
async fn app_started_without_token_keeps_running_after_adoption() {
    if let Some(home) = role() {
        let home = with_token_app(home);
        let fleet = home.open();
        fleet.apply(&notebook(&[])).await.unwrap();
        wait_for(&fleet, "lab-a", Phase::Running).await;
        done(&home).await;
    }
    let home = with_token_app(Home::new());
    Launcher::start(&home, "tokens::app_started_without_token_keeps_running_after_adoption").await.kill();
    // Remove the token from the record, because earlier launcher versions recorded none.
    let path = home.record("lab-a").join("state.json");
    let mut record: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert!(record["process"].as_object_mut().unwrap().remove("token").is_some());
    fs::write(&path, record.to_string()).unwrap();

    let fleet = home.open();
    let address = listen(&fleet).await;

    wait_for(&fleet, "lab-a", Phase::Running).await;
    let head = send(address, &[(COOKIE, "a=b")]).await.text().await.unwrap().to_ascii_lowercase();
    assert!(head.contains("cookie: a=b\n"), "the request goes through as it is: {head}");
    fleet.stop().await;
}

#[tokio::test]
async fn notebook_with_token_in_template_gets_no_token_from_launcher() {
    let home = with_token_app(Home::new());
    let fleet = home.open();
    let mut workshop = notebook(&["--IdentityProvider.token=of-the-template"]);
    // The launcher sets this variable only if it gives the app a token. Without the variable this test app exits at
    // once.
    workshop.spec.env.remove("JUPYTER_CONFIG_PATH");
    fleet.apply(&workshop).await.unwrap();

    let failed = wait_for(&fleet, "lab-a", Phase::Failed).await.status.unwrap();

    assert!(failed.report.log_tail.unwrap_or_default().contains("JUPYTER_CONFIG_PATH"));
    fleet.stop().await;
}
