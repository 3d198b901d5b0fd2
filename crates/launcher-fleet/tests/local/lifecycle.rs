//! Tests of a Workshop's lifecycle: start, extension, expiry and deletion.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use futures_util::StreamExt;
use jiff::SignedDuration;
use launcher_domain::Clock;
use launcher_fleet::{Deletion, Fleet, FleetError, FleetEvent};
use launcher_workshop::Phase;

use crate::support::{Home, NONE, custom, eventually, in_time, script, server, wait_for, wait_until_gone};

#[tokio::test]
async fn app_that_answers_gets_status_running() {
    let home = Home::new();
    let fleet = home.open();

    let stored = fleet.apply(&server("lab-a")).await.unwrap();

    assert!(stored.metadata.uid.is_some());
    assert_eq!(stored.metadata.generation, Some(1));
    let running = wait_for(&fleet, "lab-a", Phase::Running).await;
    let status = running.status.unwrap();
    assert_eq!(running.metadata.uid, stored.metadata.uid);
    assert_eq!(status.report.url.as_deref(), Some("http://lab-a.localhost:8000/"));
    assert_eq!(status.ready_at, Some(home.clock.now()));
    assert_eq!(status.observed_generation, Some(1));
    fleet.stop().await;
}

#[tokio::test]
async fn app_gets_private_directory_environment_and_arguments() {
    let home = Home::new();
    let fleet = home.open();
    let mut workshop = script(
        "lab-a",
        "env > env.txt; echo \"$0 $1\" > words.txt; exec python3 -m http.server \"$PORT\" --bind 127.0.0.1",
    );
    workshop.spec.args = ["port=$(PORT)", "$$ $(GREETING) ${PORT} $PORT \"'{}"].map(str::to_owned).into();

    fleet.apply(&workshop).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;

    let working = home.working("lab-a");
    let mode = fs::metadata(&working).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let environment = fs::read_to_string(working.join("env.txt")).unwrap();
    let value = |name: &str| environment.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    assert_eq!(value("GREETING"), Some("hello"));
    assert_eq!(value("DISABLE_AUTH"), Some("true"));
    let port = value("PORT").unwrap();
    assert_ne!(port, "9000", "the port of the image may be taken on this machine");
    let words = fs::read_to_string(working.join("words.txt")).unwrap();
    assert_eq!(words.trim_end(), format!("port={port} $$ $(GREETING) ${{PORT}} $PORT \"'{{}}"));
    fleet.stop().await;
}

#[tokio::test]
async fn environment_reaches_app_byte_for_byte() {
    let home = Home::new();
    let fleet = home.open();
    let script = "cat /proc/self/environ > env.bin; exec python3 -m http.server \"$PORT\" --bind 127.0.0.1";
    let mut workshop = custom("lab-a", &["sh", "-c", script]);
    let hard = [
        ("QUOTED", "\"double\" 'single' `back` \\ \\\\"),
        ("LINES", "one\ntwo\r\n\n\tthree\n"),
        ("BRACES", "{\"a\": [1, {{ b }}]} ${HOME} $HOME %s"),
        ("NAMES", "$(QUOTED) $(NOBODY) $(PORT $$$ $"),
        ("UNICODE", "gr\u{f6}\u{df}e \u{4e2d}\u{6587} \u{1f427} e\u{301}\u{202e}"),
        ("EMPTY", ""),
        ("SPACES", "  a = b  "),
    ];
    workshop.spec.env = hard.map(|(name, value)| (name.to_owned(), value.to_owned())).into();

    fleet.apply(&workshop).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;

    let environment = fs::read(home.working("lab-a").join("env.bin")).unwrap();
    let variables: Vec<&str> =
        environment.split(|byte| *byte == 0).map(|one| std::str::from_utf8(one).unwrap()).collect();
    for (name, value) in hard {
        assert!(variables.contains(&format!("{name}={value}").as_str()), "{name} of {variables:?}");
    }
    fleet.stop().await;
}

#[tokio::test]
async fn fleet_identity_is_the_same_after_reopening_data_directory() {
    let (home, other) = (Home::new(), Home::new());
    let fleet = home.open();
    let identity = fleet.identity().await.unwrap();
    assert_eq!(identity, home.fleet_id());
    fleet.stop().await;
    drop(fleet);

    let (fleet, other) = (home.open(), other.open());

    assert_eq!(fleet.identity().await.unwrap(), identity);
    assert_ne!(other.identity().await.unwrap(), identity);
    fleet.stop().await;
    other.stop().await;
}

#[tokio::test]
async fn repeated_apply_changes_nothing_and_new_owner_is_refused() {
    let home = Home::new();
    let fleet = home.open();
    let wanted = server("lab-a");
    let first = fleet.apply(&wanted).await.unwrap();
    let running = wait_for(&fleet, "lab-a", Phase::Running).await;

    let again = fleet.apply(&wanted).await.unwrap();
    assert_eq!(again, running);

    let mut extended = wanted.clone();
    extended.spec.expires_at = Some(home.clock.now() + SignedDuration::from_hours(5));
    let extended = fleet.apply(&extended).await.unwrap();
    assert_eq!(extended.metadata.uid, first.metadata.uid);
    assert_eq!(extended.metadata.generation, Some(2));
    assert_eq!(extended.status.as_ref().unwrap().phase, Phase::Running);
    assert_eq!(fleet.get("lab-a").await.unwrap().unwrap(), extended);

    let mut stolen = wanted.clone();
    stolen.spec.owner = "bob@example.org".to_owned();
    assert!(matches!(fleet.apply(&stolen).await, Err(FleetError::Refused(_))));
    fleet.stop().await;
}

#[tokio::test]
async fn restart_time_does_not_restart_the_app() {
    let home = Home::new();
    let fleet = home.open();
    let serve = "echo started >> starts.txt; exec python3 -m http.server \"$PORT\" --bind 127.0.0.1";
    let mut workshop = script("lab-a", serve);
    fleet.apply(&workshop).await.unwrap();
    let running = wait_for(&fleet, "lab-a", Phase::Running).await;

    workshop.spec.restarted_at = Some(home.clock.now() + SignedDuration::from_hours(1));
    let told = fleet.apply(&workshop).await.unwrap();
    assert_eq!(told.spec.restarted_at, workshop.spec.restarted_at);
    let status = fleet.get("lab-a").await.unwrap().unwrap().status.unwrap();
    assert_eq!((status.phase, status.pod_outdated), (Phase::Running, None));
    assert_eq!(status.ready_at, running.status.unwrap().ready_at);
    fleet.stop().await;
    assert_eq!(fs::read_to_string(home.working("lab-a").join("starts.txt")).unwrap(), "started\n");
}

#[tokio::test]
async fn invalid_name_or_owner_is_refused() {
    let home = Home::new();
    let fleet = home.open();
    for name in ["../escape", "UPPER", "", "a.b"] {
        assert!(matches!(fleet.apply(&server(name)).await, Err(FleetError::Refused(_))), "{name}");
    }
    let mut nobodys = server("lab-a");
    nobodys.spec.owner = "nobody".to_owned();
    assert!(matches!(fleet.apply(&nobodys).await, Err(FleetError::Refused(_))));
    assert_eq!(fleet.get("lab-a").await.unwrap(), None);
    fleet.stop().await;
}

#[tokio::test]
async fn workshop_is_terminated_at_its_expiry_and_not_before() {
    let home = Home::new();
    let fleet = home.open();
    let mut workshop = server("lab-a");
    fleet.apply(&workshop).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    let witness = server("lab-b");
    fleet.apply(&witness).await.unwrap();
    wait_for(&fleet, "lab-b", Phase::Running).await;

    // Both Workshops have a lifetime of one hour. Extend only the first.
    workshop.spec.expires_at = Some(home.clock.now() + SignedDuration::from_hours(2));
    fleet.apply(&workshop).await.unwrap();
    home.clock.advance(3600);
    let expired = wait_for(&fleet, "lab-b", Phase::Expired).await;
    assert!(expired.status.unwrap().ready_at.is_some());
    assert_eq!(fleet.get("lab-a").await.unwrap().unwrap().status.unwrap().phase, Phase::Running);
    assert!(!home.processes().is_empty());

    home.clock.advance(3600);
    let expired = wait_for(&fleet, "lab-a", Phase::Expired).await;
    assert_eq!(expired.status.unwrap().report.url, None);
    assert_eq!(home.processes(), NONE, "no process may run after the Workshop is reported as expired");
    fleet.stop().await;
}

#[tokio::test]
async fn deletion_terminates_all_processes_and_removes_files() {
    let home = Home::new();
    let fleet = home.open();
    let grandchild = "setsid sleep 1000 & exec python3 -m http.server \"$PORT\" --bind 127.0.0.1";
    let stored = fleet.apply(&script("lab-a", grandchild)).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    assert_eq!(home.processes().len(), 2);

    let other = fleet.delete("lab-a", Some("another-uid")).await.unwrap();
    assert_eq!(other, Deletion::Gone, "a later Workshop of the same name stays");
    assert_eq!(fleet.get("lab-a").await.unwrap().unwrap().status.unwrap().phase, Phase::Running);

    let mut events = fleet.watch();
    assert!(matches!(events.next().await, Some(FleetEvent::Relisted(all)) if all.len() == 1));
    assert_eq!(fleet.delete("lab-a", stored.metadata.uid.as_deref()).await.unwrap(), Deletion::InProgress);
    let deleted = in_time(async {
        loop {
            if let FleetEvent::Deleted(workshop) = events.next().await.unwrap() {
                return workshop;
            }
        }
    });
    assert_eq!(deleted.await.metadata.uid, stored.metadata.uid);
    assert_eq!(home.processes(), NONE);
    assert!(!home.working("lab-a").exists());
    assert!(!home.path().join("fleet/workshops/lab-a").exists());
    assert_eq!(fleet.get("lab-a").await.unwrap(), None);
    assert_eq!(fleet.delete("lab-a", None).await.unwrap(), Deletion::Gone);
    fleet.stop().await;
}

#[tokio::test]
async fn app_that_ignores_sigterm_is_killed() {
    let mut home = Home::new();
    home.settings.machine.stop_grace = std::time::Duration::from_millis(300);
    let fleet = home.open();
    let stubborn = "import http.server, os, signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); \
        handler = http.server.SimpleHTTPRequestHandler; \
        http.server.HTTPServer(('127.0.0.1', int(os.environ['PORT'])), handler).serve_forever()";
    fleet.apply(&custom("lab-a", &["python3", "-c", stubborn])).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;

    fleet.delete("lab-a", None).await.unwrap();

    wait_until_gone(&fleet, "lab-a").await;
    assert_eq!(home.processes(), NONE);
    fleet.stop().await;
}

#[tokio::test]
async fn starting_workshop_can_be_deleted() {
    let home = Home::new();
    let fleet = home.open();
    fleet.apply(&custom("lab-a", &["sleep", "1000"])).await.unwrap();
    eventually("it starts", || home.processes().len() == 1).await;

    fleet.delete("lab-a", None).await.unwrap();

    wait_until_gone(&fleet, "lab-a").await;
    assert_eq!(home.processes(), NONE);
    fleet.stop().await;
}

#[tokio::test]
async fn lagging_watcher_gets_full_list() {
    let home = Home::new();
    let fleet = home.open();
    let mut workshop = server("lab-a");
    fleet.apply(&workshop).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    let mut events = fleet.watch();
    assert!(matches!(events.next().await, Some(FleetEvent::Relisted(_))));

    for seconds in 0..300 {
        workshop.spec.expires_at = Some(home.clock.now() + SignedDuration::from_secs(4000 + seconds));
        fleet.apply(&workshop).await.unwrap();
    }

    match in_time(events.next()).await {
        Some(FleetEvent::Relisted(all)) => assert_eq!(all[0].spec, workshop.spec),
        other => panic!("{other:?}"),
    }
    fleet.stop().await;
    assert_eq!(in_time(events.next()).await, None, "the watch ends when the fleet has stopped");
}
