//! Disabled authentication: the sidecar logs a warning, and counts and logs the requests that it would otherwise
//! refuse.

use std::io::Read;
use std::process::{Command, Stdio};

use super::support::program::Program;
use super::support::{ALICE, App, Client};

/// Returns a command that runs the sidecar and writes its log to standard output, which the test reads.
fn logging(required: &str) -> Command {
    let mut command = Command::new("sh");
    command.env_clear().args(["-c", "exec \"$0\" 2>&1", env!("CARGO_BIN_EXE_launcher-sidecar")]);
    command.env("SERVICE_REQUIRE_AUTHENTICATION", required).stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

/// Sends requests of the owner, of Bob, and without an identity. Returns their statuses, the number of identity
/// mismatches that the sidecar counted, and its log.
async fn asked(required: &str) -> ([u16; 3], String, String) {
    let app = App::answering("HTTP/1.1 204 No Content\r\n\r\n").await;
    let mut program = Program::start_by(logging(required), app.addr).await;
    let mut client = Client::connect(program.addr).await;
    let mut statuses = [0; 3];
    for (status, line) in statuses.iter_mut().zip([ALICE, "X-Auth-Request-Email: bob@example.org\r\n", ""]) {
        client.send(format!("GET / HTTP/1.1\r\nHost: w\r\n{line}\r\n")).await;
        *status = client.read_response().await.status;
    }
    let metrics = program.ask("/metrics").await;
    let counted = metrics.lines().find_map(|line| line.strip_prefix("sidecar_identity_mismatches_total "));
    let counted = counted.unwrap().to_owned();
    program.child.kill().unwrap();
    let mut log = String::new();
    program.child.stdout.take().unwrap().read_to_string(&mut log).unwrap();
    (statuses, counted, log)
}

const OFF: &str = "authentication is off: requests of every user are forwarded";
const FORWARDED: &str = "forwarding request without the owner's identity";

#[tokio::test]
async fn identity_mismatch_is_forwarded_and_counted_if_authentication_is_off() {
    let (statuses, counted, log) = asked("false").await;
    assert_eq!((statuses, counted.as_str()), ([204; 3], "2"));
    assert_eq!((log.matches(OFF).count(), log.matches(FORWARDED).count()), (1, 2), "{log}");
    assert!(log.contains("the identity is not the owner's"), "{log}");
}

#[tokio::test]
async fn identity_mismatch_is_refused_if_authentication_is_on() {
    let (statuses, counted, log) = asked("true").await;
    assert_eq!((statuses, counted.as_str()), ([204, 403, 403], "0"));
    assert!(log.contains("serving") && !log.contains(OFF) && !log.contains(FORWARDED), "{log}");
}
