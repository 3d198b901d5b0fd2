//! Addresses on which an app listens instead of its port.

use std::net::SocketAddr;

use launcher_domain::listening::no_longer;
use launcher_domain::{FailureCode, FailureReason, ListensElsewhere};

fn compare(sockets: &[&str], port: u16) -> Option<ListensElsewhere> {
    ListensElsewhere::new(sockets.iter().map(|socket| socket.parse::<SocketAddr>().unwrap()), port)
}

#[test]
fn socket_that_accepts_connections_to_the_port_is_as_expected() {
    for socket in ["127.0.0.1:8000", "0.0.0.0:8000", "[::]:8000", "[::ffff:127.0.0.1]:8000"] {
        assert_eq!(compare(&["127.0.0.1:5000", socket], 8000), None, "{socket}");
    }
    assert_eq!(compare(&[], 8000), None);
}

#[test]
fn other_ports_and_addresses_are_elsewhere() {
    for socket in ["127.0.0.1:8001", "0.0.0.0:8001", "[::1]:8000", "127.0.0.2:8000", "192.0.2.7:8000"] {
        let elsewhere = compare(&[socket, socket], 8000).unwrap();
        assert_eq!(elsewhere.to_string(), format!("the app listens on {socket}, expected 127.0.0.1:8000"));
    }
}

#[test]
fn address_with_the_expected_port_is_first_and_the_number_is_bounded() {
    let many = ["127.0.0.1:5004", "127.0.0.1:5003", "127.0.0.1:5002", "127.0.0.1:5001", "[::1]:8000"];
    let shown: Vec<String> = compare(&many, 8000).unwrap().addresses.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["[::1]:8000", "127.0.0.1:5001", "127.0.0.1:5002", "127.0.0.1:5003"]);
}

#[test]
fn last_sentence_in_the_log_of_a_sidecar_counts() {
    let elsewhere = compare(&["127.0.0.1:5000", "[::1]:8000"], 8000).unwrap();
    let earlier = compare(&["127.0.0.1:1"], 8000).unwrap();
    let line =
        |text: &dyn std::fmt::Display| format!("{{\"level\":\"WARN\",\"message\":\"{text}\",\"target\":\"x\"}}\n");
    assert_eq!(ListensElsewhere::in_log(&(line(&earlier) + &line(&elsewhere) + "other\n")), Some(elsewhere.clone()));
    assert_eq!(ListensElsewhere::in_log(&elsewhere.to_string()), Some(elsewhere.clone()));
    assert_eq!(ListensElsewhere::in_log(&(line(&elsewhere) + &line(&no_longer()) + "other\n")), None);
    for log in ["", "other", "the app listens on somewhere, expected 127.0.0.1:8000", "the app listens on 127.0.0.1:1"]
    {
        assert_eq!(ListensElsewhere::in_log(log), None, "{log}");
    }
}

#[test]
fn port_of_another_program_is_left_out() {
    let elsewhere = compare(&["127.0.0.1:5000", "0.0.0.0:8082"], 8000).unwrap();
    assert_eq!(elsewhere.clone().without_port(8082), compare(&["127.0.0.1:5000"], 8000));
    assert_eq!(compare(&["0.0.0.0:8082"], 8000).unwrap().without_port(8082), None);
}

#[test]
fn start_timeout_of_an_app_that_listens_elsewhere_needs_another_template() {
    let elsewhere = compare(&["127.0.0.1:8000"], 21936);
    let reason = FailureReason::new(FailureCode::StartTimeout, None).with_listening(elsewhere.as_ref());
    let message =
        "The workshop did not become ready in time. The app listens on 127.0.0.1:8000, expected 127.0.0.1:21936.";
    assert_eq!((reason.message.as_str(), reason.retryable), (message, false));
    assert!(reason.remedy.contains("127.0.0.1:$(PORT)"), "{}", reason.remedy);
    let other = FailureReason::new(FailureCode::StartTimeout, None);
    assert_eq!(other.clone().with_listening(None), other);
}
