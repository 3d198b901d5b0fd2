//! The proxy secret of the running program: it is required, can be replaced without a restart, and is never logged.

use launcher_testkit::wait_until;

use crate::serving::Serving;

const OLD: &str = "0123456789abcdef0123456789abcdef";
const NEW: &str = "fedcba9876543210fedcba9876543210";

/// Sends an admin's request with this proof, and returns the response status. An empty proof sends no proof header.
fn status(serving: &Serving, proof: &str) -> u16 {
    let proof = if proof.is_empty() { String::new() } else { format!("X-Auth-Request-Proof: {proof}\r\n") };
    let answer = serving.ask("/api/v1/me", &format!("X-Auth-Request-Email: admin@example.org\r\n{proof}"));
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}

#[test]
fn proxy_secret_is_replaced_without_a_restart() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("proxy-secret");
    std::fs::write(&file, format!("{OLD}\n")).unwrap();
    // Log only warnings: the test reads the log at the end, and one entry for each request would fill the pipe.
    let settings = [("SERVICE_PROXY_SECRET_FILE", file.to_str().unwrap()), ("SERVICE_LOG", "warn")];
    let serving = Serving::start_with(data.path(), &settings);
    assert_eq!([status(&serving, ""), status(&serving, NEW), status(&serving, OLD)], [401, 401, 200]);

    std::fs::write(&file, format!("{OLD}\n{NEW}\n")).unwrap();
    wait_until("the second secret is not accepted", || {
        assert_eq!(status(&serving, OLD), 200, "no request is refused during a rotation");
        status(&serving, NEW) == 200
    });
    std::fs::write(&file, format!("{NEW}\n")).unwrap();
    wait_until("the first secret is still accepted", || {
        assert_eq!(status(&serving, NEW), 200, "no request is refused during a rotation");
        status(&serving, OLD) == 401
    });
    for _ in 0..20 {
        assert_eq!(status(&serving, ""), 401);
    }
    let (code, log) = serving.stop();
    assert_eq!(code, Some(0), "{log}");
    assert!(!log.contains(OLD) && !log.contains(NEW), "{log}");
    let warnings = log.lines().filter(|line| line.contains("WARN") && line.contains("X-Auth-Request-Proof")).count();
    assert_eq!(warnings, 10, "later refusals are debug entries: {log}");
}
