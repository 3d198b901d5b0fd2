//! Tests of the log settings. A process can initialize its log only once, so each test starts this test program again
//! as a child, and reads the child's standard error.

use std::process::Command;

use clap::Parser;
use launcher_process::settings::read_from;
use launcher_process::telemetry::{LogFormat, LogSettings, init};

#[derive(Debug, Parser)]
struct Settings {
    #[command(flatten)]
    logs: LogSettings,
}

fn settings(arguments: &[&str]) -> Result<LogSettings, String> {
    let arguments = ["program"].iter().chain(arguments).map(Into::into);
    read_from::<Settings>(arguments).map(|settings| settings.logs)
}

#[test]
#[ignore = "the child process of the other tests"]
fn child_logs_events() {
    let logs = settings(&[]).unwrap();
    init(&logs).unwrap();
    init(&logs).unwrap();
    let _span = tracing::error_span!("request", user = "alice").entered();
    tracing::info!(answer = 42, "event of this module");
    tracing::debug!("detail of this module");
    tracing::debug!(target: "other", "detail of another module");
    tracing::error!(name: "BatchSpanProcessor.ExportError", target: "opentelemetry_sdk", "batch not sent");
    tracing::error!(name: "BatchSpanProcessor.ExportError", target: "other", "same name elsewhere");
    tracing::error!(name: "Export.Failed", target: "opentelemetry-otlp", "batch not exported");
    tracing::error!(name: "TracerProvider.Invalid", target: "opentelemetry_sdk", "exporter is invalid");
}

/// Starts a child process with this filter and this format. Returns the lines of its log.
fn log(filter: &str, format: &str) -> Vec<String> {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "telemetry::child_logs_events", "--ignored", "--nocapture"])
        .env("SERVICE_LOG", filter)
        .env("SERVICE_LOG_FORMAT", format)
        .output()
        .unwrap();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
    String::from_utf8(child.stderr).unwrap().lines().map(str::to_owned).collect()
}

fn contains(log: &[String], event: &str) -> bool {
    log.iter().any(|line| line.contains(event))
}

#[test]
fn log_filter_sets_levels_per_module() {
    let info = log("", "");
    assert!(contains(&info, "event of this module") && !contains(&info, "detail"), "{info:?}");
    let debug = log("info,process=debug", "text");
    assert!(contains(&debug, "detail of this module") && !contains(&debug, "detail of another"), "{debug:?}");
    assert!(contains(&log("trace", "text"), "detail of another module"));
    assert_eq!(log("off", "text"), [""; 0]);
}

#[test]
fn log_outside_a_terminal_is_json() {
    for format in ["auto", "json"] {
        let log = log("info", format);
        assert!(!contains(&log, "\"spans\""), "{log:?}");
        assert!(log.iter().all(|line| line.starts_with('{') && line.ends_with('}')), "{log:?}");
        let event = log.iter().find(|line| line.contains("event of this module")).unwrap();
        for field in ["\"level\":\"INFO\"", "\"message\":\"event of this module\"", "\"answer\":42"] {
            assert!(event.contains(field) && !event.contains("\"fields\""), "{event}");
        }
    }
}

#[test]
fn text_log_outside_a_terminal_has_no_colours() {
    let log = log("info", "text");
    assert!(contains(&log, "event of this module answer=42"), "{log:?}");
    assert!(!log.iter().any(|line| line.starts_with('{') || line.contains('\u{1b}')), "{log:?}");
}

#[test]
fn repeated_opentelemetry_export_errors_are_not_logged() {
    let log = log("trace", "text");
    assert!(!contains(&log, "batch not"), "{log:?}");
    assert!(contains(&log, "same name elsewhere") && contains(&log, "exporter is invalid"), "{log:?}");
}

#[test]
fn invalid_log_settings_are_refused() {
    let logs = LogSettings { log: "a=b=c".to_owned(), log_format: LogFormat::Text };
    assert!(init(&logs).is_err());
    let error = settings(&["--log-format", "xml"]).unwrap_err();
    assert!(error.contains("SERVICE_LOG_FORMAT (--log-format)") && error.contains("auto, text, json"), "{error}");
}
