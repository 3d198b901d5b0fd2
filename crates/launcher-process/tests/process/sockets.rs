use launcher_process::sockets::{ListeningSocket, listening_sockets};

fn parse(line: &str) -> Option<(String, u64)> {
    ListeningSocket::parse(line).map(|socket| (socket.address.to_string(), socket.inode))
}

#[test]
#[cfg(target_endian = "little")]
fn listening_sockets_of_both_tables_are_parsed() {
    let v4 = "   1: 0100007F:1F40 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0000000000000000 100 0 0 10 0";
    assert_eq!(parse(v4), Some(("127.0.0.1:8000".to_owned(), 4711)));
    let v6 = "   0: 00000000000000000000000001000000:22B8 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 42 1 0000000000000000 100 0 0 10 0";
    assert_eq!(parse(v6), Some(("[::1]:8888".to_owned(), 42)));
    let mapped = v6.replace("00000000000000000000000001000000", "0000000000000000FFFF00000100007F");
    assert_eq!(parse(&mapped), Some(("[::ffff:127.0.0.1]:8888".to_owned(), 42)));
}

#[test]
fn other_lines_are_no_listening_sockets() {
    let head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode";
    let established = "   1: 0100007F:1F40 0100007F:9C40 01 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0 100 0 0 10 0";
    for line in [head, established, "", "0: 01:1F40 00000000:0000 0A", "0: 0100007F:1F40 00000000:0000 0A a b"] {
        assert_eq!(parse(line), None, "{line}");
    }
}

#[test]
fn socket_of_this_process_is_found_until_it_is_closed() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let count = || listening_sockets().unwrap().iter().filter(|socket| socket.address == address).count();
    assert_eq!(count(), 1);
    drop(listener);
    assert_eq!(count(), 0);
}
