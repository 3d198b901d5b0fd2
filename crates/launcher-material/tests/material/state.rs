//! The state in `.course-material`, which the student can write.

use std::fs;

use launcher_domain::material::MaterialOutcome;
use launcher_material::Limits;
use launcher_material::directory::Dir;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::io::Errno;

use crate::support::archives::sha256;
use crate::support::repository::Repository;
use crate::support::{Student, assert_failed, assert_outcome, git};

#[test]
fn state_that_could_not_be_read_again_is_not_written() {
    let (repository, student) = (Repository::new(), Student::new());
    let commit = repository.commit(&[("a", "1")]);
    student.place(&git(&repository.url()));
    let before = student.read(".course-material/course.json");
    repository.commit(&[("a", "2"), ("b", "2"), ("c", "2"), ("d", "2")]);
    let limits = Limits { state_bytes: before.len() as u64 + 50, ..Limits::default() };
    let report = student.place_with(&git(&repository.url()), limits);
    assert_failed(&report, "list of all files is too long");
    assert_eq!(report.version, Some(commit));
    assert_eq!(student.read(".course-material/course.json"), before);
}

#[test]
fn paths_outside_in_state_and_journal_are_ignored() {
    let thesis = "the only copy";
    for (name, content) in [
        ("course.json", r#"{"version":"1","files":{"../other/thesis":"DIGEST","x/../../other/thesis":"DIGEST"}}"#),
        ("course.journal", r#"{"path":"../other/thesis","sha256":"DIGEST"}"#),
    ] {
        let (repository, student) = (Repository::new(), Student::new());
        repository.commit(&[("a", "1")]);
        student.write("other/thesis", thesis);
        student.write("course/x/own", "mine");
        student.write(&format!(".course-material/{name}"), &content.replace("DIGEST", &sha256(thesis.as_bytes())));
        let report = student.place(&git(&repository.url()));
        assert_ne!(report.outcome, MaterialOutcome::Failed, "{report:?}");
        assert_eq!(student.read("other/thesis"), thesis, "{name}");
        assert_outcome(&student.place(&git(&repository.url())), MaterialOutcome::Unchanged);
    }
}

#[test]
fn directory_is_never_left() {
    let student = Student::new();
    fs::create_dir(student.path("course")).unwrap();
    let course = Dir::open(&student.path("course")).unwrap();
    for name in [".", ".."] {
        assert_eq!(course.enter(name).unwrap_err(), Errno::NOTDIR);
        assert_eq!(course.make(name).unwrap_err(), Errno::NOTDIR);
    }
}

#[test]
fn directory_in_place_of_a_file_of_the_state_is_named() {
    for name in ["course.json", "course.part", "course.journal"] {
        let (repository, student) = (Repository::new(), Student::new());
        repository.commit(&[("a", "1")]);
        let path = format!(".course-material/{name}");
        student.write(&format!("{path}/own"), "mine");
        assert_failed(&student.place(&git(&repository.url())), &format!("{path} is a directory: rename it"));
        assert_eq!(student.read(&format!("{path}/own")), "mine");
        assert!(!student.path("course").exists(), "the run did not begin");
        fs::rename(student.path(&path), student.path("renamed")).unwrap();
        assert_outcome(&student.place(&git(&repository.url())), MaterialOutcome::Placed);
    }
}

#[test]
fn journal_is_never_written_through_a_link() {
    let journal = ".course-material/course.journal";
    for kind in ["hard", "soft", "pipe"] {
        let (repository, student) = (Repository::new(), Student::new());
        repository.commit(&[("a", "1")]);
        student.write("notes", "my notes");
        fs::create_dir(student.path(".course-material")).unwrap();
        match kind {
            "hard" => fs::hard_link(student.path("notes"), student.path(journal)).unwrap(),
            "soft" => std::os::unix::fs::symlink(student.path("notes"), student.path(journal)).unwrap(),
            _ => mknodat(CWD, student.path(journal), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap(),
        }
        assert_outcome(&student.place(&git(&repository.url())), MaterialOutcome::Placed);
        assert_eq!(student.read("notes"), "my notes", "{kind}");
        assert!(!student.path(journal).exists());
    }
}

#[test]
fn folder_of_another_repository_is_unchanged_until_it_is_renamed() {
    let (alice, bob, student) = (Repository::new(), Repository::new(), Student::new());
    let first = alice.commit(&[("a", "alice"), ("only-alice", "1")]);
    bob.commit(&[("a", "bob"), ("b", "1")]);
    student.place(&git(&alice.url()));

    let report = student.place(&git(&bob.url()));
    assert_failed(&report, "The folder course belongs to another repository, http://127.0.0.1:");
    assert!(report.message.unwrap().contains("rename the folder"));
    assert_eq!(student.files("course").len(), 2);
    assert_eq!(student.read("course/a"), "alice");
    let report = student.place(&git(&alice.url().replace(".git", "/")));
    assert_eq!((report.outcome, report.version), (MaterialOutcome::Unchanged, Some(first)));

    fs::rename(student.path("course"), student.path("mine")).unwrap();
    assert_outcome(&student.place(&git(&bob.url())), MaterialOutcome::Placed);
    assert_eq!((student.read("course/a"), student.read("course/b")), ("bob".to_owned(), "1".to_owned()));
    assert_outcome(&student.place(&git(&bob.url())), MaterialOutcome::Unchanged);
}

#[test]
fn state_without_a_repository_belongs_to_each() {
    let (repository, other, student) = (Repository::new(), Repository::new(), Student::new());
    repository.commit(&[("a", "1")]);
    other.commit(&[("a", "2")]);
    student.place(&git(&repository.url()));
    let state: serde_json::Value = serde_json::from_str(&student.read(".course-material/course.json")).unwrap();
    let mut old = state.clone();
    assert_eq!(old.as_object_mut().unwrap().remove("repository"), Some(repository.url().into()));
    student.write(".course-material/course.json", &old.to_string());
    assert_outcome(&student.place(&git(&other.url())), MaterialOutcome::Updated);
    assert_eq!(student.read("course/a"), "2");
}
