//! Saved files that the launcher sends to a pod.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::{JoinHandle, spawn};
use std::time::{Duration, Instant};

use launcher_domain::TokenDigest;
use launcher_domain::transfer::{Frame, FrameKind, NOT_RESTORED, PLACED, PROOF_BYTES};
use launcher_material::receive::receive;
use sha2::{Digest, Sha256};
use tar::{Builder, EntryType, Header};

use crate::support::DEADLINE;

const TOKEN: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
const CHALLENGE: &str = "c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00";

fn digest() -> TokenDigest {
    hex::encode(Sha256::digest(TOKEN)).parse().unwrap()
}

/// An archive with the file `notes/a.txt`.
fn archive(text: &str) -> Vec<u8> {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_mode(0o644);
    header.set_size(text.len() as u64);
    let mut archive = Builder::new(Vec::new());
    archive.append_data(&mut header, "notes/a.txt", text.as_bytes()).unwrap();
    archive.into_inner().unwrap()
}

/// The program in a thread, with a directory that has files of the image.
struct Pod {
    folder: tempfile::TempDir,
    address: std::net::SocketAddr,
    program: Option<JoinHandle<Result<(), String>>>,
}

impl Pod {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("home")).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut pod = Self { address: listener.local_addr().unwrap(), folder, program: None };
        pod.run(listener);
        pod
    }

    fn run(&mut self, listener: TcpListener) {
        let (home, marker) = (self.home(), self.marker());
        self.program = Some(spawn(move || receive(&listener, digest(), &home, &marker, |_| {})));
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn marker(&self) -> PathBuf {
        self.folder.path().join("placed")
    }

    fn file(&self) -> Option<String> {
        fs::read_to_string(self.home().join("notes/a.txt")).ok()
    }

    fn end(&mut self) -> Result<(), String> {
        self.program.take().unwrap().join().unwrap()
    }
}

fn connect(address: std::net::SocketAddr, token: &str) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(CHALLENGE.as_bytes())?;
    let mut answer = [0; PROOF_BYTES];
    stream.read_exact(&mut answer)?;
    assert_eq!(String::from_utf8_lossy(&answer), digest().answer(CHALLENGE.as_bytes()));
    stream.write_all(token.as_bytes())?;
    Ok(stream)
}

fn send(stream: &mut TcpStream, kind: FrameKind, content: &[u8]) {
    let length = u32::try_from(content.len()).unwrap();
    stream.write_all(&Frame { kind, length }.head()).unwrap();
    stream.write_all(content).unwrap();
}

/// Reads until the program closes the connection.
fn rest(stream: &mut TcpStream) -> Vec<u8> {
    let mut rest = Vec::new();
    // A reset also ends the connection.
    let _ = stream.read_to_end(&mut rest);
    rest
}

#[test]
fn files_are_placed_once_and_the_launcher_learns_it() {
    let mut pod = Pod::start();
    let mut stream = connect(pod.address, TOKEN).unwrap();
    for part in archive("saved").chunks(700) {
        send(&mut stream, FrameKind::Files, part);
    }
    assert!(!pod.marker().exists(), "the archive is not complete yet");
    send(&mut stream, FrameKind::End, &[]);
    assert_eq!(rest(&mut stream), PLACED);
    assert_eq!(pod.end(), Ok(()));
    assert_eq!(pod.file().as_deref(), Some("saved"));

    // The kubelet runs the program again, after the student has worked.
    fs::write(pod.home().join("notes/a.txt"), "newer").unwrap();
    pod.run(TcpListener::bind("127.0.0.1:0").unwrap());
    assert_eq!(pod.end(), Ok(()), "it waits for no connection");
    assert_eq!(pod.file().as_deref(), Some("newer"));
}

#[test]
fn broken_connection_places_all_files_again() {
    let mut pod = Pod::start();
    let whole = archive(&"old".repeat(1000));
    let mut broken = connect(pod.address, TOKEN).unwrap();
    send(&mut broken, FrameKind::Files, &whole[..2000]);
    drop(broken);
    // The end of the archive without the end of the transfer.
    let mut unfinished = connect(pod.address, TOKEN).unwrap();
    send(&mut unfinished, FrameKind::Files, &whole);
    drop(unfinished);
    let mut whole = connect(pod.address, TOKEN).unwrap();
    assert!(!pod.marker().exists());
    send(&mut whole, FrameKind::Files, &archive("new"));
    send(&mut whole, FrameKind::End, &[]);
    assert_eq!(rest(&mut whole), PLACED);
    assert_eq!((pod.end(), pod.file().as_deref()), (Ok(()), Some("new")));
}

#[test]
fn client_without_the_token_places_nothing() {
    let mut pod = Pod::start();
    let mut other = connect(pod.address, &TOKEN.replace('0', "1")).unwrap();
    let frame = Frame { kind: FrameKind::Failure, length: 1 };
    // The program may have closed the connection before.
    let _ = other.write_all(&frame.head()).and_then(|()| other.write_all(b"x"));
    assert!(rest(&mut other).is_empty());
    let mut http = TcpStream::connect(pod.address).unwrap();
    http.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    drop(http);
    assert!(fs::read_dir(pod.home()).unwrap().next().is_none());
    let mut stream = connect(pod.address, TOKEN).unwrap();
    send(&mut stream, FrameKind::Files, &archive("saved"));
    send(&mut stream, FrameKind::End, &[]);
    assert_eq!((pod.end(), pod.file().as_deref()), (Ok(()), Some("saved")));
}

/// Returns the error of the program after these frames.
fn failure(frames: &[(FrameKind, &[u8])]) -> String {
    let mut pod = Pod::start();
    let mut stream = connect(pod.address, TOKEN).unwrap();
    for (kind, content) in frames {
        send(&mut stream, *kind, content);
    }
    assert!(rest(&mut stream).is_empty());
    assert!(!pod.marker().exists());
    pod.end().unwrap_err()
}

#[test]
fn damaged_archive_is_final() {
    let error = failure(&[(FrameKind::Files, &[b'x'; 1024]), (FrameKind::End, &[])]);
    assert!(error.contains("numeric field"), "{error}");
}

#[test]
fn reason_of_the_launcher_is_final_also_after_a_part_of_the_files() {
    let reason = "the saved files no longer exist";
    let part = &archive(&"x".repeat(3000))[..2000];
    for frames in [
        &[(FrameKind::Failure, reason.as_bytes())][..],
        &[(FrameKind::Files, part), (FrameKind::Failure, reason.as_bytes())],
    ] {
        assert_eq!(failure(frames), reason);
    }
}

/// A process that a failed test ends.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}

fn program(folder: &Path, port: u16) -> Program {
    let (marker, report) = (folder.join("placed"), folder.join("report"));
    let child = Command::new(env!("CARGO_BIN_EXE_launcher-material"))
        .arg("receive")
        .args([folder, &marker])
        .args([port.to_string(), digest().to_string()])
        .arg(report)
        .stderr(Stdio::null())
        .spawn();
    Program(child.unwrap())
}

/// Starts the program, and waits until it listens on the returned port. If another process has taken this port meanwhile, the
/// program ends, and the next one gets another port.
fn listening_program(folder: &Path) -> (Program, u16) {
    let deadline = Instant::now() + Duration::from_secs(DEADLINE.into());
    loop {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut program = program(folder, port);
        while program.0.try_wait().unwrap().is_none() {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return (program, port);
            }
            assert!(Instant::now() < deadline, "the program does not listen");
            std::thread::yield_now();
        }
        assert!(Instant::now() < deadline, "the program ends before it listens");
    }
}

#[test]
fn program_reports_why_the_files_cannot_be_placed() {
    let folder = tempfile::tempdir().unwrap();
    let (mut program, port) = listening_program(folder.path());
    let mut stream = connect(([127, 0, 0, 1], port).into(), TOKEN).unwrap();
    send(&mut stream, FrameKind::Failure, b"the saved files no longer exist");
    assert_eq!(program.0.wait().unwrap().code(), Some(NOT_RESTORED.into()));
    assert_eq!(fs::read_to_string(folder.path().join("report")).unwrap(), "the saved files no longer exist");
}
