//! Tests of escaped processes: processes that leave their app's process group and clear their environment.

use std::fs;

use launcher_fleet::{Fleet, LocalFleet};
use launcher_workshop::{Phase, Workshop};
use rustix::process::{Pid, Signal, kill_process};

use crate::launcher_process::{Launcher, done, role};
use crate::support::{Home, NONE, crash, eventually, has_ended, kill, script, wait_for, wait_until_gone};

/// A Workshop whose app starts an escaped process, and then serves HTTP. The escaped process has a separate session, an
/// empty environment and no living parent.
///
/// The app writes PIDs to three files: `app` (the app), `keeper` (its parent) and `escaped` (the escaped process).
fn escaping(name: &str) -> Workshop {
    let escape =
        r#"setsid env -i /bin/sh -c '/bin/sleep 1000 & echo $! > "$0.new"; /bin/mv "$0.new" "$0"' "$PWD/escaped""#;
    let serve = r#"exec python3 -m http.server "$PORT" --bind 127.0.0.1"#;
    script(name, &format!("echo $$ > app; echo $PPID > keeper; {escape}; {serve}"))
}

/// Launches an [`escaping`] Workshop and waits until its process has escaped.
async fn launch(home: &Home, fleet: &LocalFleet) {
    fleet.apply(&escaping("lab-a")).await.unwrap();
    wait_for(fleet, "lab-a", Phase::Running).await;
    eventually("a process has escaped", || home.working("lab-a").join("escaped").exists()).await;
}

/// The PIDs of an [`escaping`] Workshop. The drop kills processes that a failed test leaves.
struct Escaped {
    app: i32,
    keeper: i32,
    escaped: i32,
}

impl Escaped {
    fn of(home: &Home) -> Self {
        let number = |file| home.noted("lab-a", file);
        let all = Self { app: number("app"), keeper: number("keeper"), escaped: number("escaped") };
        let environment = fs::read(format!("/proc/{}/environ", all.escaped)).unwrap();
        let environment = String::from_utf8_lossy(&environment);
        assert!(!environment.contains("WORKSHOP_LAUNCHER"), "its environment is cleared: {environment}");
        assert!(!has_ended(all.escaped) && !has_ended(all.keeper));
        all
    }

    fn assert_ended(&self) {
        assert!(has_ended(self.escaped), "the process that escaped still runs");
        assert!(has_ended(self.keeper), "the keeper still runs");
        assert!(has_ended(self.app), "the app still runs");
    }
}

impl Drop for Escaped {
    fn drop(&mut self) {
        for pid in [self.escaped, self.keeper].into_iter().filter(|pid| !has_ended(*pid)) {
            kill(pid);
        }
    }
}

#[tokio::test]
async fn deleted_workshop_leaves_no_escaped_process() {
    let home = Home::new();
    let fleet = home.open();
    launch(&home, &fleet).await;
    let processes = Escaped::of(&home);

    fleet.delete("lab-a", None).await.unwrap();

    wait_until_gone(&fleet, "lab-a").await;
    processes.assert_ended();
    fleet.stop().await;
}

#[tokio::test]
async fn crashed_app_leaves_no_escaped_process() {
    let home = Home::new();
    let fleet = home.open();
    launch(&home, &fleet).await;
    let processes = Escaped::of(&home);

    crash(&home, &fleet, "lab-a", processes.app).await;

    processes.assert_ended();
    let again = Escaped::of(&home);
    fleet.delete("lab-a", None).await.unwrap();
    wait_until_gone(&fleet, "lab-a").await;
    again.assert_ended();
    fleet.stop().await;
}

#[tokio::test]
async fn deleted_workshop_of_killed_launcher_leaves_no_escaped_process() {
    if let Some(home) = role() {
        launch(&home, &home.open()).await;
        done(&home).await;
    }
    let home = Home::new();
    let test = "escapes::deleted_workshop_of_killed_launcher_leaves_no_escaped_process";
    Launcher::start(&home, test).await.kill();
    let processes = Escaped::of(&home);

    let fleet = home.open();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    assert!(!has_ended(processes.escaped), "the processes of an adopted Workshop keep running");
    fleet.delete("lab-a", None).await.unwrap();

    wait_until_gone(&fleet, "lab-a").await;
    processes.assert_ended();
    fleet.stop().await;
}

#[tokio::test]
async fn escaped_process_is_terminated_before_dead_app_restarts() {
    if let Some(home) = role() {
        launch(&home, &home.open()).await;
        done(&home).await;
    }
    let home = Home::new();
    let test = "escapes::escaped_process_is_terminated_before_dead_app_restarts";
    Launcher::start(&home, test).await.kill();
    let processes = Escaped::of(&home);
    kill(processes.app);
    eventually("the app is gone", || has_ended(processes.app)).await;

    let fleet = home.open();

    wait_for(&fleet, "lab-a", Phase::Running).await;
    processes.assert_ended();
    fleet.delete("lab-a", None).await.unwrap();
    wait_until_gone(&fleet, "lab-a").await;
    fleet.stop().await;
}

#[tokio::test]
async fn orphaned_escaped_process_is_terminated_at_launcher_start() {
    if let Some(home) = role() {
        launch(&home, &home.open()).await;
        done(&home).await;
    }
    let home = Home::new();
    let test = "escapes::orphaned_escaped_process_is_terminated_at_launcher_start";
    Launcher::start(&home, test).await.kill();
    let processes = Escaped::of(&home);
    // Only the keeper and the escaped process are left, and no record refers to them.
    kill(processes.app);
    fs::remove_dir_all(home.record("lab-a")).unwrap();

    let fleet = home.open();

    eventually("the remaining keeper process to end", || has_ended(processes.keeper)).await;
    processes.assert_ended();
    fleet.stop().await;
}

#[tokio::test]
async fn keeper_survives_termination_signals() {
    let home = Home::new();
    let fleet = home.open();
    launch(&home, &fleet).await;
    let processes = Escaped::of(&home);
    for signal in [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT] {
        kill_process(Pid::from_raw(processes.keeper).unwrap(), signal).unwrap();
    }

    fleet.delete("lab-a", None).await.unwrap();

    wait_until_gone(&fleet, "lab-a").await;
    processes.assert_ended();
    fleet.stop().await;
}

#[tokio::test]
async fn stopped_keeper_does_not_block_deletion() {
    let mut home = Home::new();
    home.settings.machine.stop_grace = std::time::Duration::from_millis(200);
    let fleet = home.open();
    launch(&home, &fleet).await;
    let processes = Escaped::of(&home);
    kill_process(Pid::from_raw(processes.keeper).unwrap(), Signal::STOP).unwrap();

    fleet.delete("lab-a", None).await.unwrap();

    wait_until_gone(&fleet, "lab-a").await;
    eventually("the keeper is gone", || has_ended(processes.keeper)).await;
    processes.assert_ended();
    fleet.stop().await;
}

#[tokio::test]
async fn app_without_keeper_keeps_running_and_its_exit_is_detected() {
    let home = Home::new();
    let fleet = home.open();
    launch(&home, &fleet).await;
    for _ in 0..2 {
        crash(&home, &fleet, "lab-a", home.noted("lab-a", "app")).await;
    }
    let processes = Escaped::of(&home);
    kill(processes.keeper);
    eventually("the keeper is gone", || has_ended(processes.keeper)).await;
    let running = fleet.get("lab-a").await.unwrap().unwrap();
    assert_eq!(running.status.unwrap().phase, Phase::Running);

    kill(processes.app);

    let failed = wait_for(&fleet, "lab-a", Phase::Failed).await.status.unwrap();
    assert!(failed.message.unwrap().contains("its keeper process was killed"));
    assert_eq!(home.processes(), NONE, "all processes with the workshop's marker have ended");
    fleet.stop().await;
}

#[tokio::test]
async fn app_whose_keeper_was_killed_while_launcher_was_down_keeps_running_and_restarts_after_crash() {
    if let Some(home) = role() {
        launch(&home, &home.open()).await;
        done(&home).await;
    }
    let home = Home::new();
    let test = "escapes::app_whose_keeper_was_killed_while_launcher_was_down_keeps_running_and_restarts_after_crash";
    Launcher::start(&home, test).await.kill();
    let processes = Escaped::of(&home);
    kill(processes.keeper);
    eventually("the keeper is gone", || has_ended(processes.keeper)).await;

    let fleet = home.open();

    wait_for(&fleet, "lab-a", Phase::Running).await;
    assert!(!has_ended(processes.app), "the app without a keeper was ended");
    crash(&home, &fleet, "lab-a", processes.app).await;
    let again = Escaped::of(&home);
    fleet.delete("lab-a", None).await.unwrap();
    wait_until_gone(&fleet, "lab-a").await;
    again.assert_ended();
    fleet.stop().await;
}
