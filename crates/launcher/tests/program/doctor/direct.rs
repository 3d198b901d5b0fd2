use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use super::Visit;
use crate::serving::{Serving, free};

const SECRET: &str = "0123456789abcdef0123456789abcdef";

#[test]
fn doctor_reports_missing_or_unreadable_proxy_secret() {
    Visit::with(&[]).says("warn", "proxy secret", &["SERVICE_PROXY_SECRET_FILE is not set", "openssl rand -hex 32"]);
    let wrong = [("SERVICE_PROXY_SECRET_FILE", "/nowhere/proxy-secret")];
    Visit::with(&wrong).says("FAIL", "proxy secret", &["/nowhere/proxy-secret", "cannot be read"]);
    let off = [("SERVICE_REQUIRE_AUTHENTICATION", "false"), ("SERVICE_DEV_IDENTITY", "dev@example.org")];
    Visit::with(&off).is_silent_about("proxy secret");
}

#[test]
fn doctor_sends_forged_identity_to_running_launcher() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("proxy-secret");
    std::fs::write(&file, format!("{SECRET}\n{}\n", SECRET.replace('0', "f"))).unwrap();
    let secret = ("SERVICE_PROXY_SECRET_FILE", file.to_str().unwrap());
    let other = tempfile::tempdir().unwrap();
    let examine = |listen: &str| Visit::at(other.path(), &[secret, ("SERVICE_LISTEN_ADDR", listen)]);

    std::fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    let serving = Serving::start_with(data.path(), &[secret]);
    let visit = examine(&serving.listen().to_string());
    visit.says("warn", "proxy secret", &["every user of this machine can read", "chmod o="]);
    let (_, log) = serving.stop();
    assert_eq!(log.matches("every user of this machine can read").count(), 1, "{log}");

    std::fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    let serving = Serving::start_with(data.path(), &[secret]);
    let visit = examine(&serving.listen().to_string());
    visit.says("ok", "proxy secret", &["accepted secrets: 2"]);
    visit.says("ok", "identity proof", &["refuses a forged identity", "(401)"]);
    assert!(!visit.said.contains(SECRET), "{}", visit.said);
    assert_eq!(serving.stop().0, Some(0));

    let serving = Serving::start_with(data.path(), &[]);
    let visit = examine(&serving.listen().to_string());
    visit.says("FAIL", "identity proof", &["ACCEPTS A FORGED IDENTITY", "SERVICE_PROXY_SECRET_FILE"]);
    assert_eq!(serving.stop().0, Some(0));

    examine(&free().to_string()).says("warn", "identity proof", &["cannot be reached from here"]);
}
