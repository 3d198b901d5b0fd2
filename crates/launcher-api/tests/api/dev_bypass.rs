//! The development bypass: one identity for everybody, but only under this machine's names.

use http::Method;
use launcher_testkit::{ALICE, Options, Reply, TestApp};

fn bypass() -> Options {
    Options { dev_identity: Some("Dev@Example.org".to_owned()), ..Options::default() }
}

#[tokio::test]
async fn everybody_is_the_dev_identity_whatever_headers_say() {
    let (app, nobody, alice, _, admin) = TestApp::start_with(bypass()).await;
    for person in [&nobody, &alice, &admin] {
        let me = person.get("/me").await.expect(200).json();
        assert_eq!(me["email"], "dev@example.org");
        assert_eq!(me["is_admin"], false);
    }
    let twice = nobody.request(Method::GET, &nobody.api("/me"));
    let twice = twice.header("X-Auth-Request-Email", ALICE).header("X-Auth-Request-Email", ALICE);
    assert_eq!(Reply::of(twice).await.expect(200).json()["email"], "dev@example.org");
    app.finish().await;
}

#[tokio::test]
async fn a_foreign_host_is_refused_so_that_no_web_page_reaches_it_under_a_name_of_its_own() {
    let (app, nobody, ..) = TestApp::start_with(bypass()).await;
    let get = async |target: &str, hosts: &str| {
        nobody.raw(format!("GET {target} HTTP/1.1\r\n{hosts}Connection: close\r\n\r\n").as_bytes()).await
    };
    for host in ["localhost", "LOCALHOST:1", "a.localhost:8000", "127.0.0.1", "127.0.0.1:8000", "[::1]:8000"] {
        let answer = get("/api/v1/me", &format!("Host: {host}\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{host}: {answer}");
    }
    for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "evil@localhost", "10.0.0.1", ""] {
        let answer = get("/api/v1/me", &format!("Host: {host}\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 403 ") && answer.contains("unknown-host"), "{host}: {answer}");
    }
    for hosts in ["Host: localhost\r\nHost: evil.example\r\n", ""] {
        let answer = get("/api/v1/me", hosts).await;
        assert!(answer.starts_with("HTTP/1.1 40"), "{hosts}: {answer}");
    }
    let answer = get("http://evil.example/api/v1/me", "Host: localhost\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
    app.finish().await;
}

#[tokio::test]
async fn with_authentication_the_proxy_decides_which_hosts_there_are() {
    let (app, _, alice, ..) = TestApp::start().await;
    let request = alice.request(Method::GET, &alice.api("/me")).header("Host", "workshops.example.org");
    Reply::of(request).await.expect(200);
    app.finish().await;
}
