//! The program: configuration, exit code, report.

use std::process::{Command, Output};

use launcher_domain::material::{MATERIAL_ATTEMPT_VARIABLE, MATERIAL_VARIABLE, MaterialConfig};
use launcher_domain::material::{MAX_REPORT_BYTES, MaterialOutcome, MaterialReport, SourceReport};
use launcher_domain::template::MaterialSource;

use crate::support::http::{Request, Server, respond};
use crate::support::proxy;
use crate::support::repository::Repository;
use crate::support::{DEADLINE, Student, assert_failed, git};

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
fn check_refuses_an_invalid_network() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_launcher-material"));
    let output = command.args(["check", "--except", "203.0.113.0/24,office"]).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    assert!(String::from_utf8(output.stderr).unwrap().contains("\"office\" is no IPv4 network"));
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
        command.env(MATERIAL_VARIABLE, configuration).env(MATERIAL_ATTEMPT_VARIABLE, student.path("marker"));
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{configuration:?}");
        assert!(String::from_utf8(output.stderr).unwrap().starts_with("launcher-material: WORKSHOP_MATERIAL"));
        assert!(output.stdout.is_empty() && !student.path("marker").exists());
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
        MaterialConfig { directory: missing, sources: vec![source], deadline_seconds: DEADLINE, report, secrets: None };
    let output = run(Some(&serde_json::to_string(&config).unwrap()));
    assert_eq!(output.status.code(), Some(0));
    let report: MaterialReport = serde_json::from_slice(&output.stdout).unwrap();
    assert!(report.sources[0].message.as_ref().unwrap().contains("cannot be opened"));
    assert!(String::from_utf8(output.stderr).unwrap().contains("/proc/no-such-file"));
}

/// Runs the program with a source at this URL, and with these proxy variables. Returns the report of the source.
fn run_through(proxy: &str, no_proxy: &str, url: &str, student: &Student) -> SourceReport {
    let config = serde_json::to_string(&student.config(vec![git(url)])).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_launcher-material"));
    command.env(MATERIAL_VARIABLE, config).env("ALL_PROXY", proxy).env("NO_PROXY", no_proxy);
    let report: MaterialReport = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
    report.sources[0].clone()
}

#[test]
fn material_comes_through_the_http_proxy_except_from_hosts_without_it() {
    let (repository, student) = (Repository::new(), Student::new());
    repository.commit(&[("a", "1")]);
    let server = repository.url().split('/').nth(2).unwrap().to_owned();
    let proxy = proxy::start(&server);

    // Only the proxy knows this host.
    let url = repository.url().replace(&server, "git.example.invalid");
    let placed = run_through(&proxy.url(""), "", &url, &student);
    assert_eq!((placed.outcome, &*student.read("course/a")), (MaterialOutcome::Placed, "1"), "{placed:?}");
    let requests = proxy.requests();
    let is_tunnel = |request: &Request| (&*request.method, &*request.path) == ("CONNECT", "git.example.invalid:80");
    assert!(!requests.is_empty() && requests.iter().all(is_tunnel), "{requests:?}");

    let direct = Student::new();
    let placed = run_through(&proxy.url(""), "127.0.0.1", &repository.url(), &direct);
    assert_eq!((placed.outcome, proxy.requests().len()), (MaterialOutcome::Placed, requests.len()), "{placed:?}");
}

#[test]
fn failure_of_the_http_proxy_names_the_proxy() {
    let student = Student::new();
    let refusing = Server::start(|_, stream| respond(stream, "403 Forbidden", &[], b"not allowed"));
    let refused = run_through(&refusing.url(""), "", "http://git.example.invalid/a.git", &student);
    assert_failed(&refused, "The HTTP proxy does not connect to git.example.invalid (proxy server responded 403");
    // Port 1 of the loopback address is closed.
    let unreachable = run_through("http://127.0.0.1:1", "", "http://git.example.invalid/a.git", &student);
    assert_failed(&unreachable, "The HTTP proxy 127.0.0.1 cannot be reached");
}

#[test]
fn run_after_a_killed_run_gives_up_and_the_next_run_tries_again() {
    let (repository, student) = (Repository::new(), Student::new());
    repository.commit(&[("a", "1")]);
    let config = serde_json::to_string(&student.config(vec![git(&repository.url())])).unwrap();
    let marker = student.path("marker");
    let run = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_launcher-material"));
        let output = command.env(MATERIAL_VARIABLE, &config).env(MATERIAL_ATTEMPT_VARIABLE, &marker).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        let report: MaterialReport = serde_json::from_slice(&output.stdout).unwrap();
        report.sources[0].clone()
    };
    std::fs::write(&marker, "").unwrap();

    let second = run();
    let third = run();

    assert_eq!((second.target.as_str(), second.outcome), ("course", MaterialOutcome::Failed));
    assert!(second.message.unwrap().contains("An earlier attempt was killed"));
    assert_eq!(third.outcome, MaterialOutcome::Placed);
    assert!(!marker.exists());
}
