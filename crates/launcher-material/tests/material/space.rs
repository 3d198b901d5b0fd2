//! Sources that need more space than a volume has: they fail before their first change.

use launcher_domain::material::MaterialOutcome;
use launcher_material::Limits;

use crate::support::archives::{sha256, tar};
use crate::support::http::Server;
use crate::support::repository::Repository;
use crate::support::{Student, archive, assert_failed, assert_outcome, git};

fn at_most(added_bytes: u64) -> Limits {
    Limits { added_bytes, ..Limits::default() }
}

#[test]
fn source_that_would_fill_the_volume_changes_nothing() {
    let (repository, student) = (Repository::new(), Student::new());
    repository.commit(&[("a", "1"), ("old", "1")]);
    assert_outcome(&student.place(&git(&repository.url())), MaterialOutcome::Placed);
    let large = "large\n".repeat(2000);
    let commit = repository.commit(&[("a", "2"), ("large", &large), ("large2", &large)]);
    let report = student.place_with(&git(&repository.url()), at_most(20_000));
    assert_failed(&report, "The source needs 24000 bytes of disk space, and may use 20000 bytes: delete files");
    assert_eq!(student.files("course").len(), 2);
    assert!(!student.path(".course-material/course.journal").exists(), "the run did not begin");
    let report = student.place_with(&git(&repository.url()), at_most(24_000));
    assert_eq!((report.outcome, report.version), (MaterialOutcome::Updated, Some(commit)));
}

#[test]
fn only_the_growth_counts() {
    let (repository, student) = (Repository::new(), Student::new());
    let text = |version: &str| format!("{version}\n").repeat(1000);
    let names = ["a", "b", "c", "d"];
    let lesson = |text: &str| {
        let files: Vec<(&str, &str)> = names.iter().map(|name| (*name, text)).collect();
        repository.commit(&files);
    };
    lesson(&text("one"));
    student.place(&git(&repository.url()));
    lesson(&text("three"));
    // Each file grows by 2,000 bytes; the compressed repository and each file fit.
    let report = student.place_with(&git(&repository.url()), at_most(8000));
    assert_outcome(&report, MaterialOutcome::Updated);
}

#[test]
fn downloads_end_when_the_disk_is_too_full() {
    // The repository and the archive are larger than their file, which would fit.
    let (repository, student) = (Repository::new(), Student::new());
    repository.commit(&[("a", "1")]);
    assert_failed(&student.place_with(&git(&repository.url()), at_most(50)), "may use 50 bytes");
    let content = tar(&[("a", b"1")]);
    let digest = sha256(&content);
    let server = Server::file(content);
    assert_failed(&student.place_with(&archive(&server.url("a"), &digest), at_most(1000)), "may use 1000 bytes");
    assert!(student.files("course").is_empty());
}
