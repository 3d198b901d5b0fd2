//! The program: configuration, exit code, report.

use std::process::{Command, Output};

use launcher_domain::material_config::{MATERIAL_ATTEMPT_VARIABLE, MATERIAL_VARIABLE, MaterialConfig};
use launcher_domain::material_report::{MAX_REPORT_BYTES, MaterialOutcome, MaterialReport};
use launcher_domain::template::MaterialSource;

use crate::support::repository::Repository;
use crate::support::{Student, git};

fn run(configuration: Option<&str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_launcher-material"));
    command.env_remove(MATERIAL_VARIABLE);
    if let Some(configuration) = configuration {
        command.env(MATERIAL_VARIABLE, configuration);
    }
    command.output().unwrap()
}

#[test]
fn version_has_commit_of_release_build() {
    let output = Command::new(env!("CARGO_BIN_EXE_launcher-material")).arg("--version").output().unwrap();
    let expected = match option_env!("LAUNCHER_COMMIT") {
        Some(commit) if !commit.is_empty() => format!("launcher-material {} ({commit})\n", env!("CARGO_PKG_VERSION")),
        _ => concat!("launcher-material ", env!("CARGO_PKG_VERSION"), "\n").to_owned(),
    };
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
    assert!(output.status.success());
}

#[test]
fn unreadable_configuration_is_exit_code_2() {
    for configuration in [None, Some(""), Some("{}"), Some("{\"directory\": 3}")] {
        let output = run(configuration);
        assert_eq!(output.status.code(), Some(2), "{configuration:?}");
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.starts_with("launcher-material: WORKSHOP_MATERIAL") && text.lines().count() == 1, "{text}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn unreadable_configuration_never_prevents_the_start_of_a_pod() {
    let student = Student::new();
    for configuration in ["", "{}"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_launcher-material"));
        command.env(MATERIAL_VARIABLE, configuration).env(MATERIAL_ATTEMPT_VARIABLE, student.path("note"));
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{configuration:?}");
        assert!(String::from_utf8(output.stderr).unwrap().starts_with("launcher-material: WORKSHOP_MATERIAL"));
        assert!(output.stdout.is_empty() && !student.path("note").exists());
    }
}

#[test]
fn report_is_the_same_on_output_and_in_file() {
    let (repository, student) = (Repository::new(), Student::new());
    repository.commit(&[("a", "1")]);
    let file = student.path("report");
    let report = Some(file.to_str().unwrap().to_owned());
    let bad = MaterialSource { target: "../evil".to_owned(), ..git(&repository.url()) };
    let config = MaterialConfig { report, ..student.config(vec![git(&repository.url()), bad]) };
    let output = run(Some(&serde_json::to_string(&config).unwrap()));
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.trim_end(), std::fs::read_to_string(file).unwrap());
    assert_eq!(text.lines().count(), 1);
    let report: MaterialReport = serde_json::from_str(&text).unwrap();
    assert_eq!(report.sources[0].outcome, MaterialOutcome::Placed);
    assert_eq!(report.sources[1].outcome, MaterialOutcome::Failed);
    assert!(report.sources[1].message.as_ref().unwrap().contains("target"));
    assert_eq!(student.read("course/a"), "1");
}

#[test]
fn long_report_fits() {
    let (repository, student) = (Repository::new(), Student::new());
    let name = |number: usize| format!("{}/{}{number}", "d".repeat(200), "é".repeat(100));
    let names: Vec<String> = (0..20).map(name).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "1")).collect();
    repository.commit(&files);
    names.iter().for_each(|name| student.write(&format!("course/{name}"), "mine"));
    names.iter().for_each(|name| student.write(&format!("other/{name}"), "mine"));
    let other = MaterialSource { target: "other".to_owned(), ..git(&repository.url()) };
    let config = student.config(vec![git(&repository.url()), other]);
    let output = run(Some(&serde_json::to_string(&config).unwrap()));
    assert!(output.stdout.len() <= MAX_REPORT_BYTES + 1);
    let report: MaterialReport = serde_json::from_slice(&output.stdout).unwrap();
    assert!(report.sources.iter().all(|source| source.conflict_count == 20), "{report:?}");
}

#[test]
fn unwritable_directory_and_report_are_no_exit_code() {
    let student = Student::new();
    let missing = student.path("missing").to_str().unwrap().to_owned();
    let report = Some("/proc/no-such-file".to_owned());
    let source = git("http://127.0.0.1:1/a.git");
    let config =
        MaterialConfig { directory: missing, sources: vec![source], deadline_seconds: 5, report, secrets: None };
    let output = run(Some(&serde_json::to_string(&config).unwrap()));
    assert_eq!(output.status.code(), Some(0));
    let report: MaterialReport = serde_json::from_slice(&output.stdout).unwrap();
    assert!(report.sources[0].message.as_ref().unwrap().contains("cannot be opened"));
    assert!(String::from_utf8(output.stderr).unwrap().contains("/proc/no-such-file"));
}

#[test]
fn run_that_finds_the_note_of_a_killed_one_gives_up_and_the_next_one_tries_again() {
    let (repository, student) = (Repository::new(), Student::new());
    repository.commit(&[("a", "1")]);
    let config = serde_json::to_string(&student.config(vec![git(&repository.url())])).unwrap();
    let note = student.path("note");
    let run = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_launcher-material"));
        let output = command.env(MATERIAL_VARIABLE, &config).env(MATERIAL_ATTEMPT_VARIABLE, &note).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        let report: MaterialReport = serde_json::from_slice(&output.stdout).unwrap();
        report.sources[0].clone()
    };
    std::fs::write(&note, "").unwrap();

    let second = run();
    let third = run();

    assert_eq!((second.target.as_str(), second.outcome), ("course", MaterialOutcome::Failed));
    assert!(second.message.unwrap().contains("An earlier attempt was killed"));
    assert_eq!(third.outcome, MaterialOutcome::Placed);
    assert!(!note.exists());
}
