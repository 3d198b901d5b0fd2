//! Tests of apps that crash after they were ready: the fleet starts them again in place, but not for ever.

use std::fs;

use http::StatusCode;
use launcher_domain::{Crash, FailureCode};
use launcher_fleet::Fleet;
use launcher_workshop::{Phase, Workshop};

use crate::gateway::{get, listen};
use crate::support::{Home, NONE, OWNER, crash, eventually, has_ended, kill, script, wait_for, wait_until_gone};

/// A Workshop whose app serves its working directory. The app writes its PID to `leader`, appends its port to `ports`,
/// and writes only its PID to its log: the server would log each request.
fn noting(name: &str) -> Workshop {
    let server = "exec python3 -m http.server \"$PORT\" --bind 127.0.0.1 >/dev/null 2>&1";
    script(name, &format!("echo $$ | tee leader; echo \"$PORT\" >> ports; {server}"))
}

fn leader(home: &Home) -> i32 {
    home.noted("lab-a", "leader")
}

#[tokio::test]
async fn killed_app_answers_again_with_its_files_at_the_same_url_and_port() {
    let home = Home::new();
    let fleet = home.open();
    let address = listen(&fleet).await;
    fleet.apply(&noting("lab-a")).await.unwrap();
    let before = wait_for(&fleet, "lab-a", Phase::Running).await.status.unwrap();
    assert_eq!(before.report.last_crash, None);
    fs::write(home.working("lab-a").join("notes.txt"), "saved").unwrap();
    assert!(get(address, "lab-a", Some(OWNER)).await.text().await.unwrap().contains("notes.txt"));
    let former = leader(&home);

    let after = crash(&home, &fleet, "lab-a", former).await;

    let page = get(address, "lab-a", Some(OWNER)).await;
    assert_eq!(page.status(), StatusCode::OK);
    assert!(page.text().await.unwrap().contains("notes.txt"));
    assert_eq!(get(address, "lab-a", Some("bob@example.org")).await.status(), StatusCode::FORBIDDEN);
    assert_eq!(
        (&after.report.url, &after.report.frame_url, after.ready_at),
        (&before.report.url, &before.report.frame_url, before.ready_at)
    );
    let Crash { at: _, code, files_lost } = after.report.last_crash.unwrap();
    assert_eq!((code, files_lost), (FailureCode::Crashed, false));
    let ports = fs::read_to_string(home.working("lab-a").join("ports")).unwrap();
    let ports: Vec<&str> = ports.lines().collect();
    assert_eq!((ports.len(), ports[0]), (2, ports[1]));
    assert!(has_ended(former));
    assert_eq!(home.processes(), [leader(&home)]);
    fleet.stop().await;
}

#[tokio::test]
async fn third_crash_within_ten_minutes_fails_with_explanation_of_the_last() {
    let home = Home::new();
    let fleet = home.open();
    fleet.apply(&noting("lab-a")).await.unwrap();
    let running = wait_for(&fleet, "lab-a", Phase::Running).await.status.unwrap();
    for _ in 0..2 {
        crash(&home, &fleet, "lab-a", leader(&home)).await;
    }
    let last = leader(&home);

    kill(last);

    let failed = wait_for(&fleet, "lab-a", Phase::Failed).await.status.unwrap();
    assert_eq!(failed.reason.as_deref(), Some("crashed"));
    assert!(failed.message.as_ref().unwrap().contains("signal 9"), "{failed:?}");
    assert_eq!(failed.report.log_tail, Some(last.to_string()));
    assert_eq!((failed.report.url, failed.ready_at), (None, running.ready_at));
    assert_eq!(home.processes(), NONE);
    fleet.stop().await;
}

#[tokio::test]
async fn app_has_crashed_at_the_exit_of_its_leading_process_even_if_a_child_answers_later() {
    let mut home = Home::new();
    home.settings.machine.stop_grace = std::time::Duration::from_secs(2);
    let fleet = home.open();
    let text = "trap '' TERM; (sleep 0.5; exec python3 -m http.server \"$PORT\" --bind 127.0.0.1) & exit 3";
    fleet.apply(&script("lab-a", text)).await.unwrap();
    let failed = wait_for(&fleet, "lab-a", Phase::Failed).await.status.unwrap();
    assert_eq!((failed.reason.as_deref(), failed.ready_at), (Some("crashed"), None));
    assert_eq!(home.processes(), NONE);
    fleet.stop().await;
}

#[tokio::test]
async fn crashes_ten_minutes_apart_never_fail_the_workshop() {
    let home = Home::new();
    let fleet = home.open();
    fleet.apply(&noting("lab-a")).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    for _ in 0..4 {
        home.clock.advance(600);
        crash(&home, &fleet, "lab-a", leader(&home)).await;
    }
    fleet.stop().await;
}

#[tokio::test]
async fn app_that_crashes_at_each_restart_fails_at_the_third_crash() {
    let home = Home::new();
    let fleet = home.open();
    let text = "echo $$ >> leader; if [ \"$(wc -l < leader)\" -gt 1 ]; then exit 3; fi; \
        exec python3 -m http.server \"$PORT\" --bind 127.0.0.1";
    fleet.apply(&script("lab-a", text)).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;

    kill(leader(&home));

    let failed = wait_for(&fleet, "lab-a", Phase::Failed).await.status.unwrap();
    assert!(failed.message.as_ref().unwrap().contains("status 3"), "{failed:?}");
    assert_eq!(failed.report.last_crash.map(|crash| crash.code), Some(FailureCode::Crashed));
    assert_eq!(fs::read_to_string(home.working("lab-a").join("leader")).unwrap().lines().count(), 3);
    assert_eq!(home.processes(), NONE);
    fleet.stop().await;
}

#[tokio::test]
async fn crashes_count_across_restarts_of_the_launcher() {
    let home = Home::new();
    let fleet = home.open();
    fleet.apply(&noting("lab-a")).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    for _ in 0..2 {
        crash(&home, &fleet, "lab-a", leader(&home)).await;
    }
    fleet.stop().await;
    drop(fleet);

    let fleet = home.open();

    let running = wait_for(&fleet, "lab-a", Phase::Running).await.status.unwrap();
    assert!(running.report.last_crash.is_some());
    kill(leader(&home));
    wait_for(&fleet, "lab-a", Phase::Failed).await;
    fleet.stop().await;
}

#[tokio::test]
async fn workshop_is_deleted_while_its_crashed_app_starts_again() {
    let home = Home::new();
    let fleet = home.open();
    let text = "if [ -e leader ]; then touch again; exec sleep 1000; fi; echo $$ > leader; \
        exec python3 -m http.server \"$PORT\" --bind 127.0.0.1";
    fleet.apply(&script("lab-a", text)).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    kill(leader(&home));
    eventually("the app starts again", || home.working("lab-a").join("again").exists()).await;

    fleet.delete("lab-a", None).await.unwrap();

    wait_until_gone(&fleet, "lab-a").await;
    assert_eq!(home.processes(), NONE);
    assert!(!home.working("lab-a").exists());
    fleet.stop().await;
}
