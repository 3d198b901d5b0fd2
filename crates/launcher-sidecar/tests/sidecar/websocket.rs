//! WebSockets: authorization, relayed bytes, activity, and close.

use futures_util::{SinkExt, StreamExt};
use tokio::io::AsyncWriteExt;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message};

use super::support::{ALICE, App, Setup, eventually, policy, soon};

pub(crate) const SWITCH: &str = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n";

pub(crate) fn upgrade(lines: &str) -> String {
    format!(
        "GET /ws HTTP/1.1\r\nHost: w.example\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n{lines}\r\n"
    )
}

/// Starts an app that accepts every WebSocket, and echoes the received bytes in capital letters.
async fn shouting() -> App {
    App::start(|mut stream| async move {
        stream.read_head().await;
        stream.write(SWITCH).await;
        while let Some(byte) = stream.read_exact(1).await {
            stream.write(byte.to_ascii_uppercase()).await;
        }
        stream.write("bye").await;
    })
    .await
}

#[tokio::test]
async fn websocket_without_owner_identity_is_refused() {
    let setup = Setup::new().await;
    for lines in ["", "X-Auth-Request-Email: bob@example.org\r\n", "x_auth_request_email: alice@example.org\r\n"] {
        assert_eq!(setup.status(upgrade(lines)).await, 403, "{lines}");
    }
    setup.assert_app_untouched().await;
}

#[tokio::test]
async fn websocket_from_foreign_origin_is_refused() {
    let setup = Setup::new().await;
    for origin in [
        "https://evil.example",
        "null",
        "",
        "https://w.example.evil.example",
        "http://w.example:8080",
        "w.example",
        "https://w.example, https://evil.example",
        "https://sub.w.example",
    ] {
        assert_eq!(setup.status(upgrade(&format!("{ALICE}Origin: {origin}\r\n"))).await, 403, "{origin}");
    }
    let twice = "Origin: https://w.example\r\nOrigin: https://w.example\r\n";
    assert_eq!(setup.status(upgrade(&format!("{ALICE}{twice}"))).await, 403);
    let plain = "X-Forwarded-Proto: wss\r\nOrigin: http://w.example\r\n";
    assert_eq!(setup.status(upgrade(&format!("{ALICE}{plain}"))).await, 403);
    setup.assert_app_untouched().await;
}

#[tokio::test]
async fn websocket_is_forwarded_with_host_and_origin_unchanged() {
    for origin in ["Origin: https://W.example:443\r\n", ""] {
        let setup = Setup::with(policy(), shouting().await).await;
        let mut client = setup.client().await;
        client.send(upgrade(&format!("{ALICE}Sec-WebSocket-Key: k\r\n{origin}"))).await;
        let head = client.read_head().await;
        assert_eq!(head.head, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
        client.send("hello").await;
        assert_eq!(client.read_exact(5).await, b"HELLO");
        eventually("it is counted", || setup.sidecar.activity().open_websockets == 1).await;
        // The client closes its side first. It must still receive the app's last bytes.
        client.io.shutdown().await.unwrap();
        assert_eq!(client.read_to_end().await, "bye");
        let seen = setup.app.seen();
        assert!(seen.contains(&format!("\r\nHost: w.example\r\nSec-WebSocket-Key: k\r\n{origin}X-F")), "{seen}");
        assert!(seen.ends_with("\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello"), "{seen}");
        eventually("it is not counted any more", || setup.sidecar.activity().open_connections == 0).await;
        assert_eq!(setup.sidecar.activity().open_websockets, 0);
    }
}

#[tokio::test]
async fn bytes_sent_together_with_upgrade_are_forwarded() {
    let app = App::start(|mut stream| async move {
        let head = stream.read_head().await.unwrap();
        assert!(head.ends_with("websocket\r\n\r\n"));
        stream.write([SWITCH, "server first"].concat()).await;
        assert_eq!(stream.read_exact(12).await.unwrap(), b"client first");
        stream.write("!").await;
    })
    .await;
    let setup = Setup::with(policy(), app).await;
    let mut client = setup.client().await;
    client.send(format!("{}client first", upgrade(ALICE))).await;
    assert_eq!(client.read_head().await.status, 101);
    assert_eq!(client.read_to_end().await, "server first!");
}

#[tokio::test]
async fn request_after_declined_upgrade_is_authorized_separately() {
    let setup = Setup::new().await;
    let mut client = setup.client().await;
    let hidden = "GET /hidden HTTP/1.1\r\nHost: w.example\r\nX-Auth-Request-Email: bob@example.org\r\n\r\n";
    client.send(format!("{}{hidden}", upgrade(ALICE))).await;
    assert_eq!(client.read_response().await.status, 200);
    assert_eq!(client.read_response().await.status, 403);
    assert!(!setup.app.seen().contains("hidden"));
}

#[tokio::test]
async fn upgrade_that_is_not_valid_websocket_never_reaches_the_app() {
    let setup = Setup::with(policy(), shouting().await).await;
    for (request, status) in [
        (upgrade(ALICE).replace("WebSocket", "h2c"), 502),
        (upgrade(ALICE).replace("WebSocket", "websocket, h2c"), 502),
        (upgrade(ALICE).replace("Upgrade: W", "Upgrade: h2c\r\nUpgrade: W"), 502),
        (upgrade(ALICE).replace("keep-alive, Upgrade", "keep-alive"), 502),
        (upgrade(ALICE).replace("GET", "POST"), 502),
        (upgrade(ALICE).replace("HTTP/1.1", "HTTP/1.0"), 502),
        (upgrade(&format!("{ALICE}Content-Length: 3\r\n")) + "abc", 400),
        (upgrade(&format!("{ALICE}Transfer-Encoding: chunked\r\n")) + "0\r\n\r\n", 400),
    ] {
        assert_eq!(setup.status(&request).await, status, "{request}");
    }
    assert!(!setup.app.seen().to_ascii_lowercase().contains("upgrade"), "{}", setup.app.seen());
}

#[tokio::test]
async fn app_that_switches_to_other_protocol_gets_client_502() {
    for switch in [
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\n\r\n",
    ] {
        let setup = Setup::answering(switch).await;
        assert_eq!(setup.status(upgrade(ALICE)).await, 502);
    }
}

#[tokio::test]
async fn only_websocket_data_frames_count_as_activity() {
    let setup = Setup::with(policy(), shouting().await).await;
    let mut client = setup.client().await;
    client.send(upgrade(ALICE)).await;
    client.read_head().await;
    let opened = setup.sidecar.activity().last_used;
    for (frame, is_data) in [(b"\x89\x80abcd", false), (b"\x8a\x80abcd", false), (b"\x81\x80abcd", true)] {
        tokio::time::sleep(std::time::Duration::from_millis(2)).await; // pacing: the last use is recorded in milliseconds
        client.send(frame).await;
        client.read_exact(frame.len()).await;
        assert_eq!(setup.sidecar.activity().last_used > opened, is_data, "{frame:?}");
    }
}

#[tokio::test]
async fn data_frames_that_only_the_app_sends_count_as_activity() {
    const PING: &[u8] = b"\x89\x80abcd";
    const FRAMES: [(&[u8], bool); 3] = [(b"\x89\x00", false), (b"\x8a\x00", false), (b"\x81\x01x", true)];
    let app = App::start(|mut stream| async move {
        stream.read_head().await;
        stream.write(SWITCH).await;
        for (frame, _) in FRAMES {
            stream.read_exact(PING.len()).await;
            stream.write(frame).await;
        }
        stream.read_end().await;
    })
    .await;
    let setup = Setup::with(policy(), app).await;
    let mut client = setup.client().await;
    client.send(upgrade(ALICE)).await;
    client.read_head().await;
    let opened = setup.sidecar.activity().last_used;
    for (frame, is_data) in FRAMES {
        tokio::time::sleep(std::time::Duration::from_millis(2)).await; // pacing: the last use is recorded in milliseconds
        client.send(PING).await;
        assert_eq!(client.read_exact(frame.len()).await, frame);
        assert_eq!(setup.sidecar.activity().last_used > opened, is_data, "{frame:?}");
    }
}

/// Uses the client and the echo server of a WebSocket library: both must accept the sidecar's close frames as valid.
#[tokio::test]
async fn stop_sends_websocket_close_frame_1001_to_client_and_app() {
    let (told, mut closed) = tokio::sync::mpsc::unbounded_channel();
    let app = App::start(move |stream| {
        let told = told.clone();
        async move {
            let mut socket = tokio_tungstenite::accept_async(stream.stream).await.unwrap();
            while let Some(Ok(message)) = socket.next().await {
                if let Message::Close(frame) = &message {
                    told.send(frame.as_ref().map(|frame| frame.code)).unwrap();
                } else {
                    socket.send(message).await.unwrap();
                }
            }
        }
    })
    .await;
    let setup = Setup::with(policy(), app).await;
    let mut request = format!("ws://{}/", setup.addr).into_client_request().unwrap();
    request.headers_mut().insert("X-Auth-Request-Email", "alice@example.org".parse().unwrap());
    let (mut socket, _) = tokio_tungstenite::connect_async(request).await.unwrap();
    for size in [0, 125, 126, 70_000, 3_000_000] {
        let message = Message::binary(vec![7_u8; size]);
        socket.send(message.clone()).await.unwrap();
        assert_eq!(soon(socket.next()).await.unwrap().unwrap(), message);
    }
    setup.stop.request();
    let Some(Ok(Message::Close(Some(frame)))) = soon(socket.next()).await else { panic!("no close") };
    assert_eq!(frame.code, CloseCode::Away);
    assert_eq!(soon(closed.recv()).await, Some(Some(CloseCode::Away)));
    while let Some(message) = soon(socket.next()).await {
        assert!(matches!(message, Err(Error::ConnectionClosed)), "{message:?}");
    }
    assert!(soon(setup.stop.finish(super::support::PATIENCE)).await);
}

#[tokio::test]
async fn stop_sends_close_frame_after_end_of_unfinished_websocket_frame() {
    let app = App::start(|mut stream| async move {
        stream.read_head().await;
        stream.write([SWITCH.as_bytes(), b"\x82\x05he"].concat()).await;
        // Wait for the sidecar's masked close frame. It shows that the stop has begun.
        assert_eq!(stream.read_exact(8).await.unwrap(), [0x88, 0x82, 0, 0, 0, 0, 3, 0xe9]);
        stream.write(b"llo\x82\x01x").await;
        stream.read_end().await;
    })
    .await;
    let setup = Setup::with(policy(), app).await;
    let mut client = setup.client().await;
    client.send(upgrade(ALICE)).await;
    client.read_head().await;
    assert_eq!(client.read_exact(4).await, b"\x82\x05he");
    setup.stop.request();
    assert_eq!(client.read_exact(7).await, b"llo\x88\x02\x03\xe9");
    client.send(b"\x88\x80abcd").await;
    assert!(client.is_closed().await);
}
