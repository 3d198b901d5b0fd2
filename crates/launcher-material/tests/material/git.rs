//! Repositories: branches, tags, commits, folders, both versions of the protocol.

use std::collections::BTreeMap;

use launcher_domain::material::MaterialOutcome;
use launcher_domain::template::MaterialSource;

use crate::support::repository::{Protocol, Repository};
use crate::support::{Student, assert_failed, assert_outcome, git};

#[test]
fn default_branch_is_placed_with_modes() {
    let (repository, student) = (Repository::new(), Student::new());
    repository.commit(&[("README.md", "read me\n"), ("week1/a.py", "print(1)\n"), ("run.sh", "#!/bin/sh\n")]);
    repository.git(&["update-index", "--chmod=+x", "run.sh"]);
    repository.git(&["commit", "--quiet", "--message=mode"]);
    let commit = repository.git(&["rev-parse", "HEAD"]);
    let report = student.place(&git(&repository.url()));
    assert_outcome(&report, MaterialOutcome::Placed);
    assert_eq!((report.version, report.message), (Some(commit), None));
    assert_eq!(student.read("course/week1/a.py"), "print(1)\n");
    assert_eq!((student.mode("course/run.sh"), student.mode("course/README.md")), (0o755, 0o644));
    assert_eq!(student.files("course").len(), 3);
}

#[test]
fn both_versions_of_protocol_find_all_kinds_of_references() {
    for protocol in [Protocol::Version0, Protocol::Version2] {
        let repository = Repository::with(protocol);
        let first = repository.commit(&[("a", "1")]);
        repository.git(&["tag", "--annotate", "--message=tag", "v1"]);
        repository.git(&["tag", "light"]);
        repository.git(&["branch", "stable/1"]);
        let second = repository.commit(&[("a", "2")]);
        // A branch is preferred to a tag with the same name.
        repository.git(&["tag", "stable/1"]);
        repository.git(&["config", "uploadpack.allowAnySHA1InWant", "true"]);
        for (reference, content) in [
            (Some("v1"), "1"),
            (Some("light"), "1"),
            (Some("stable/1"), "1"),
            (Some("refs/heads/stable/1"), "1"),
            (Some("refs/tags/stable/1"), "2"),
            (Some(first.as_str()), "1"),
            (Some("main"), "2"),
            (None, "2"),
        ] {
            let student = Student::new();
            let source = MaterialSource { reference: reference.map(str::to_owned), ..git(&repository.url()) };
            let report = student.place(&source);
            assert_eq!(report.outcome, MaterialOutcome::Placed, "{protocol:?} {reference:?} {report:?}");
            assert_eq!(student.read("course/a"), content, "{reference:?}");
            let commit = if content == "1" { &first } else { &second };
            assert_eq!(report.version.as_ref(), Some(commit), "{reference:?}");
            let fetches = repository.fetches();
            assert_outcome(&student.place(&source), MaterialOutcome::Unchanged);
            assert_eq!(repository.fetches(), fetches, "an unchanged version is not received again");
        }
        let student = Student::new();
        let report = student.place(&MaterialSource { reference: Some("gone".to_owned()), ..git(&repository.url()) });
        assert_failed(&report, "no branch or tag gone");
    }
}

#[test]
fn only_the_commit_is_received_without_its_history() {
    let (repository, student) = (Repository::new(), Student::new());
    repository.commit(&[("a", &"secret of the past ".repeat(10_000))]);
    repository.commit(&[("a", "now")]);
    assert_outcome(&student.place(&git(&repository.url())), MaterialOutcome::Placed);
    let requests = repository.server.requests();
    assert!(requests.iter().any(|request| String::from_utf8_lossy(&request.body).contains("deepen 1\n")));
}

#[test]
fn folder_limits_the_files() {
    let (repository, student) = (Repository::new(), Student::new());
    repository.commit(&[("a", "1"), ("week1/sub/b", "2"), ("week1/sub/deep/c", "3"), ("week10/d", "4")]);
    let source = MaterialSource { folder: Some("week1/sub".to_owned()), ..git(&repository.url()) };
    assert_outcome(&student.place(&source), MaterialOutcome::Placed);
    let files = student.files("course");
    assert_eq!(files.keys().collect::<Vec<_>>(), ["b", "deep/c"]);
    let other = MaterialSource { folder: Some("week10".to_owned()), ..source.clone() };
    assert_outcome(&student.place(&other), MaterialOutcome::Updated);
    assert_eq!(student.files("course").keys().collect::<Vec<_>>(), ["d"]);
    let missing = MaterialSource { folder: Some("week2".to_owned()), ..source };
    assert_failed(&student.place(&missing), "no folder week2");
    assert_eq!(student.files("course").keys().collect::<Vec<_>>(), ["d"], "a failure changes no file");
}

#[test]
fn files_stored_as_differences_have_their_content() {
    let (repository, student) = (Repository::new(), Student::new());
    let line = |number: usize| format!("line {number} of a long file {}\n", number * 7919 % 1013);
    let text: String = (0..5000).map(line).collect();
    let names: Vec<String> = (0..20).map(|number| format!("dir/file{number}.txt")).collect();
    let texts: Vec<String> = (0..20).map(|number| text.replacen("line 77 ", &format!("change {number} "), 1)).collect();
    let files: BTreeMap<&str, &[u8]> =
        names.iter().zip(&texts).map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    repository.commit_bytes(&files);
    repository.git(&["gc", "--quiet", "--aggressive"]);
    let stored = repository.git(&["count-objects", "-v"]);
    let bytes: usize = stored.lines().find_map(|line| line.strip_prefix("size-pack: ")).unwrap().parse().unwrap();
    assert!(bytes < 200, "the repository has no differences: {bytes} KiB");
    assert_outcome(&student.place(&git(&repository.url())), MaterialOutcome::Placed);
    for (name, text) in names.iter().zip(&texts) {
        assert_eq!(&student.read(&format!("course/{name}")), text, "{name}");
    }
}

#[test]
fn repository_without_commits_is_named() {
    for protocol in [Protocol::Version0, Protocol::Version2] {
        let (repository, student) = (Repository::with(protocol), Student::new());
        assert_failed(&student.place(&git(&repository.url())), "no commit");
    }
}

#[test]
fn two_sources_are_placed_in_one_run() {
    let (one, two, student) = (Repository::new(), Repository::new(), Student::new());
    one.commit(&[("a", "1")]);
    two.commit(&[("a", "2")]);
    let other = MaterialSource { target: "other".to_owned(), ..git(&two.url()) };
    let twice = MaterialSource { target: "other".to_owned(), ..git(&one.url()) };
    let config = student.config(vec![git(&one.url()), other, twice]);
    let report = launcher_material::run(&config, launcher_material::Limits::default());
    assert_eq!((student.read("course/a"), student.read("other/a")), ("1".to_owned(), "2".to_owned()));
    assert_outcome(&report.sources[0], MaterialOutcome::Placed);
    assert_outcome(&report.sources[1], MaterialOutcome::Placed);
    assert_failed(&report.sources[2], "Two sources");
}
