//! Links and other entries that a student created: nothing outside of the directory changes.

use std::fs;
use std::os::unix::fs::symlink;

use launcher_domain::material::MaterialOutcome;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;

use crate::support::repository::Repository;
use crate::support::{Student, assert_failed, assert_outcome, git};

/// Directory of another user, with one file.
fn outside() -> TempDir {
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("a"), "theirs").unwrap();
    directory
}

#[track_caller]
fn assert_untouched(outside: &TempDir) {
    let names: Vec<_> = fs::read_dir(outside.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(names, ["a"]);
    assert_eq!(fs::read_to_string(outside.path().join("a")).unwrap(), "theirs");
}

#[test]
fn link_in_place_of_target_or_state_is_refused() {
    let (repository, outside) = (Repository::new(), outside());
    repository.commit(&[("a", "1")]);
    for name in ["course", ".course-material"] {
        let student = Student::new();
        symlink(outside.path(), student.path(name)).unwrap();
        assert_failed(&student.place(&git(&repository.url())), name);
        assert_untouched(&outside);
        fs::remove_file(student.path(name)).unwrap();
        fs::write(student.path(name), "a file").unwrap();
        assert_failed(&student.place(&git(&repository.url())), name);
        assert_eq!(student.read(name), "a file");
    }
}

#[test]
fn link_in_place_of_directory_is_not_followed() {
    let (repository, student, outside) = (Repository::new(), Student::new(), outside());
    repository.commit(&[("data/a", "1")]);
    student.place(&git(&repository.url()));
    fs::remove_dir_all(student.path("course/data")).unwrap();
    symlink(outside.path(), student.path("course/data")).unwrap();
    repository.commit(&[("data/a", "2"), ("data/b", "3")]);
    let report = student.place(&git(&repository.url()));
    assert_outcome(&report, MaterialOutcome::Updated);
    assert_eq!(report.conflicts, ["data/b"], "{report:?}");
    assert_untouched(&outside);
    let files = student.files("course");
    let beside: Vec<_> = files.iter().filter(|(path, _)| path.contains("from teacher")).collect();
    assert_eq!(beside.len(), 1);
    assert!(beside[0].0.ends_with("/b") && beside[0].1 == "3", "{beside:?}");
    assert!(fs::symlink_metadata(student.path("course/data")).unwrap().is_symlink());
}

#[test]
fn link_in_place_of_file_is_not_followed() {
    let (repository, student, outside) = (Repository::new(), Student::new(), outside());
    repository.commit(&[("a", "1"), ("gone", "1")]);
    student.place(&git(&repository.url()));
    for name in ["a", "gone", "new"] {
        let _ = fs::remove_file(student.path("course").join(name));
        symlink(outside.path().join("a"), student.path("course").join(name)).unwrap();
    }
    repository.commit(&[("a", "2"), ("new", "3")]);
    let report = student.place(&git(&repository.url()));
    assert_eq!(report.conflicts, ["a", "new"], "{report:?}");
    assert_untouched(&outside);
    assert!(student.files("course")["gone"].starts_with("->"));
}

#[test]
fn links_in_place_of_state_files_are_not_followed() {
    let (repository, student, outside) = (Repository::new(), Student::new(), outside());
    repository.commit(&[("a", "1")]);
    fs::create_dir(student.path(".course-material")).unwrap();
    for name in ["course.json", "course.journal", "course.part"] {
        symlink(outside.path().join("a"), student.path(".course-material").join(name)).unwrap();
    }
    let report = student.place(&git(&repository.url()));
    assert_outcome(&report, MaterialOutcome::Placed);
    assert_untouched(&outside);
}

#[test]
fn pipe_in_place_of_file_does_not_block() {
    let (repository, student) = (Repository::new(), Student::new());
    repository.commit(&[("a", "1")]);
    student.place(&git(&repository.url()));
    fs::remove_file(student.path("course/a")).unwrap();
    mknodat(CWD, student.path("course/a"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    repository.commit(&[("a", "2")]);
    let report = student.place(&git(&repository.url()));
    assert_eq!(report.conflicts, ["a"], "{report:?}");
}

#[test]
fn damaged_state_loses_no_file() {
    let (repository, student) = (Repository::new(), Student::new());
    repository.commit(&[("a", "1"), ("b", "1")]);
    student.place(&git(&repository.url()));
    student.write("course/a", "mine");
    for damage in ["", "{\"files\": 3}", "\u{0}\u{1}"] {
        student.write(".course-material/course.json", damage);
        let report = student.place(&git(&repository.url()));
        assert_eq!(report.conflicts, ["a"], "{report:?}");
        assert_eq!((student.read("course/a"), student.read("course/b")), ("mine".to_owned(), "1".to_owned()));
    }
    let beside = student.files("course").keys().filter(|path| path.contains("from teacher")).count();
    assert_eq!(beside, 1, "the same version is placed beside once");
}
