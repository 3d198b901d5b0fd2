//! `launcher doctor`: its output for administrators.

mod database;
mod direct;
mod edge_proxy;
mod local;
mod tls;

use std::net::SocketAddr;
use std::path::Path;

use axum::Router;
use axum::routing::get;
use tokio::net::TcpListener;

use crate::{launcher, launcher_at, text};

/// One run of the doctor: its output, with one line for each check, and its exit status.
struct Visit {
    said: String,
    status: Option<i32>,
}

impl Visit {
    /// Runs the doctor with these settings and one admin.
    fn with(settings: &[(&str, &str)]) -> Self {
        Self::of(Path::new(env!("CARGO_BIN_EXE_launcher")), settings)
    }

    /// Runs the doctor of this copy of the program.
    fn of(program: &Path, settings: &[(&str, &str)]) -> Self {
        let admin = [("SERVICE_ADMIN_EMAILS", "ada@example.org")];
        let output = launcher_at(program, &["doctor"], &[&admin, settings].concat());
        assert_eq!(text(&output.stderr), "", "expected no output on stderr");
        Self { said: text(&output.stdout).to_owned(), status: output.status.code() }
    }

    /// Runs the doctor on this data directory.
    fn at(data: &Path, settings: &[(&str, &str)]) -> Self {
        Self::with(&[&[("SERVICE_DATA_DIR", data.to_str().unwrap())], settings].concat())
    }

    /// Asserts that the line of this check has this verdict and contains these words.
    #[track_caller]
    fn says(&self, verdict: &str, check: &str, words: &[&str]) {
        let start = format!("{verdict:<4}  {check} ");
        let lines = || self.said.lines().filter(|line| line.starts_with(&start));
        assert!(lines().any(|line| words.iter().all(|word| line.contains(word))), "{start}{words:?}:\n{}", self.said);
        assert_eq!(self.status, Some(i32::from(self.said.contains("\nFAIL  ") || self.said.starts_with("FAIL  "))));
    }

    /// Asserts that the output has no line of this check.
    #[track_caller]
    fn is_silent_about(&self, check: &str) {
        assert!(!self.said.lines().any(|line| line.contains(&format!("  {check} "))), "{check}:\n{}", self.said);
    }
}

#[test]
fn doctor_reports_mistyped_or_dangerous_setting() {
    let visit = Visit::with(&[("SERVICE_ADMIN_EMIALS", "x"), ("SERVICE_ADMIN_EMAILS", "")]);
    visit.says("warn", "settings", &["SERVICE_ADMIN_EMIALS"]);
    visit.says("warn", "admins", &["SERVICE_ADMIN_EMAILS"]);
    visit.says("ok", "authentication", &["x-auth-request-email"]);

    let off = [("SERVICE_REQUIRE_AUTHENTICATION", "false"), ("SERVICE_DEV_IDENTITY", "dev@example.org")];
    Visit::with(&off).says("warn", "authentication", &["AUTHENTICATION IS OFF", "dev@example.org"]);
    let public = [off[0], off[1], ("SERVICE_PUBLIC_URL", "https://launcher.example.org")];
    Visit::with(&public).says("FAIL", "authentication", &["AUTHENTICATION IS OFF"]);
    let exposed = [off[0], off[1], ("SERVICE_LISTEN_ADDR", "0.0.0.0:8000")];
    Visit::with(&exposed).says("FAIL", "authentication", &["does not start", "SERVICE_LISTEN_ADDR 0.0.0.0:8000"]);
    Visit::with(&off[..1]).says("warn", "authentication", &["SERVICE_DEV_IDENTITY is not set"]);
    Visit::with(&off[1..]).says("warn", "authentication", &["it has no effect"]);

    let seeds = [("SERVICE_SEED_TEMPLATES", "/nowhere/seeds.json")];
    Visit::with(&seeds).says("FAIL", "seed templates", &["/nowhere/seeds.json", "cannot be read"]);
}

#[test]
fn invalid_setting_is_one_line_error() {
    let output = launcher(&["doctor"], &[("SERVICE_FLEET", "docker")]);
    let complaint = text(&output.stderr);
    assert!(output.status.code() == Some(1) && complaint.contains("SERVICE_FLEET (--fleet)"), "{complaint}");
    assert_eq!(complaint.trim_end().lines().count(), 1, "{complaint}");
}

#[test]
fn doctor_reports_missing_cluster_configuration() {
    let visit = Visit::with(&[("SERVICE_FLEET", "kubernetes"), ("KUBECONFIG", "/nowhere/kubeconfig")]);
    visit.says("FAIL", "API server", &["set KUBECONFIG"]);
    visit.is_silent_about("permissions");
}

/// Writes a kubeconfig for the API server at this address.
fn kubeconfig(addr: SocketAddr) -> tempfile::NamedTempFile {
    let kubeconfig = tempfile::NamedTempFile::new().unwrap();
    let cluster = format!(
        r#"{{"apiVersion": "v1", "kind": "Config", "current-context": "it", "users": [{{"name": "it", "user": {{}}}}],
            "contexts": [{{"name": "it", "context": {{"cluster": "it", "user": "it"}}}}],
            "clusters": [{{"name": "it", "cluster": {{"server": "http://{addr}"}}}}]}}"#
    );
    std::fs::write(kubeconfig.path(), cluster).unwrap();
    kubeconfig
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_reports_cluster_without_definition_of_workshop() {
    const VERSION: &str = r#"{"major": "1", "minor": "34", "gitVersion": "v1.34.0", "gitCommit": "", "gitTreeState": "",
        "buildDate": "", "goVersion": "", "compiler": "", "platform": ""}"#;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let kubeconfig = kubeconfig(listener.local_addr().unwrap());
    // All other paths get 404.
    let api_server = Router::new().route("/version", get(|| async { VERSION }));
    tokio::spawn(axum::serve(listener, api_server).into_future());
    let visit = Visit::with(&[("SERVICE_FLEET", "kubernetes"), ("KUBECONFIG", kubeconfig.path().to_str().unwrap())]);
    visit.says("ok", "API server", &["v1.34.0"]);
    visit.says("FAIL", "CRD", &["no definition of Workshop in workshoplauncher.dev/v1alpha1", "crds/workshops.yaml"]);
}

#[test]
fn hanging_doctor_checks_time_out() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = silent.local_addr().unwrap();
    let kubeconfig = kubeconfig(addr);
    // A named pipe without a writer: a program that opens it for reading hangs.
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("seeds.json");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let visit = Visit::with(&[
        ("SERVICE_DATABASE_URL", &format!("postgres://launcher@{addr}/launcher?sslmode=disable")),
        ("SERVICE_PUBLIC_URL", &format!("http://{addr}")),
        ("SERVICE_FLEET", "kubernetes"),
        ("KUBECONFIG", kubeconfig.path().to_str().unwrap()),
        ("SERVICE_SEED_TEMPLATES", pipe.to_str().unwrap()),
    ]);
    visit.says("FAIL", "database", &["does not answer"]);
    visit.says("FAIL", "API server", &["no answer within"]);
    visit.says("warn", "edge proxy", &["no response within"]);
    visit.says("FAIL", "seed templates", &["did not end within"]);
    visit.says("ok", "admins", &[]);
}
