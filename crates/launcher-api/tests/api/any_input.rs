//! Arbitrary input: cursors of lists, and identity headers, which API and sidecar must read alike.

use launcher_domain::EmailAddress;
use launcher_process::stop::Stop;
use launcher_sidecar::frame::Frame;
use launcher_sidecar::{Policy, Sidecar};
use launcher_testkit::{ALICE, BOB, Client, TestApp, Users};
use proptest::prelude::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::Runtime;

fn cursor() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[0-9a-f]{15,17}",
        "[0-9a-fA-F]{32}",
        "[+-]?[0-9]{0,20}",
        "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        "[!-\"$-~]{0,40}",
    ]
}

#[test]
fn list_with_arbitrary_cursor_returns_page_or_422() {
    let runtime = Runtime::new().unwrap();
    let Users { app, admin, .. } = runtime.block_on(TestApp::start());
    let template = runtime.block_on(app.template(&admin));
    runtime.block_on(app.launched(&admin, &template, "running"));
    let class = format!("admin/templates/{template}/workshops");
    proptest!(ProptestConfig::with_cases(64), |(text in cursor())| {
        let sent: String = form_urlencoded::byte_serialize(text.as_bytes()).collect();
        runtime.block_on(async {
            for list in ["instances", "templates", "activity", "snapshots"] {
                let reply = admin.get(&format!("/{list}/?cursor={sent}")).await;
                if reply.status != 200 {
                    assert_eq!(reply.status, 422, "{list} {text:?}: {}", reply.text());
                    assert_eq!(reply.code(), "invalid-parameters");
                    assert_eq!(reply.json()["errors"][0]["pointer"], "/cursor");
                }
            }
            for page in ["history", "admin/activity", "admin/instances", &class] {
                assert_eq!(admin.page(&format!("/{page}?after={sent}")).await.status, 200, "{page} {text:?}");
            }
        });
    });
    runtime.block_on(app.finish());
}

/// Returns the caller that the API reads from these header lines.
async fn known(unauthenticated: &Client, lines: &str) -> Option<String> {
    let request = format!("GET /api/v1/me HTTP/1.1\r\nHost: localhost\r\n{lines}Connection: close\r\n\r\n");
    let answer = unauthenticated.raw(request.as_bytes()).await;
    let status = &answer[9..12];
    assert!(["200", "400", "401"].contains(&status), "{lines:?}: {answer}");
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    let me: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
    (status == "200").then(|| me["email"].as_str().unwrap().to_owned())
}

/// Returns true if the sidecar of a workshop of this owner accepts these header lines.
async fn is_let_in(owner: &EmailAddress, lines: &str) -> bool {
    // No app listens on this port, so the sidecar answers an accepted request with an upstream error.
    let policy = Policy { owner: Some(owner.clone()), ..Policy::without_owner() };
    let sidecar = Sidecar::new(policy, ([127, 0, 0, 1], 9).into(), Frame::default());
    let (mut near, far) = tokio::io::duplex(64 * 1024);
    let request = format!("GET / HTTP/1.1\r\nHost: w\r\n{lines}Connection: close\r\n\r\n");
    near.write_all(request.as_bytes()).await.unwrap();
    near.shutdown().await.unwrap();
    let mut answer = String::new();
    let (_, read) = tokio::join!(sidecar.serve_connection(far, None, Stop::new()), near.read_to_string(&mut answer));
    read.unwrap();
    let status = &answer[9..12];
    assert!(["400", "403", "502", "503"].contains(&status), "{lines:?}: {answer}");
    status.starts_with('5')
}

/// Generates a header line that may contain an identity, and the e-mail address that the line may mean.
fn line() -> impl Strategy<Value = (String, String)> {
    let name = prop_oneof![
        12 => Just("X-Auth-Request-Email"), 2 => Just("x-auth-request-email"), 1 => Just("X_Auth_Request_Email"),
        1 => Just("X.Auth.Request.Email"), 1 => Just("XAuthRequestEmail"), 1 => Just("X-Forwarded-Email"),
        1 => Just("X-Auth-Request-User"),
    ];
    let value = prop_oneof![
        4 => Just(ALICE.to_owned()), 2 => Just("Alice@Example.org".to_owned()), 2 => Just(BOB.to_owned()),
        4 => "[ \t]{0,2}[a-zA-Z0-9.+'-]{1,6}@[a-zA-Z0-9.-]{1,8}[ \t]{0,2}",
        2 => "[!-~]{1,8}@[!-~]{1,8}", 2 => "[ -~\t\u{80}-\u{3ff}]{0,12}", 1 => "\\PC{0,4}@\\PC{0,4}",
        1 => (60..70_usize, 180..200_usize).prop_map(|(local, domain)| "a".repeat(local) + "@" + &"b".repeat(domain)),
    ];
    (name, value).prop_map(|(name, value)| (format!("{name}: {value}\r\n"), value))
}

#[test]
fn sidecar_and_api_recognise_same_identity() {
    let runtime = Runtime::new().unwrap();
    let Users { app, unauthenticated, .. } = runtime.block_on(TestApp::start());
    proptest!(ProptestConfig::with_cases(128), |(lines in prop_oneof![3 => prop::collection::vec(line(), 1..2), 1 => prop::collection::vec(line(), 0..4)])| {
        let head: String = lines.iter().map(|(line, _)| line.as_str()).collect();
        let meant = lines.iter().map(|(_, value)| value.as_str()).chain([ALICE, BOB]);
        runtime.block_on(async {
            let known = known(&unauthenticated, &head).await;
            for owner in meant.filter_map(|text| EmailAddress::parse(text).ok()) {
                let is_owner = known.as_deref() == Some(owner.as_str());
                assert_eq!(is_let_in(&owner, &head).await, is_owner, "{owner} by {head:?}: the API knows {known:?}");
            }
            if let Some(known) = known {
                assert!(is_let_in(&EmailAddress::parse(&known).unwrap(), &head).await, "{known} by {head:?}");
            }
        });
    });
    runtime.block_on(app.finish());
}
