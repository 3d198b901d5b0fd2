//! Packs whose objects are stored as differences to others.

use launcher_domain::material::{MaterialOutcome, SourceReport};
use launcher_material::Limits;

use crate::support::pack::{BLOB, Pack, append};
use crate::support::repository::Repository;
use crate::support::{Student, assert_failed, assert_outcome, git};

/// Limits of the sums, for a commit of one file.
const TOTAL: u64 = 1 << 20;

/// Places a commit of one file of this size, whose pack has a chain of differences that no directory names.
fn place_with_chain(size: usize, length: usize) -> SourceReport {
    let (repository, student) = (Repository::new(), Student::new());
    let content = "x".repeat(size);
    let blob = repository.blob(&content);
    let (mut pack, commit) = Pack::of(&repository, &[("a", &blob)]);
    let mut base = pack.add(BLOB, content.as_bytes());
    for number in 0..length {
        base = pack.add_difference(base, &append(size + number, "y"));
    }
    let server = pack.serve(&commit);
    student.place_with(&git(&server.url("a.git")), Limits { total_bytes: TOTAL, ..Limits::default() })
}

#[test]
fn chain_of_usual_length_is_unpacked() {
    assert_outcome(&place_with_chain(1000, 250), MaterialOutcome::Placed);
}

#[test]
fn long_chain_is_refused() {
    assert_failed(&place_with_chain(10, 501), "long chains of deltas");
}

#[test]
fn chain_that_is_large_together_is_refused() {
    assert_failed(&place_with_chain(60_000, 20), "long chains of deltas");
}

#[test]
fn objects_that_are_large_together_are_refused_before_they_are_unpacked() {
    assert_failed(&place_with_chain(60_000, 40), "larger than 1 MiB");
}

#[test]
fn large_files_stored_as_differences_are_placed() {
    let (repository, student) = (Repository::new(), Student::new());
    let size = 20 << 20;
    let content = "x".repeat(size);
    let first = repository.blob(&content);
    let second = repository.blob(&format!("{content}end"));
    let (mut pack, commit) = Pack::of(&repository, &[("a", &first), ("b", &second)]);
    let base = pack.add(BLOB, content.as_bytes());
    pack.add_difference(base, &append(size, "end"));
    let server = pack.serve(&commit);
    assert_outcome(&student.place(&git(&server.url("a.git"))), MaterialOutcome::Placed);
    assert!(student.read("course/b").ends_with("xend"));
}
