//! Log warnings about dangerous settings, and the configured login URL in problems and on pages.

use crate::serving::Serving;
use crate::{launcher, text};

/// Returns the log entries at the level `WARN`, as JSON.
fn warnings(log: &str) -> Vec<&str> {
    log.lines().filter(|line| line.contains(r#""level":"WARN""#)).collect()
}

#[test]
fn development_bypass_warning_names_identity() {
    let data = tempfile::tempdir().unwrap();
    let serving = Serving::start_with(data.path(), &[("SERVICE_REQUIRE_AUTHENTICATION", "false")]);
    let (_, log) = serving.stop();
    let said = warnings(&log).into_iter().find(|line| line.contains("AUTHENTICATION IS OFF")).unwrap_or_default();
    assert!(said.contains("dev@example.org") && said.contains("never in production"), "{log}");
}

#[test]
fn local_fleet_with_authentication_logs_one_warning() {
    let warned = |settings: &[(&str, &str)]| {
        let data = tempfile::tempdir().unwrap();
        let (_, log) = Serving::start_with(data.path(), settings).stop();
        warnings(&log).into_iter().filter(|line| line.contains("does not isolate users")).count()
    };
    assert_eq!(warned(&[]), 1);
    assert_eq!(warned(&[("SERVICE_REQUIRE_AUTHENTICATION", "false")]), 0);
}

#[test]
fn disabled_authentication_without_dev_identity_logs_warning() {
    let data = tempfile::tempdir().unwrap();
    let output = launcher(
        &["serve"],
        // The seed file is a directory, so the start fails. The launcher logs the warning before that.
        &[
            ("SERVICE_REQUIRE_AUTHENTICATION", "false"),
            ("SERVICE_SEED_TEMPLATES", data.path().to_str().unwrap()),
            ("SERVICE_LOG", "info"),
        ],
    );
    let log = text(&output.stderr);
    assert!(warnings(log).iter().any(|line| line.contains("SERVICE_DEV_IDENTITY is not set")), "{log}");
}

/// Starts the operator without a cluster, and returns its log.
fn operator(required: &str) -> String {
    let output = launcher(
        &["operator"],
        &[
            ("SERVICE_WORKSHOP_DOMAIN", "workshops.example.org"),
            ("SERVICE_SIDECAR_IMAGE", "sidecar:1"),
            ("SERVICE_REQUIRE_AUTHENTICATION", required),
            ("SERVICE_LOG", "info"),
            ("KUBECONFIG", "/nowhere/kubeconfig"),
        ],
    );
    text(&output.stderr).to_owned()
}

#[test]
fn operator_without_authentication_logs_warning() {
    let off = |log: &str| warnings(log).iter().filter(|line| line.contains("AUTHENTICATION IS OFF")).count();
    let log = operator("false");
    assert_eq!(off(&log), 1, "{log}");
    let log = operator("true");
    assert!(off(&log) == 0 && log.contains("creating no Ingress"), "{log}");
}

#[test]
fn login_url_is_in_401_problem_and_on_401_page() {
    let data = tempfile::tempdir().unwrap();
    let serving = Serving::start_with(data.path(), &[("SERVICE_LOGIN_URL", "https://login.example.org/start?app=w")]);
    let told = serving.ask("/api/v1/me", "");
    assert!(told.starts_with("HTTP/1.1 401 "), "{told}");
    assert!(told.contains(r#""login_url":"https://login.example.org/start?app=w""#), "{told}");
    let page = serving.ask("/", "Accept: text/html\r\n");
    assert!(page.starts_with("HTTP/1.1 401 "), "{page}");
    assert!(page.contains(r##"href="https://login.example.org/start?app=w&#38;rd=%2F""##), "{page}");
    assert_eq!(serving.stop().0, Some(0));
}
