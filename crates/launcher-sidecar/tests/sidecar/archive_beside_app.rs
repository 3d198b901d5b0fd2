//! Tests of `launcher-sidecar archive` beside an app: it sends an archive to each request until a signal.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};

use crate::support::archive::{Reader, TOKEN, Volume, entries};
use crate::support::program::free;
use crate::support::wait_until;

/// Starts the program as beside an app: without a maximum time.
fn start_beside_app(volume: &Volume) -> Reader {
    volume.start_with(|command| {
        command.env("SERVICE_ARCHIVE_WAIT", "0");
    })
}

/// Sends SIGTERM, and returns the exit code.
fn terminated(reader: &mut Reader) -> Option<i32> {
    kill_process(Pid::from_child(&reader.child), Signal::TERM).unwrap();
    reader.exit_code()
}

#[test]
fn program_beside_an_app_sends_each_archive_with_the_current_files_until_sigterm() {
    let volume = Volume::new();
    let mut reader = start_beside_app(&volume);
    for content in ["first", "second", "third"] {
        volume.write("a.txt", content);
        assert_eq!(reader.download("wrong").0, 401);
        let (status, body) = reader.download(TOKEN);
        assert_eq!((status, &*entries(&body)["a.txt"]), (200, content.as_bytes()));
    }
    assert_eq!(terminated(&mut reader), Some(0));
}

#[test]
fn program_beside_an_app_sends_one_archive_at_a_time_and_survives_a_client_that_leaves() {
    let volume = Volume::new();
    volume.write("large", vec![7; 30_000_000]);
    let mut reader = start_beside_app(&volume);
    let mut first = reader.connect();
    write!(first, "GET /archive HTTP/1.1\r\nAuthorization: Bearer {TOKEN}\r\n\r\n").unwrap();
    first.read_exact(&mut [0; 1000]).unwrap();
    assert_eq!(reader.download(TOKEN).0, 409);
    first.shutdown(Shutdown::Both).unwrap();
    drop(first);
    let (mut status, mut body) = (409, Vec::new());
    wait_until("the first download ends", || {
        (status, body) = reader.download(TOKEN);
        status != 409
    });
    assert_eq!((status, entries(&body)["large"].len()), (200, 30_000_000));
    assert_eq!(terminated(&mut reader), Some(0));
}

#[test]
fn program_beside_an_app_waits_until_the_port_is_free() {
    let volume = Volume::new();
    volume.write("a.txt", "a");
    let address = free();
    let app = std::net::TcpListener::bind(address).unwrap();
    let mut reader = volume.start_with(|command| {
        command.env("SERVICE_ARCHIVE_WAIT", "0").env("SERVICE_LISTEN_ADDR", address.to_string());
        command.stderr(Stdio::piped());
    });
    let mut log = BufReader::new(reader.child.stderr.take().unwrap()).lines();
    assert!(log.any(|line| line.unwrap().contains("listening failed, retrying")));
    drop(app);
    assert!(log.any(|line| line.unwrap().contains("waiting for the launcher")));
    reader.address = address;
    assert_eq!(reader.download(TOKEN).0, 200);
    assert_eq!(terminated(&mut reader), Some(0));
}
