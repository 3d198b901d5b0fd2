//! Servers that are down, slow, or answer something else.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use launcher_domain::material::MaterialConfig;
use launcher_domain::material::{MaterialOutcome, SourceReport};
use launcher_domain::template::MaterialSource;
use launcher_material::{Limits, run};

use crate::support::archives::{sha256, tar};
use crate::support::http::{Server, respond};
use crate::support::repository::{Protocol, Repository, serve};
use crate::support::{Student, archive, assert_failed, assert_outcome, git};

/// Places a source with a deadline of one second.
fn place_in_a_second(student: &Student, source: &MaterialSource) -> SourceReport {
    let config = MaterialConfig { deadline_seconds: 1, ..student.config(vec![source.clone()]) };
    run(&config, Limits::default()).sources.into_iter().next().unwrap()
}

#[test]
fn server_that_is_down_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/course.git", listener.local_addr().unwrap());
    drop(listener);
    let student = Student::new();
    assert_failed(&student.place(&git(&url)), "127.0.0.1 refuses the connection");
    assert_failed(&student.place(&git("http://no-such-host.invalid/a.git")), "no-such-host.invalid is unknown");
}

#[test]
fn server_that_sends_nothing_ends_at_deadline() {
    let student = Student::new();
    let server = Server::start(|_, _| std::thread::park_timeout(Duration::from_secs(120)));
    assert_outcome(&place_in_a_second(&student, &git(&server.url("a.git"))), MaterialOutcome::Failed);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/a.tar", listener.local_addr().unwrap());
    let report = place_in_a_second(&student, &archive(&url, &sha256(b"")));
    assert_failed(&report, "");
}

#[test]
fn slow_server_ends_at_deadline_and_others_are_placed() {
    let (repository, student) = (Repository::new(), Student::new());
    repository.commit(&[("a", "1")]);
    let slow = Server::start(|_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
        while stream.write_all(b"x").is_ok() {
            std::thread::park_timeout(Duration::from_millis(50)); // pacing: a slow server
        }
    });
    let other = MaterialSource { target: "slow".to_owned(), ..archive(&slow.url("a.tar"), &sha256(b"")) };
    let config = MaterialConfig { deadline_seconds: 30, ..student.config(vec![other, git(&repository.url())]) };
    let report = run(&config, Limits::default());
    assert_failed(&report.sources[0], "");
    assert_outcome(&report.sources[1], MaterialOutcome::Placed);
    assert_eq!(student.read("course/a"), "1");
}

#[test]
fn failure_names_last_version_and_keeps_files() {
    let (repository, student) = (Repository::new(), Student::new());
    let commit = repository.commit(&[("a", "1")]);
    let (root, is_gone) = (repository.root(), Arc::new(AtomicBool::new(false)));
    let gone = Arc::clone(&is_gone);
    let server = Server::start(move |request, stream| {
        if gone.load(Ordering::SeqCst) {
            return respond(stream, "500 Internal Server Error", &[], b"");
        }
        serve(&root, Protocol::Version2, request, stream);
    });
    student.place(&git(&server.url("course.git")));
    is_gone.store(true, Ordering::SeqCst);
    let report = student.place(&git(&server.url("course.git")));
    assert_failed(&report, "has an error (500)");
    assert_eq!(report.version, Some(commit));
    assert_eq!(student.read("course/a"), "1");
}

#[test]
fn other_answers_are_explained() {
    let student = Student::new();
    for (status, words) in [
        ("401 Unauthorized", "requires a login"),
        ("404 Not Found", "check the URL"),
        ("429 Too Many Requests", "429"),
        ("200 OK", "no public git repository"),
    ] {
        let server = Server::start(move |_, stream| respond(stream, status, &[("Content-Type", "text/html")], b"hi"));
        assert_failed(&student.place(&git(&server.url("a.git"))), words);
    }
    let garbage = Server::start(|_, stream| drop(stream.write_all(b"SSH-2.0-OpenSSH_9.2\r\n")));
    assert_failed(&student.place(&git(&garbage.url("a.git"))), "rules of http");
}

#[test]
fn redirect_to_another_path_is_followed() {
    let (repository, student) = (Repository::new(), Student::new());
    repository.commit(&[("a", "1")]);
    let target = repository.url();
    let server = Server::start(move |request, stream| {
        let rest = request.path.strip_prefix("/old").unwrap_or_default();
        let location = format!("{target}{rest}?{}", request.query);
        respond(stream, "301 Moved Permanently", &[("Location", &location)], b"");
    });
    assert_outcome(&student.place(&git(&server.url("old"))), MaterialOutcome::Placed);
    assert_eq!(student.read("course/a"), "1");
}

#[test]
fn redirects_to_files_and_loops_are_refused() {
    let student = Student::new();
    for location in ["file:///etc/passwd", "ftp://127.0.0.1/a", "gopher://127.0.0.1/"] {
        let server = Server::start(move |_, stream| respond(stream, "302 Found", &[("Location", location)], b""));
        assert_failed(&student.place(&git(&server.url("a.git"))), "which is refused");
        assert_failed(&student.place(&archive(&server.url("a.zip"), &sha256(b""))), "which is refused");
    }
    let server = Server::start(|_, stream| respond(stream, "302 Found", &[("Location", "/again")], b""));
    assert_failed(&student.place(&archive(&server.url("a.zip"), &sha256(b""))), "too often");
}

#[test]
fn redirect_after_the_first_request_is_refused() {
    let directory = tempfile::TempDir::new().unwrap();
    let root = directory.path().to_owned();
    let server = Server::start(move |request, stream: &mut TcpStream| match request.method.as_str() {
        "GET" => {
            let capabilities = b"001e# service=git-upload-pack\n0000000eversion 2\n000cls-refs\n0000";
            let kind = "application/x-git-upload-pack-advertisement";
            respond(stream, "200 OK", &[("Content-Type", kind)], capabilities);
        }
        _ => {
            respond(stream, "307 Temporary Redirect", &[("Location", "http://127.0.0.1:1/")], b"");
            serve(&root, Protocol::Version2, request, stream);
        }
    });
    assert_failed(&Student::new().place(&git(&server.url("a.git"))), "307");
}

#[test]
fn archive_is_received_by_redirect() {
    for status in
        ["301 Moved Permanently", "302 Found", "303 See Other", "307 Temporary Redirect", "308 Permanent Redirect"]
    {
        let content = tar(&[("a", b"1")]);
        let digest = sha256(&content);
        let server = Server::start(move |request, stream| match request.path.as_str() {
            "/a.tar" => respond(stream, status, &[("Location", "b.tar")], b""),
            _ => respond(stream, "200 OK", &[], &content),
        });
        let report = Student::new().place(&archive(&server.url("a.tar"), &digest));
        assert_eq!(report.outcome, MaterialOutcome::Placed, "{status}: {report:?}");
    }
}
