//! The host that a request names: only the public host and names of this machine are accepted.

use launcher_testkit::{ALICE, Client, Options, TestApp, Users};

const PUBLIC: &str = "--public-url=https://launcher.example.org:8443";
const BYPASS: [&str; 2] = ["--require-authentication=false", "--dev-identity=dev@example.org"];

async fn get(unauthenticated: &Client, target: &str, hosts: &str) -> String {
    let identity = format!("X-Auth-Request-Email: {ALICE}\r\n");
    unauthenticated.raw(format!("GET {target} HTTP/1.1\r\n{hosts}{identity}Connection: close\r\n\r\n").as_bytes()).await
}

#[tokio::test]
async fn request_for_foreign_host_is_421_with_and_without_authentication() {
    for settings in [&[PUBLIC][..], &[&[PUBLIC], &BYPASS[..]].concat()] {
        let Users { app, unauthenticated, .. } = TestApp::start_with(Options::with_settings(settings)).await;
        for host in [
            // Ports are not compared, because a proxy may forward another port.
            "launcher.example.org",
            "LAUNCHER.example.org:8443",
            "launcher.example.org.:80",
            "localhost",
            "LOCALHOST:1",
            "a.localhost:8000",
            "127.0.0.1:8000",
            "127.8.9.10",
            "[::1]:8000",
            "[::ffff:127.0.0.1]",
        ] {
            let answer = get(&unauthenticated, "/api/v1/me", &format!("Host: {host}\r\n")).await;
            assert!(answer.starts_with("HTTP/1.1 200 "), "{host}: {answer}");
        }
        for host in [
            "evil.example",
            "launcher.example.org.evil.example",
            "evil.launcher.example.org",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "evil@localhost",
            "10.0.0.1",
            "[2001:db8::1]",
            "",
        ] {
            let answer = get(&unauthenticated, "/api/v1/me", &format!("Host: {host}\r\n")).await;
            assert!(answer.starts_with("HTTP/1.1 421 ") && answer.contains("unknown-host"), "{host}: {answer}");
            assert!(answer.contains("https://launcher.example.org:8443 (SERVICE_PUBLIC_URL)"), "{answer}");
        }
        for (target, hosts) in [
            ("/api/v1/me", "Host: localhost\r\nHost: evil.example\r\n"),
            ("/api/v1/me", ""),
            ("http://evil.example/api/v1/me", "Host: localhost\r\n"),
        ] {
            let answer = get(&unauthenticated, target, hosts).await;
            assert!(answer.starts_with("HTTP/1.1 421 "), "{target} {hosts}: {answer}");
        }
        app.finish().await;
    }
}

#[tokio::test]
async fn request_for_foreign_host_is_refused_before_identity_check() {
    let Users { app, unauthenticated, .. } = TestApp::start().await;
    let answer = unauthenticated.raw(b"GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 421 ") && answer.contains("SERVICE_PUBLIC_URL"), "{answer}");
    app.finish().await;
}

#[tokio::test]
async fn hsts_is_sent_only_for_https_public_url() {
    for (options, wanted) in [(Options::with_settings(&[PUBLIC]), "max-age=31536000"), (Options::default(), "")] {
        let Users { app, unauthenticated, alice, .. } = TestApp::start_with(options).await;
        for reply in [
            alice.get("/me").await.expect(200),
            alice.get("/nothing").await.expect(404),
            alice.get("/docs/swagger-ui.css").await.expect(200),
            alice.page("/").await.expect(200),
            unauthenticated.page("/").await.expect(401),
        ] {
            assert_eq!(reply.header("strict-transport-security"), wanted);
        }
        app.finish().await;
    }
}
