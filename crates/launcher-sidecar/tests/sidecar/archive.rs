//! Tests of `launcher-sidecar archive`, which sends one archive and ends. They run it as a process and ask over raw sockets.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::fs::symlink;
use std::process::Stdio;

use rustix::process::{Pid, Resource, Rlimit, prlimit};

use crate::support::archive::{TOKEN, Volume, digest, entries, response};

#[test]
fn archive_is_sent_once_to_the_client_with_the_token() {
    let volume = Volume::new();
    let large = vec![7; 3_000_000];
    volume.write("notes/ü 1.txt", "saved");
    volume.write("large", &large);
    symlink("/etc/passwd", volume.path("link")).unwrap();
    let mut reader = volume.start();
    assert_eq!(reader.ask("/ready", "").0, 200);
    for headers in ["", "Authorization: Bearer \r\n", &format!("Authorization: Bearer {TOKEN}x\r\n")] {
        assert_eq!(reader.ask("/archive", headers).0, 401, "{headers}");
    }
    assert_eq!(reader.download(&digest()).0, 401, "the digest is not the token");
    assert_eq!(reader.ask("/files", "").0, 404);

    let (status, body) = reader.download(TOKEN);
    assert_eq!(status, 200);
    let found = entries(&body);
    assert_eq!(found.keys().collect::<Vec<_>>(), ["large", "notes/", "notes/ü 1.txt"]);
    assert_eq!((&found["large"], &*found["notes/ü 1.txt"]), (&large, &b"saved"[..]));
    assert_eq!(reader.exit_code(), Some(0));
}

#[test]
fn program_waits_until_the_client_has_received_all() {
    let volume = Volume::new();
    volume.write("a.txt", "a");
    let mut reader = volume.start();
    let mut stream = reader.connect();
    write!(stream, "GET /archive HTTP/1.1\r\nHost: pod\r\nAuthorization: Bearer {TOKEN}\r\n\r\n").unwrap();
    assert_eq!(response(&mut stream).0, 200);
    // The end of the process would end the pod, and so the connection of a client that is slower than this one.
    for _ in 0..20 {
        assert_eq!((reader.ask("/ready", "").0, reader.child.try_wait().unwrap()), (200, None));
    }
    drop(stream);
    assert_eq!(reader.exit_code(), Some(0));
}

#[test]
fn second_download_is_refused_while_the_first_runs() {
    let volume = Volume::new();
    volume.write("large", vec![7; 30_000_000]);
    let mut reader = volume.start();
    let mut first = reader.connect();
    write!(first, "GET /archive HTTP/1.1\r\nAuthorization: Bearer {TOKEN}\r\n\r\n").unwrap();
    first.read_exact(&mut [0; 1000]).unwrap();
    assert_eq!(reader.download(TOKEN).0, 409);
    assert_eq!(reader.ask("/ready", "").0, 200);
    let mut rest = Vec::new();
    first.read_to_end(&mut rest).unwrap();
    assert!(rest.ends_with(b"\r\n0\r\n\r\n"));
    drop(first);
    assert_eq!(reader.exit_code(), Some(0));
}

#[test]
fn program_ends_when_the_client_is_gone() {
    let volume = Volume::new();
    volume.write("large", vec![7; 30_000_000]);
    let mut reader = volume.start();
    let mut client = reader.connect();
    write!(client, "GET /archive HTTP/1.1\r\nAuthorization: Bearer {TOKEN}\r\n\r\n").unwrap();
    client.read_exact(&mut [0; 1000]).unwrap();
    client.shutdown(Shutdown::Both).unwrap();
    drop(client);
    assert_eq!(reader.exit_code(), Some(1));
}

#[test]
fn program_ends_if_no_client_asks_in_time() {
    let volume = Volume::new();
    let mut reader = volume.start_with(|command| {
        command.env("SERVICE_ARCHIVE_WAIT", "20");
    });
    assert_eq!(reader.ask("/ready", "").0, 200, "a probe is no download");
    assert_eq!(reader.exit_code(), Some(1));
}

#[test]
fn silent_connections_do_not_delay_the_download() {
    let volume = Volume::new();
    volume.write("a", "1");
    let mut reader = volume.start();
    let silent: Vec<_> = (0..4).map(|_| reader.connect()).collect();
    let (status, body) = reader.download(TOKEN);
    assert_eq!((status, entries(&body).len()), (200, 1));
    assert_eq!(reader.exit_code(), Some(0));
    drop(silent);
}

#[test]
fn connection_without_a_free_file_does_not_end_the_running_download() {
    let volume = Volume::new();
    volume.write("large", vec![7; 30_000_000]);
    let mut reader = volume.start_with(|command| {
        command.stderr(Stdio::piped());
    });
    let mut log = BufReader::new(reader.child.stderr.take().unwrap()).lines();
    let mut first = reader.connect();
    write!(first, "GET /archive HTTP/1.1\r\nAuthorization: Bearer {TOKEN}\r\n\r\n").unwrap();
    first.read_exact(&mut [0; 100_000]).unwrap();
    let limit = Rlimit { current: Some(1), maximum: Some(1) };
    let pid = Pid::from_raw(reader.child.id().cast_signed());
    prlimit(pid, Resource::Nofile, limit).unwrap();
    let second = reader.connect();
    let line = log.find_map(|line| line.ok().filter(|line| line.contains("accept"))).unwrap();
    assert!(line.contains("accepting a connection failed, retrying"), "{line}");
    let mut rest = Vec::new();
    first.read_to_end(&mut rest).unwrap();
    assert!(rest.ends_with(b"\r\n0\r\n\r\n"));
    drop(first);
    assert_eq!(reader.exit_code(), Some(0));
    drop(second);
}

#[test]
fn program_raises_its_limit_of_open_files() {
    let volume = Volume::new();
    let reader = volume.start_with_limit("ulimit -n 100; ulimit -Sn 50");
    assert_eq!(reader.ask("/ready", "").0, 200);
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", reader.child.id())).unwrap();
    let files = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    assert_eq!(files.split_whitespace().nth(3), Some("100"), "{files}");
}

#[test]
fn invalid_setting_fails_start_with_one_line_error() {
    let digest = digest();
    for (directory, token, said) in [
        ("", &*digest, "SERVICE_ARCHIVE_DIRECTORY"),
        ("/tmp", "", "SERVICE_ARCHIVE_TOKEN_SHA256"),
        ("/tmp", TOKEN, "write 64 hexadecimal digits"),
    ] {
        let settings = [("SERVICE_ARCHIVE_DIRECTORY", directory), ("SERVICE_ARCHIVE_TOKEN_SHA256", token)];
        let mut command = crate::support::program::command(&settings);
        let output = command.arg("archive").output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(said) && error.lines().count() == 1, "{error}");
    }
}

#[test]
fn memory_stays_small_while_a_slow_client_reads_a_large_file() {
    let volume = Volume::new();
    std::fs::File::create(volume.path("sparse")).unwrap().set_len(1 << 30).unwrap();
    let reader = volume.start();
    let mut client = reader.connect();
    write!(client, "GET /archive HTTP/1.1\r\nAuthorization: Bearer {TOKEN}\r\n\r\n").unwrap();
    let mut read = vec![0; 64 * 1024];
    for _ in 0..500 {
        client.read_exact(&mut read).unwrap();
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", reader.child.id())).unwrap();
    let resident = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    let kib: u64 = resident.split_whitespace().next().unwrap().parse().unwrap();
    assert!(kib < 8 * 1024, "{kib} KiB");
}
