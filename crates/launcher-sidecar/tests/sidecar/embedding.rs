//! Response headers that forbid frames: the sidecar changes them only for a frame of the workshop's own origin.

use super::support::{ALICE, Setup};

const REFUSING: &str = "HTTP/1.1 200 OK\r\nX-Frame-Options: DENY\r\n\
                        Content-Security-Policy: default-src 'self'; frame-ancestors 'none'\r\nContent-Length: 0\r\n\r\n";

async fn head(setup: &Setup, lines: &str) -> String {
    setup.send(format!("GET / HTTP/1.1\r\nHost: w\r\n{ALICE}{lines}Connection: close\r\n\r\n")).await
}

#[tokio::test]
async fn app_that_refuses_every_frame_permits_frame_of_its_own_origin() {
    let setup = Setup::answering(REFUSING).await;
    let answer = head(&setup, "Sec-Fetch-Dest: iframe\r\nSec-Fetch-Site: same-origin\r\n").await;
    assert!(answer.contains("\r\nX-Frame-Options: SAMEORIGIN\r\n"), "{answer}");
    assert!(answer.contains("\r\nVary: Sec-Fetch-Dest, Sec-Fetch-Site\r\n"), "{answer}");
    assert!(answer.contains("\r\nContent-Security-Policy: default-src 'self'; frame-ancestors 'self'\r\n"), "{answer}");
    assert!(setup.app.seen().contains("Sec-Fetch-Dest: iframe\r\n"), "{}", setup.app.seen());
}

#[tokio::test]
async fn app_that_refuses_every_frame_refuses_frame_of_other_origin() {
    let setup = Setup::answering(REFUSING).await;
    for lines in [
        "",
        "Sec-Fetch-Dest: iframe\r\n",
        "Sec-Fetch-Site: same-origin\r\n",
        "Sec-Fetch-Dest: iframe\r\nSec-Fetch-Site: same-site\r\n",
        "Sec-Fetch-Dest: iframe\r\nSec-Fetch-Site: cross-site\r\n",
        "Sec-Fetch-Dest: iframe\r\nSec-Fetch-Site: none\r\n",
        "Sec-Fetch-Dest: document\r\nSec-Fetch-Site: same-origin\r\n",
        "Sec-Fetch-Dest: embed\r\nSec-Fetch-Site: same-origin\r\n",
    ] {
        let answer = head(&setup, lines).await;
        assert!(answer.contains("\r\nX-Frame-Options: DENY\r\n"), "{lines}: {answer}");
        assert!(answer.contains("\r\nVary: Sec-Fetch-Dest, Sec-Fetch-Site\r\n"), "{lines}: {answer}");
        assert!(answer.contains("default-src 'self'; frame-ancestors 'none'\r\n"), "{lines}: {answer}");
    }
}

#[tokio::test]
async fn cached_response_for_the_frame_is_not_used_for_a_tab() {
    let setup = Setup::new().await;
    for (lines, varies) in [
        ("Sec-Fetch-Dest: iframe\r\nSec-Fetch-Site: same-origin\r\n", true),
        ("Sec-Fetch-Dest: document\r\nSec-Fetch-Site: same-origin\r\n", false),
    ] {
        let answer = head(&setup, lines).await;
        assert_eq!(answer.contains("\r\nVary: Sec-Fetch-Dest, Sec-Fetch-Site\r\n"), varies, "{lines}: {answer}");
    }
}
