//! Tests of course material: a program places it before the app starts, and its failure does not prevent the start.

use std::fs;
use std::time::Duration;

use launcher_domain::{MaterialOutcome, SourceReport, StartStep};
use launcher_fleet::Fleet;
use launcher_workshop::{Phase, Workshop, WorkshopMaterial, WorkshopMaterialSource};
use serde_json::{Value, json};

use crate::support::{Home, NONE, crash, eventually, script, wait_for, wait_until_gone};

fn home_with_program() -> Home {
    let mut home = Home::new();
    home.settings.machine.material = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/local/material.sh").into();
    home
}

/// A Workshop with one source. Its app notes its PID, and which files it found at its start.
fn with_material(target: &str) -> Workshop {
    let text = "echo $$ > leader; ls lesson > found; exec python3 -m http.server \"$PORT\" --bind 127.0.0.1";
    let mut workshop = script("lab-a", text);
    let source = WorkshopMaterialSource {
        kind: "git".to_owned(),
        url: "https://git.example.org/lesson.git".to_owned(),
        reference: Some("main".to_owned()),
        sha256: None,
        folder: None,
        secret: None,
        target: target.to_owned(),
    };
    workshop.spec.material = Some(WorkshopMaterial { directory: "/home/jovyan".to_owned(), sources: vec![source] });
    workshop
}

/// Returns the report about the only source of a Workshop.
fn report(workshop: Workshop) -> SourceReport {
    let mut sources = workshop.status.unwrap().report.material.expect("a report").sources;
    assert_eq!(sources.len(), 1);
    sources.remove(0)
}

fn read(home: &Home, file: &str) -> String {
    fs::read_to_string(home.working("lab-a").join(file)).unwrap_or_default()
}

#[tokio::test]
async fn material_is_in_the_working_directory_when_the_app_starts() {
    let home = home_with_program();
    let fleet = home.open();
    fleet.apply(&with_material("lesson")).await.unwrap();
    let report = report(wait_for(&fleet, "lab-a", Phase::Running).await);
    assert_eq!((report.outcome.as_str(), report.version.as_deref()), ("placed", Some("v1")));
    assert_eq!(read(&home, "found"), "one.txt\n");
    let config: Value = serde_json::from_str(&read(&home, "config.json")).unwrap();
    assert_eq!(
        config,
        json!({
            "directory": home.working("lab-a"),
            "sources": [
                { "kind": "git", "url": "https://git.example.org/lesson.git", "ref": "main", "target": "lesson" },
            ],
            "deadline_seconds": 180,
        })
    );
    fleet.stop().await;
}

#[tokio::test]
async fn program_gets_the_folder_with_the_secrets_of_private_sources_and_no_value() {
    let home = home_with_program();
    let folder = home.settings.machine.data_dir.join("material-secrets");
    fs::create_dir_all(folder.join("statistics")).unwrap();
    fs::write(folder.join("statistics/password"), "hunter-2").unwrap();
    let fleet = home.open();
    let mut workshop = with_material("lesson");
    workshop.spec.material.as_mut().unwrap().sources[0].secret = Some("statistics".to_owned());
    fleet.apply(&workshop).await.unwrap();
    let report = report(wait_for(&fleet, "lab-a", Phase::Running).await);
    assert_eq!(report.outcome, MaterialOutcome::Placed);
    let config: Value = serde_json::from_str(&read(&home, "config.json")).unwrap();
    assert_eq!((&config["secrets"], &config["sources"][0]["secret"]), (&json!(folder), &json!("statistics")));
    assert!(!read(&home, "environment").contains("hunter-2"));
    fleet.stop().await;
}

#[tokio::test]
async fn crashed_app_starts_again_without_another_download() {
    let home = home_with_program();
    let fleet = home.open();
    fleet.apply(&with_material("lesson")).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    let leader = home.noted("lab-a", "leader");
    let after = crash(&home, &fleet, "lab-a", leader).await;
    assert_eq!(after.report.material.unwrap().sources[0].outcome, MaterialOutcome::Placed);
    assert_eq!(read(&home, "runs"), "run\n");
    fleet.stop().await;
}

#[tokio::test]
async fn app_starts_without_material_if_the_program_is_missing_or_fails() {
    for (home, remedy) in [(Home::new(), "install the program"), (home_with_program(), "the log of the launcher")] {
        let fleet = home.open();
        fleet.apply(&with_material("broken")).await.unwrap();
        let report = report(wait_for(&fleet, "lab-a", Phase::Running).await);
        assert_eq!((report.target.as_str(), report.outcome.as_str()), ("broken", "failed"));
        assert!(report.message.as_deref().unwrap().contains(remedy), "{report:?}");
        fleet.stop().await;
    }
}

#[tokio::test]
async fn hanging_program_is_killed_and_the_app_starts() {
    let mut home = home_with_program();
    home.settings.material_timeout = Duration::from_millis(300);
    let fleet = home.open();
    fleet.apply(&with_material("hanging")).await.unwrap();
    let report = report(wait_for(&fleet, "lab-a", Phase::Running).await);
    assert_eq!(report.outcome, MaterialOutcome::Failed);
    assert!(report.message.unwrap().contains("too long"));
    assert_eq!(home.processes(), [home.noted("lab-a", "leader")], "no process of the program is left");
    fleet.stop().await;
}

#[tokio::test]
async fn deletion_during_the_download_ends_the_program() {
    let home = home_with_program();
    let fleet = home.open();
    fleet.apply(&with_material("hanging")).await.unwrap();
    eventually("the program runs", || read(&home, "runs") == "run\n").await;
    let loading = fleet.get("lab-a").await.unwrap().unwrap().status.unwrap();
    assert_eq!((loading.phase, loading.report.start_step), (Phase::Starting, Some(StartStep::LoadingMaterial)));
    fleet.delete("lab-a", None).await.unwrap();
    wait_until_gone(&fleet, "lab-a").await;
    assert_eq!(home.processes(), NONE);
    assert!(!home.working("lab-a").exists());
    fleet.stop().await;
}

#[tokio::test]
async fn interrupted_download_is_repeated_by_the_next_launcher() {
    let home = home_with_program();
    let fleet = home.open();
    fleet.apply(&with_material("once-hanging")).await.unwrap();
    eventually("the program runs", || read(&home, "runs") == "run\n").await;
    fleet.stop().await;
    drop(fleet);
    assert_eq!(home.processes(), NONE);
    let fleet = home.open();
    let report = report(wait_for(&fleet, "lab-a", Phase::Running).await);
    assert_eq!(report.outcome, MaterialOutcome::Unchanged);
    assert_eq!(read(&home, "runs"), "run\nrun\n");
    fleet.stop().await;
}
