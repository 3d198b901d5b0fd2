//! Tests that the status of a failed Workshop explains the failure.

use launcher_domain::StartStep;
use launcher_fleet::Fleet;
use launcher_workshop::{Phase, Workshop, WorkshopStatus};

use crate::launcher_process::{Launcher, done, role};
use crate::support::{
    Home, LONG_START, NONE, advance, advance_until_listening_elsewhere, crash, custom, eventually, has_ended, kill,
    script, wait_for,
};

async fn failure(home: &Home, workshop: &Workshop) -> WorkshopStatus {
    let fleet = home.open();
    fleet.apply(workshop).await.unwrap();
    let failed = wait_for(&fleet, workshop.metadata.name.as_deref().unwrap(), Phase::Failed).await;
    assert_eq!(home.processes(), NONE, "no process may run after the Workshop is reported as failed");
    fleet.stop().await;
    failed.status.unwrap()
}

#[tokio::test]
async fn crash_is_reported_with_exit_status_and_log_tail() {
    let home = Home::new();
    let text =
        "for line in $(seq 25); do echo \"line $line\"; done; printf '\\033[1mno licence\\033[0m\\n' >&2; exit 3";

    let status = failure(&home, &script("lab-a", text)).await;

    assert_eq!(status.reason.as_deref(), Some("crashed"));
    assert!(status.message.as_ref().unwrap().contains("status 3"), "{status:?}");
    assert!(status.remedy.is_some());
    let tail = status.report.log_tail.unwrap();
    assert_eq!(tail.lines().count(), 20);
    assert!(tail.starts_with("line 7\n"), "{tail}");
    assert!(tail.ends_with("line 25\nno licence"), "{tail}");
}

#[tokio::test]
async fn app_exit_with_status_0_is_a_failure() {
    let home = Home::new();
    let status = failure(&home, &script("lab-a", "exit 0")).await;
    assert_eq!(status.reason.as_deref(), Some("crashed"));
    assert_eq!(status.message.as_deref(), Some("The workshop's program stopped unexpectedly. It ended with status 0."));
}

#[tokio::test]
async fn crash_of_running_app_terminates_its_descendants() {
    let home = Home::new();
    let fleet = home.open();
    let text = "setsid sleep 1000 & exec python3 -m http.server \"$PORT\" --bind 127.0.0.1";
    fleet.apply(&script("lab-a", text)).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    let former = home.processes();
    let leader = former.iter().find(|pid| command_line(**pid).contains("http.server")).unwrap();

    crash(&home, &fleet, "lab-a", *leader).await;

    assert_eq!((former.len(), home.processes().len()), (2, 2));
    assert!(former.into_iter().all(has_ended));
    fleet.stop().await;
}

/// Script that starts a helper without a marker in the app's process group. Some real programs overwrite their
/// environment and thus have no marker.
const WITH_AN_UNMARKED_HELPER: &str = "env -i sleep 1000 & echo $! > helper; echo $$ > leader; \
    exec python3 -m http.server \"$PORT\" --bind 127.0.0.1";

#[tokio::test]
async fn crash_of_running_app_terminates_unmarked_processes() {
    let home = Home::new();
    let fleet = home.open();
    fleet.apply(&script("lab-a", WITH_AN_UNMARKED_HELPER)).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    let helper = Forgotten(home.noted("lab-a", "helper"));
    assert!(!has_ended(helper.0));

    crash(&home, &fleet, "lab-a", home.noted("lab-a", "leader")).await;

    assert!(has_ended(helper.0));
    let again = Forgotten(home.noted("lab-a", "helper"));
    fleet.stop().await;
    assert!(has_ended(again.0));
}

#[tokio::test]
async fn crash_while_launcher_is_down_terminates_unmarked_processes() {
    if let Some(home) = role() {
        let fleet = home.open();
        fleet.apply(&script("lab-a", WITH_AN_UNMARKED_HELPER)).await.unwrap();
        wait_for(&fleet, "lab-a", Phase::Running).await;
        done(&home).await;
    }
    let home = Home::new();
    Launcher::start(&home, "failures::crash_while_launcher_is_down_terminates_unmarked_processes").await.kill();
    let (helper, leader) = (Forgotten(home.noted("lab-a", "helper")), home.noted("lab-a", "leader"));
    kill(leader);
    eventually("the app is gone", || has_ended(leader)).await;

    let fleet = home.open();

    wait_for(&fleet, "lab-a", Phase::Running).await;
    let again = Forgotten(home.noted("lab-a", "helper"));
    assert_ne!(home.noted("lab-a", "leader"), leader, "it was started again");
    assert!(has_ended(helper.0));
    fleet.stop().await;
    assert!(has_ended(again.0));
}

/// A process without a marker. The drop kills it, because the cleanup of a failed test cannot find it by its marker.
struct Forgotten(i32);

impl Drop for Forgotten {
    fn drop(&mut self) {
        if !has_ended(self.0) {
            kill(self.0);
        }
    }
}

fn command_line(pid: i32) -> String {
    String::from_utf8_lossy(&std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default()).into_owned()
}

#[tokio::test]
async fn unusable_working_directory_is_reported_as_failed_start() {
    let home = Home::new();
    std::fs::create_dir(home.path().join("workshops")).unwrap();
    std::fs::write(home.working("lab-a"), "a file where the directory belongs").unwrap();

    let status = failure(&home, &script("lab-a", "exec sleep 1000")).await;

    assert_eq!(status.reason.as_deref(), Some("crashed"));
    let message = status.message.unwrap();
    assert!(message.starts_with("The workshop could not start: its directories cannot be created"), "{message}");
    assert!(status.remedy.unwrap().contains("administrator"));
}

#[tokio::test]
async fn missing_program_is_reported_with_its_name_and_remedy() {
    let home = Home::new();
    let status = failure(&home, &custom("lab-a", &["no-such-program", "--now"])).await;
    assert_eq!(status.reason.as_deref(), Some("app-not-available"));
    assert!(status.message.unwrap().contains("no-such-program"));
    assert!(status.remedy.unwrap().contains("no-such-program"));
}

#[tokio::test]
async fn missing_jupyterlab_is_reported_with_its_setting() {
    let home = Home::new();
    let mut workshop = custom("lab-a", &[]);
    workshop.spec.app_type = "notebook".to_owned();
    let status = failure(&home, &workshop).await;
    assert_eq!(status.reason.as_deref(), Some("app-not-available"));
    assert!(status.message.unwrap().contains("no-such-jupyter-lab"));
    assert!(status.remedy.unwrap().contains("SERVICE_LOCAL_JUPYTER"));
}

#[tokio::test]
async fn missing_rstudio_is_reported_with_its_setting() {
    let home = Home::new();
    let mut workshop = custom("lab-a", &[]);
    workshop.spec.app_type = "rstudio".to_owned();
    let status = failure(&home, &workshop).await;
    assert_eq!(status.reason.as_deref(), Some("app-not-available"));
    assert!(status.remedy.unwrap().contains("SERVICE_LOCAL_RSTUDIO"));
}

#[tokio::test]
async fn custom_workshop_without_command_is_an_invalid_spec() {
    let home = Home::new();
    let status = failure(&home, &custom("lab-a", &[])).await;
    assert_eq!(status.reason.as_deref(), Some("invalid-spec"));
    assert!(status.remedy.unwrap().contains("command"));
}

/// A script that notes the first connection, which shows that the start timeout runs. Then nothing listens on its port.
const WAITS_FOR_NOTHING: &str = "exec python3 -c '
import os, signal, socket
server = socket.create_server((\"127.0.0.1\", int(os.environ[\"PORT\"])))
print(\"waiting for nothing\", flush=True)
server.accept()
server.close()
open(\"asked\", \"w\").close()
signal.pause()'";

#[tokio::test]
async fn unresponsive_app_fails_after_start_timeout() {
    let mut home = Home::new();
    home.settings.machine.start_timeout = LONG_START;
    let fleet = home.open();
    fleet.apply(&script("lab-a", WAITS_FOR_NOTHING)).await.unwrap();
    eventually("the fleet asks the app", || home.working("lab-a").join("asked").exists()).await;

    advance(LONG_START).await;

    let status = wait_for(&fleet, "lab-a", Phase::Failed).await.status.unwrap();
    assert_eq!(home.processes(), NONE, "no process may run after the Workshop is reported as failed");
    fleet.stop().await;
    assert_eq!(status.reason.as_deref(), Some("start-timeout"));
    assert_eq!(status.report.log_tail.as_deref(), Some("waiting for nothing"));
}

/// A script that serves HTTP on a free port instead of its own, and then writes the port to a file.
const ELSEWHERE: &str = "exec python3 -c '
import http.server, os
server = http.server.HTTPServer((\"127.0.0.1\", 0), http.server.SimpleHTTPRequestHandler)
with open(\"part\", \"w\") as file: file.write(str(server.server_port))
os.rename(\"part\", \"port\")
server.serve_forever()'";

#[tokio::test]
async fn starting_app_that_listens_elsewhere_is_reported() {
    let mut home = Home::new();
    home.settings.machine.start_timeout = LONG_START;
    let fleet = home.open();
    fleet.apply(&script("lab-a", ELSEWHERE)).await.unwrap();
    eventually("the app listens", || home.working("lab-a").join("port").exists()).await;
    let address = format!("127.0.0.1:{}", home.noted("lab-a", "port"));
    let early = fleet.get("lab-a").await.unwrap().unwrap().status.unwrap();
    assert_eq!(early.report.listens_elsewhere, None, "the app may still open its port");

    let status = advance_until_listening_elsewhere(&fleet, "lab-a").await;

    let elsewhere = status.report.listens_elsewhere.unwrap();
    assert_eq!((status.phase, status.report.start_step), (Phase::Starting, Some(StartStep::StartingApp)));
    assert_eq!(elsewhere.addresses, [address.parse().unwrap()], "only the sockets of the app count");
    assert_ne!(elsewhere.expected().to_string(), address);
    fleet.stop().await;
}

#[tokio::test]
async fn start_timeout_says_on_which_address_the_app_listens() {
    let mut home = Home::new();
    home.settings.machine.start_timeout = LONG_START;
    let fleet = home.open();
    fleet.apply(&script("lab-a", ELSEWHERE)).await.unwrap();
    eventually("the app listens", || home.working("lab-a").join("port").exists()).await;

    advance_until_listening_elsewhere(&fleet, "lab-a").await;

    advance(LONG_START).await;

    let status = wait_for(&fleet, "lab-a", Phase::Failed).await.status.unwrap();
    let listens = format!("The app listens on 127.0.0.1:{}, expected 127.0.0.1:", home.noted("lab-a", "port"));
    assert!(status.message.as_ref().unwrap().contains(&listens), "{status:?}");
    assert_eq!((status.reason.as_deref(), status.retryable), (Some("start-timeout"), Some(false)));
    assert!(status.remedy.unwrap().contains("$(PORT)"));
    fleet.stop().await;
}
