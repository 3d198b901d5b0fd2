//! The state in `.course-material`, which the student can write.

use std::fs;

use launcher_domain::material_report::MaterialOutcome;
use launcher_material::Limits;
use launcher_material::directory::Dir;
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
