//! Checks of sources: what they find, and what they refuse. Nothing is placed.

use std::fs;

use launcher_domain::material::MaterialFinding;
use launcher_domain::template::MaterialSource;
use launcher_material::check::{check, limits};
use launcher_material::{Limits, Reach};

use crate::support::archives::{sha256, zip};
use crate::support::http::Server;
use crate::support::repository::{Protocol, Repository};
use crate::support::{Student, archive, git};

fn found(source: &MaterialSource, limits: Limits, reach: &Reach) -> MaterialFinding {
    let student = Student::new();
    let found = check(&student.config(vec![source.clone()]), limits, reach).pop().unwrap();
    assert_eq!(fs::read_dir(student.directory.path()).unwrap().count(), 0, "nothing is placed");
    found
}

fn counts(finding: &MaterialFinding) -> (Option<u64>, Option<u64>) {
    (finding.files, finding.bytes)
}

#[test]
fn repository_is_found_with_its_default_branch_and_files() {
    for protocol in [Protocol::Version2, Protocol::Version0] {
        let repository = Repository::with(protocol);
        let commit = repository.commit(&[("a", "12345"), ("week1/b", "67")]);
        let branch = repository.git(&["symbolic-ref", "--short", "HEAD"]);
        let all = found(&git(&repository.url()), limits(1), &Reach::All);
        assert_eq!(all.version.as_deref(), Some(&*commit), "{all:?}");
        assert_eq!((all.reference.as_deref(), counts(&all)), (Some(branch.trim()), (Some(2), Some(7))));
        let folder = MaterialSource { folder: Some("week1".to_owned()), ..git(&repository.url()) };
        assert_eq!(counts(&found(&folder, limits(1), &Reach::All)), (Some(1), Some(2)));
        let by_commit = MaterialSource { reference: Some(commit.clone()), ..git(&repository.url()) };
        let by_commit = found(&by_commit, limits(1), &Reach::All);
        assert_eq!((by_commit.version.as_deref(), by_commit.reference), (Some(&*commit), None));
    }
}

#[test]
fn missing_branch_and_missing_folder_are_named() {
    let repository = Repository::new();
    repository.commit(&[("a", "1")]);
    let branch = MaterialSource { reference: Some("nope".to_owned()), ..git(&repository.url()) };
    let folder = MaterialSource { folder: Some("nope".to_owned()), ..git(&repository.url()) };
    for (source, words) in [(branch, "no branch or tag nope"), (folder, "no folder nope")] {
        let finding = found(&source, limits(1), &Reach::All);
        assert!(!finding.is_found() && finding.message.as_ref().unwrap().contains(words), "{finding:?}");
    }
}

#[test]
fn checksum_of_an_archive_is_computed_and_compared() {
    let content = zip(&[("a/b", b"123", 0o644)]);
    let digest = sha256(&content);
    let server = Server::file(content);
    let source = MaterialSource { sha256: None, ..archive(&server.url("data.zip"), "") };
    let computed = found(&source, limits(1), &Reach::All);
    assert_eq!((computed.version.as_deref(), counts(&computed)), (Some(&*digest), (Some(1), Some(3))));
    let other = found(&archive(&server.url("data.zip"), &"0".repeat(64)), limits(1), &Reach::All);
    assert!(other.message.unwrap().contains(&digest));
}

#[test]
fn large_source_is_found_without_its_files() {
    let repository = Repository::new();
    let commit = repository.commit(&[("a", &"x".repeat(5000))]);
    let small = Limits { total_bytes: 1000, ..limits(1) };
    let finding = found(&git(&repository.url()), small, &Reach::All);
    assert!(finding.is_found(), "{finding:?}");
    assert_eq!((finding.version.as_deref(), counts(&finding)), (Some(&*commit), (None, None)));
}

#[test]
fn check_with_public_addresses_reaches_no_server_of_this_machine() {
    let server = Server::file(b"secret".to_vec());
    for host in ["127.0.0.1", "localhost"] {
        let url = format!("http://{host}:{}/data.zip", server.address().port());
        let public = Reach::Public { except: Vec::new() };
        let finding = found(&MaterialSource { sha256: None, ..archive(&url, "") }, limits(1), &public);
        let words = format!("{host} has only addresses that checks do not reach");
        assert!(!finding.is_found() && finding.message.as_ref().unwrap().contains(&words), "{finding:?}");
    }
    assert_eq!(server.requests().len(), 0);
}
