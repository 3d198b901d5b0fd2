//! Sources that attack the memory of the program.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::channel;

use launcher_domain::material::MaterialOutcome;
use launcher_domain::material::{CHECK_MEMORY_BYTES, MATERIAL_VARIABLE};
use launcher_material::Limits;

use crate::support::archives::{sha256, tar, zip};
use crate::support::http::{Server, respond};
use crate::support::repository::Repository;
use crate::support::{Student, archive, assert_failed, assert_outcome, git};

const ADVERTISEMENT: &str = "application/x-git-upload-pack-advertisement";

/// Answers the first request of a git client with these bytes.
fn advertise(body: Vec<u8>) -> Server {
    Server::start(move |_, stream| respond(stream, "200 OK", &[("Content-Type", ADVERTISEMENT)], &body))
}

#[test]
fn paths_that_are_long_together_are_refused() {
    let limits = Limits { path_bytes: 1000, ..Limits::default() };
    let names: Vec<String> = (10..30).map(|number| format!("{}{number}", "n".repeat(70))).collect();
    let files: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), b"1".as_slice())).collect();
    let zipped: Vec<(&str, &[u8], u32)> = files.iter().map(|(name, content)| (*name, *content, 0o644)).collect();
    let directories: Vec<String> = names.iter().map(|name| format!("{name}/")).collect();
    let empty: Vec<(&str, &[u8], u32)> =
        directories.iter().map(|name| (name.as_str(), b"".as_slice(), 0o755)).collect();
    for content in [tar(&files), zip(&zipped), zip(&empty)] {
        let digest = sha256(&content);
        let (server, student) = (Server::file(content), Student::new());
        assert_failed(&student.place_with(&archive(&server.url("a"), &digest), limits), "1000 bytes together");
        assert!(student.files("course").is_empty());
    }
    let (repository, student) = (Repository::new(), Student::new());
    let texts: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "1")).collect();
    repository.commit(&texts);
    assert_failed(&student.place_with(&git(&repository.url()), limits), "1000 bytes together");
    let (inner, blob) = (repository.tree(&[]), repository.blob("1"));
    let mut trees: Vec<(&str, &str, &str, &str)> =
        names.iter().map(|name| ("040000", "tree", inner.as_str(), name.as_str())).collect();
    trees.push(("100644", "blob", &blob, "z"));
    repository.commit_tree(&trees);
    assert_failed(&student.place_with(&git(&repository.url()), limits), "1000 bytes together");
}

#[test]
fn many_capabilities_and_references_are_refused() {
    let many = |first: &str, line: &str, count: usize| [first, &line.repeat(count), "0000"].concat().into_bytes();
    let id = "1234567890123456789012345678901234567890";
    let reference = format!("003f{id} refs/heads/branch\n");
    for (body, words) in [
        (many("000eversion 2\n", "0005a", 1001), "too many capabilities"),
        (many("000eversion 2\n", &format!("fff0{}", "a".repeat(65_516)), 2), "too many capabilities"),
        (many("", &reference, 100_001), "more than 100000 branches"),
        // A line that is no reference ends the answer at once.
        (many("", "0005a", 10), "does not answer as a git server"),
    ] {
        assert_failed(&Student::new().place(&git(&advertise(body).url("a.git"))), words);
    }
}

/// Record of the format zip: a signature, and numbers with their sizes in bytes.
fn record(signature: &[u8], numbers: &[(u64, usize)]) -> Vec<u8> {
    let digits = numbers.iter().flat_map(|(number, bytes)| number.to_le_bytes().into_iter().take(*bytes));
    signature.iter().copied().chain(digits).collect()
}

/// Large zip archive whose record at the end states this number of entries. The record is followed by so many bytes
/// that it is far from the end.
fn hidden_count(stated: u64, entries: usize) -> Vec<u8> {
    let start = zip(&[("a", b"1", 0o644)]);
    let list = start.windows(4).position(|window| window == b"PK\x01\x02").unwrap();
    let mut content = start[..list].to_vec();
    let end = start.windows(4).position(|window| window == b"PK\x05\x06").unwrap();
    for number in 0..entries {
        let mut entry = start[list..end].to_vec();
        let name = format!("{number:06}");
        entry[28] = 6;
        entry.splice(46..47, name.bytes());
        content.extend_from_slice(&entry);
    }
    let (record_at, hidden) = (content.len() as u64, 100_000);
    let size = record_at - list as u64;
    content.extend(record(
        b"PK\x06\x06",
        &[(44 + hidden, 8), (45, 2), (45, 2), (0, 4), (0, 4), (stated, 8), (stated, 8), (size, 8), (list as u64, 8)],
    ));
    content.resize(content.len() + hidden as usize, 0);
    content.extend(record(b"PK\x06\x07", &[(0, 4), (record_at, 8), (1, 4)]));
    let most = u64::from(u16::MAX);
    content.extend(record(b"PK\x05\x06", &[(0, 2), (0, 2), (most, 2), (most, 2), (1 << 32, 4), (1 << 32, 4), (0, 2)]));
    content
}

#[test]
fn count_of_zip_entries_far_from_the_end_is_checked() {
    let limits = Limits { files: 50, ..Limits::default() };
    for (stated, entries) in [(1 << 40, 1), (2000, 2000)] {
        let content = hidden_count(stated, entries);
        let digest = sha256(&content);
        let (server, student) = (Server::file(content), Student::new());
        assert_failed(&student.place_with(&archive(&server.url("a"), &digest), limits), "more than 50 files");
    }
}

#[test]
fn long_list_of_zip_files_is_refused() {
    let names: Vec<String> = (0..600).map(|number| format!("{number}{}", "n".repeat(60_000))).collect();
    let files: Vec<(&str, &[u8], u32)> = names.iter().map(|name| (name.as_str(), b"".as_slice(), 0o644)).collect();
    let content = zip(&files);
    let digest = sha256(&content);
    let (server, student) = (Server::file(content), Student::new());
    assert_failed(&student.place(&archive(&server.url("a"), &digest)), "list of files that is too long");
}

#[test]
fn zip_archive_in_a_zip_archive_is_a_file() {
    let inner = hidden_count(1 << 40, 1);
    let content = zip(&[("inner.zip", &inner, 0o644)]);
    let digest = sha256(&content);
    let (server, student) = (Server::file(content), Student::new());
    assert_outcome(&student.place(&archive(&server.url("a"), &digest)), MaterialOutcome::Placed);
    assert_eq!(std::fs::read(student.path("course/inner.zip")).unwrap(), inner);
}

#[test]
fn program_limits_its_memory() {
    let (asked, was_asked) = channel();
    let (answer, may_answer) = channel::<()>();
    let may_answer = Mutex::new(may_answer);
    let server = Server::start(move |_, stream| {
        let _ = asked.send(());
        let _ = may_answer.lock().unwrap().recv();
        let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    });
    let student = Student::new();
    let config = student.config(vec![git(&server.url("a.git"))]);
    let config = serde_json::to_string(&config).unwrap();
    for (arguments, bytes) in [(&[] as &[&str], 512_u64 << 20), (&["check", "--all-addresses"], CHECK_MEMORY_BYTES)] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_launcher-material"));
        let mut child = command.args(arguments).env(MATERIAL_VARIABLE, &config).stdout(Stdio::null()).spawn().unwrap();
        was_asked.recv().unwrap();
        let limits = std::fs::read_to_string(format!("/proc/{}/limits", child.id())).unwrap();
        answer.send(()).unwrap();
        child.wait().unwrap();
        let data = limits.lines().find(|line| line.starts_with("Max data size")).unwrap();
        assert!(data.contains(&bytes.to_string()), "{data}");
    }
}
