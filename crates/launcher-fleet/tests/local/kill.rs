//! Tests of Workshops whose launcher was killed.

use std::fs;
use std::time::Duration;

use launcher_fleet::Fleet;
use launcher_workshop::Phase;

use crate::launcher_process::{Launcher, done, role};
use crate::support::{
    Home, NONE, crash, eventually, has_ended, kill, numbered, pid_file, script, wait_for, wait_until_gone,
};

#[tokio::test]
async fn workshops_of_killed_launcher_keep_running() {
    if let Some(home) = role() {
        let fleet = home.open();
        fleet.apply(&numbered("lab-a")).await.unwrap();
        wait_for(&fleet, "lab-a", Phase::Running).await;
        done(&home).await;
    }
    let home = Home::new();
    let launcher = Launcher::start(&home, "kill::workshops_of_killed_launcher_keep_running").await;
    let processes = home.processes();
    assert_eq!(processes.len(), 2);
    launcher.kill();

    let fleet = home.open();

    let adopted = wait_for(&fleet, "lab-a", Phase::Running).await;
    assert_eq!(home.processes(), processes);
    assert_eq!(adopted.status.as_ref().unwrap().report.url.as_deref(), Some("http://lab-a.localhost:8000/"));
    // The fleet must detect the exit of an adopted app, terminate the app's descendants, and start the app again.
    let pid = fs::read_to_string(pid_file(&home, "lab-a")).unwrap();
    let again = crash(&home, &fleet, "lab-a", pid.trim().parse().unwrap()).await;
    assert_eq!(again.ready_at, adopted.status.unwrap().ready_at);
    assert!(processes.into_iter().all(has_ended));
    assert_eq!(fs::read_to_string(pid_file(&home, "lab-a")).unwrap().lines().count(), 2);
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
    Launcher::start(&home, "kill::adopted_workshop_gets_url_of_new_public_origin").await.kill();
    let processes = home.processes();
    home.settings.machine.origins.public_origin = "https://launcher.example.org".parse().unwrap();
    home.settings.machine.origins.workshop_domain = "workshops.example.org".to_owned();

    let fleet = home.open();

    let adopted = wait_for(&fleet, "lab-a", Phase::Running).await.status.unwrap();
    assert_eq!(adopted.report.url.as_deref(), Some("https://lab-a.workshops.example.org/"));
    assert!(adopted.ready_at.is_some());
    assert_eq!(home.processes(), processes);
    fleet.stop().await;
}

#[tokio::test]
async fn adopted_workshop_is_deleted_with_its_processes() {
    if let Some(home) = role() {
        let fleet = home.open();
        fleet.apply(&numbered("lab-a")).await.unwrap();
        wait_for(&fleet, "lab-a", Phase::Running).await;
        done(&home).await;
    }
    let home = Home::new();
    Launcher::start(&home, "kill::adopted_workshop_is_deleted_with_its_processes").await.kill();

    let fleet = home.open();
    fleet.delete("lab-a", None).await.unwrap();

    wait_until_gone(&fleet, "lab-a").await;
    assert_eq!(home.processes(), NONE);
    fleet.stop().await;
}

#[tokio::test]
async fn app_that_died_while_launcher_was_down_restarts_in_its_directory() {
    if let Some(home) = role() {
        let fleet = home.open();
        fleet.apply(&numbered("lab-a")).await.unwrap();
        wait_for(&fleet, "lab-a", Phase::Running).await;
        done(&home).await;
    }
    let home = Home::new();
    Launcher::start(&home, "kill::app_that_died_while_launcher_was_down_restarts_in_its_directory").await.kill();
    // The app exits but its child stays. The child must not run beside the restarted app.
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
        home.settings.machine.stop_grace = Duration::from_secs(1000);
        let fleet = home.open();
        fleet.apply(&script("lab-a", "trap '' TERM; touch ready; while :; do sleep 1; done")).await.unwrap();
        let ready = home.path().join("workshops/lab-a/ready");
        eventually("the app has started", || ready.exists()).await;
        fleet.delete("lab-a", None).await.unwrap();
        done(&home).await;
    }
    let mut home = Home::new();
    Launcher::start(&home, "kill::deletion_continues_after_launcher_was_killed").await.kill();
    assert!(!home.processes().is_empty());

    home.settings.machine.stop_grace = Duration::from_millis(200);
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
    let test = "kill::launcher_killed_at_any_moment_leaves_one_process_group_per_workshop";
    for round in 0..10 {
        let launcher = Launcher::begin(&home, test);
        // Wait for the file `begun`, because the start of the process takes longer on a loaded machine.
        eventually("the other launcher begins", || fs::remove_file(home.path().join("begun")).is_ok()).await;
        if round % 2 == 1 {
            eventually("something runs", || !home.processes().is_empty()).await;
        }
        tokio::time::sleep(Duration::from_millis(23 * round)).await; // pacing: each round kills at another moment
        launcher.kill();
    }
    let launcher = Launcher::begin(&home, test);
    eventually("everything runs", || home.processes().len() == 2 * NAMES.len()).await;
    launcher.kill();
    assert!(!home.processes().is_empty(), "the killed launcher left no process");

    let fleet = home.open();

    for name in NAMES {
        fleet.apply(&numbered(name)).await.unwrap();
        wait_for(&fleet, name, Phase::Running).await;
    }
    eventually("each workshop to have exactly two processes: the app and its child", || {
        home.processes().len() == 2 * NAMES.len()
    })
    .await;
    fleet.stop().await;
}
