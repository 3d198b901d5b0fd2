//! Workshops after their launcher was stopped or killed and has restarted.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use launcher_fleet::{Fleet, FleetError, LocalFleetError};
use launcher_workshop::{Phase, Workshop};

use crate::support::{Home, NONE, custom, eventually, has_ended, kill, script, server, wait_for, wait_until_gone};

/// Set in a process that plays the launcher to be killed: its data directory.
const ROLE: &str = "FLEET_TEST_DATA_DIR";

/// Another launcher: this test program, run again for a single test.
pub(crate) struct Launcher(Child);

impl Launcher {
    /// Starts one that runs the part of `test` for [`role`].
    fn begin(home: &Home, test: &str) -> Self {
        let child = Command::new(env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture", "--test-threads=1"])
            .env(ROLE, home.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        Self(child)
    }

    /// Starts one, and waits until it has done its part.
    pub(crate) async fn start(home: &Home, test: &str) -> Self {
        let launcher = Self::begin(home, test);
        eventually("the other launcher does its part", || home.path().join("done").exists()).await;
        launcher
    }

    /// Sends SIGKILL, so that it cannot clean up.
    pub(crate) fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Launcher {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The home of the launcher to be killed, if this process is one.
pub(crate) fn role() -> Option<Home> {
    env::var_os(ROLE).map(|directory| Home::at(directory.as_ref()))
}

/// Reports that the other launcher's part is done, and waits to be killed.
pub(crate) async fn done(home: &Home) -> ! {
    fs::write(home.path().join("done"), "").unwrap();
    std::future::pending().await
}

fn pid_file(home: &Home, name: &str) -> PathBuf {
    home.working(name).join("pid")
}

/// Writes its PID, so that a second start is visible.
fn numbered(name: &str) -> Workshop {
    let text = "echo $$ >> pid; setsid sleep 1000 & exec python3 -m http.server \"$PORT\" --bind 127.0.0.1";
    script(name, text)
}

#[tokio::test]
async fn workshops_of_killed_launcher_keep_running() {
    if let Some(home) = role() {
        let fleet = home.open();
        fleet.apply(&numbered("lab-a")).await.unwrap();
        wait_for(&fleet, "lab-a", Phase::Running).await;
        done(&home).await;
    }
    let home = Home::new();
    let launcher = Launcher::start(&home, "restart::workshops_of_killed_launcher_keep_running").await;
    let processes = home.processes();
    assert_eq!(processes.len(), 2);
    launcher.kill();

    let fleet = home.open();

    let adopted = wait_for(&fleet, "lab-a", Phase::Running).await;
    assert_eq!(home.processes(), processes);
    assert_eq!(adopted.status.as_ref().unwrap().url.as_deref(), Some("http://lab-a.localhost:8000/"));
    // Its exit is detected like any other, and its descendants are terminated.
    let pid = fs::read_to_string(pid_file(&home, "lab-a")).unwrap();
    kill(pid.trim().parse().unwrap());
    let failed = wait_for(&fleet, "lab-a", Phase::Failed).await.status.unwrap();
    assert_eq!(failed.reason.as_deref(), Some("crashed"));
    assert_eq!(failed.ready_at, adopted.status.unwrap().ready_at);
    assert_eq!(home.processes(), NONE);
    fleet.stop().await;
}

#[tokio::test]
async fn adopted_workshop_gets_url_of_new_public_origin() {
    if let Some(home) = role() {
        let fleet = home.open();
        fleet.apply(&numbered("lab-a")).await.unwrap();
        wait_for(&fleet, "lab-a", Phase::Running).await;
        done(&home).await;
    }
    let mut home = Home::new();
    Launcher::start(&home, "restart::adopted_workshop_gets_url_of_new_public_origin").await.kill();
    let processes = home.processes();
    home.settings.public_origin = "https://launcher.example.org".parse().unwrap();
    home.settings.workshop_domain = "workshops.example.org".to_owned();

    let fleet = home.open();

    let adopted = wait_for(&fleet, "lab-a", Phase::Running).await.status.unwrap();
    assert_eq!(adopted.url.as_deref(), Some("https://lab-a.workshops.example.org/"));
    assert!(adopted.ready_at.is_some());
    assert_eq!(home.processes(), processes);
    fleet.stop().await;
}

#[tokio::test]
async fn an_adopted_workshop_can_be_deleted() {
    if let Some(home) = role() {
        let fleet = home.open();
        fleet.apply(&numbered("lab-a")).await.unwrap();
        wait_for(&fleet, "lab-a", Phase::Running).await;
        done(&home).await;
    }
    let home = Home::new();
    Launcher::start(&home, "restart::an_adopted_workshop_can_be_deleted").await.kill();

    let fleet = home.open();
    fleet.delete("lab-a", None).await.unwrap();

    wait_until_gone(&fleet, "lab-a").await;
    assert_eq!(home.processes(), NONE);
    fleet.stop().await;
}

#[tokio::test]
async fn app_that_died_without_launcher_restarts_in_its_directory() {
    if let Some(home) = role() {
        let fleet = home.open();
        fleet.apply(&numbered("lab-a")).await.unwrap();
        wait_for(&fleet, "lab-a", Phase::Running).await;
        done(&home).await;
    }
    let home = Home::new();
    Launcher::start(&home, "restart::app_that_died_without_launcher_restarts_in_its_directory").await.kill();
    // The app exits; its child stays, and must not run beside the new app.
    let pid: i32 = fs::read_to_string(pid_file(&home, "lab-a")).unwrap().trim().parse().unwrap();
    let left = home.processes().into_iter().find(|process| *process != pid).unwrap();
    kill(pid);
    eventually("the app is gone", || has_ended(pid)).await;

    let fleet = home.open();

    wait_for(&fleet, "lab-a", Phase::Running).await;
    assert_eq!(fs::read_to_string(pid_file(&home, "lab-a")).unwrap().lines().count(), 2);
    assert!(!home.processes().contains(&left));
    fleet.stop().await;
}

#[tokio::test]
async fn deletion_continues_after_launcher_was_killed() {
    if let Some(mut home) = role() {
        home.settings.stop_grace = Duration::from_secs(1000);
        let fleet = home.open();
        fleet.apply(&script("lab-a", "trap '' TERM; touch ready; while :; do sleep 1; done")).await.unwrap();
        let ready = home.path().join("workshops/lab-a/ready");
        eventually("the app has started", || ready.exists()).await;
        fleet.delete("lab-a", None).await.unwrap();
        done(&home).await;
    }
    let mut home = Home::new();
    Launcher::start(&home, "restart::deletion_continues_after_launcher_was_killed").await.kill();
    assert!(!home.processes().is_empty());

    home.settings.stop_grace = Duration::from_millis(200);
    let fleet = home.open();

    wait_until_gone(&fleet, "lab-a").await;
    assert_eq!(home.processes(), NONE);
    assert!(!home.working("lab-a").exists());
    fleet.stop().await;
}

#[tokio::test]
async fn launcher_killed_at_any_moment_leaves_one_process_group_per_workshop() {
    const NAMES: [&str; 3] = ["lab-a", "lab-b", "lab-c"];
    if let Some(home) = role() {
        fs::write(home.path().join("begun"), "").unwrap();
        let fleet = home.open();
        for name in NAMES {
            fleet.apply(&numbered(name)).await.unwrap();
        }
        done(&home).await;
    }
    let home = Home::new();
    let test = "restart::launcher_killed_at_any_moment_leaves_one_process_group_per_workshop";
    for round in 0..10 {
        let launcher = Launcher::begin(&home, test);
        // The time until here depends on the machine's load.
        eventually("the other launcher begins", || fs::remove_file(home.path().join("begun")).is_ok()).await;
        if round % 2 == 1 {
            eventually("something runs", || !home.processes().is_empty()).await;
        }
        // Each round kills at a different moment.
        tokio::time::sleep(Duration::from_millis(23 * round)).await;
        launcher.kill();
    }
    assert!(!home.processes().is_empty(), "what was left behind is there no more");

    let fleet = home.open();

    for name in NAMES {
        fleet.apply(&numbered(name)).await.unwrap();
        wait_for(&fleet, name, Phase::Running).await;
    }
    eventually("each has its app and what the app started, once", || home.processes().len() == 2 * NAMES.len()).await;
    fleet.stop().await;
}

#[tokio::test]
async fn launcher_stop_ends_processes_and_next_start_restores_them() {
    let home = Home::new();
    let fleet = home.open();
    fleet.apply(&numbered("lab-a")).await.unwrap();
    let before = wait_for(&fleet, "lab-a", Phase::Running).await;
    fs::write(home.working("lab-a").join("work.txt"), "unsaved no more").unwrap();

    fleet.stop().await;
    assert_eq!(home.processes(), NONE);
    assert!(matches!(fleet.apply(&server("lab-b")).await, Err(FleetError::Unavailable(_))));
    drop(fleet);

    home.clock.advance(60);
    let fleet = home.open();
    let back = fleet.get("lab-a").await.unwrap().unwrap();
    assert_eq!(back.status.as_ref().unwrap().phase, Phase::Starting, "it does not run yet");
    assert_eq!(back.status.unwrap().url, None);
    let after = wait_for(&fleet, "lab-a", Phase::Running).await;
    assert_eq!(after.metadata.uid, before.metadata.uid);
    let (before, after) = (before.status.unwrap(), after.status.unwrap());
    assert_eq!(after.ready_at, before.ready_at, "its time goes on");
    assert!(after.url.is_some() && after.url == before.url, "{:?}", after.url);
    assert_eq!(fs::read_to_string(home.working("lab-a").join("work.txt")).unwrap(), "unsaved no more");
    fleet.stop().await;
}

#[tokio::test]
async fn workshop_that_expired_without_launcher_is_not_restarted() {
    let home = Home::new();
    let fleet = home.open();
    fleet.apply(&numbered("lab-a")).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    fleet.stop().await;
    drop(fleet);

    home.clock.advance(3600);
    let fleet = home.open();

    wait_for(&fleet, "lab-a", Phase::Expired).await;
    assert_eq!(fs::read_to_string(pid_file(&home, "lab-a")).unwrap().lines().count(), 1);
    fleet.stop().await;
}

#[tokio::test]
async fn failed_workshop_stays_failed_after_restart() {
    let home = Home::new();
    let fleet = home.open();
    fleet.apply(&script("lab-a", "echo once >> starts; exit 3")).await.unwrap();
    let failed = wait_for(&fleet, "lab-a", Phase::Failed).await;
    fleet.stop().await;
    drop(fleet);

    let fleet = home.open();

    assert_eq!(fleet.get("lab-a").await.unwrap().unwrap().status, failed.status);
    fleet.delete("lab-a", None).await.unwrap();
    wait_until_gone(&fleet, "lab-a").await;
    fleet.stop().await;
}

#[tokio::test]
async fn orphaned_processes_are_terminated_at_start() {
    let home = Home::new();
    home.open().stop().await;
    let marker = format!("{}/ghost/0", home.fleet_id());
    let spawn = |marker: &str| {
        Command::new("sleep").arg("1000").env("WORKSHOP_LAUNCHER_ID", marker).stdin(Stdio::null()).spawn().unwrap()
    };
    let mut ghost = Launcher(spawn(&marker));
    let mut stranger = Launcher(spawn("another-fleet/ghost/0"));

    let fleet = home.open();

    eventually("the ghost is ended", || home.processes().is_empty()).await;
    assert!(!ghost.0.wait().unwrap().success());
    assert!(stranger.0.try_wait().unwrap().is_none(), "another fleet's processes are left alone");
    fleet.stop().await;
}

#[tokio::test]
async fn second_launcher_on_data_directory_is_refused() {
    let home = Home::new();
    let fleet = home.open();

    let second = home.try_open();

    match second {
        Err(LocalFleetError::Locked(path)) => assert!(path.starts_with(home.path())),
        other => panic!("{other:?}"),
    }
    fleet.stop().await;
    drop(fleet);
    home.open().stop().await;
}

#[tokio::test]
async fn unreadable_record_does_not_affect_other_workshops() {
    let home = Home::new();
    let fleet = home.open();
    fleet.apply(&server("lab-a")).await.unwrap();
    fleet.apply(&custom("lab-b", &["sleep", "1000"])).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    fleet.stop().await;
    drop(fleet);
    fs::write(home.path().join("fleet/workshops/lab-b/state.json"), "{").unwrap();

    let fleet = home.open();

    wait_for(&fleet, "lab-a", Phase::Running).await;
    assert_eq!(fleet.get("lab-b").await.unwrap(), None);
    fleet.stop().await;
}
