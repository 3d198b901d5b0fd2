//! Runs a test in a separate network namespace, so that no other process uses its ports, addresses or socket memory.

use std::process::Command;

/// Creates a network namespace, and runs there the shell script `setup` and then the ignored test `test`. If the
/// process lacks the permission to create a namespace, prints that the test did not run, and passes.
#[expect(clippy::print_stdout, reason = "says why the test did not run")]
pub(crate) fn run_in_namespace(test: &str, setup: &str) {
    let may = Command::new("unshare").args(["-n", "ip", "link", "set", "lo", "up"]).output();
    if !may.is_ok_and(|output| output.status.success()) {
        println!("{test} needs root, unshare and ip: it did not run");
        return;
    }
    let script = format!("set -e; ip link set lo up; {setup}\nexec \"$0\" --exact \"$1\" --ignored --nocapture");
    let this = std::env::current_exe().unwrap();
    let output = Command::new("unshare").args(["-n", "sh", "-c", &script]).arg(this).arg(test).output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}
