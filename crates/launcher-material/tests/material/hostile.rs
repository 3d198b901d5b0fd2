//! Sources that attack: paths outside, links, hooks, bombs, endless answers.

use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::process::Command;

use launcher_domain::material::MaterialOutcome;
use launcher_material::Limits;
use tar::{Builder, EntryType};

use crate::support::archives::{append, gzip, sha256, tar, zip};
use crate::support::http::{Server, respond};
use crate::support::repository::Repository;
use crate::support::{Student, archive, assert_failed, assert_outcome, git};

/// Limits that small sources exceed.
const SMALL: Limits = Limits {
    total_bytes: 1 << 20,
    file_bytes: 1 << 18,
    files: 50,
    path_bytes: 2000,
    state_bytes: 1 << 20,
    added_bytes: u64::MAX,
    objects: 100,
    difference_bytes: 1 << 16,
};

/// Nothing may be outside of the target and the state.
#[track_caller]
fn assert_inside(student: &Student) {
    let entries = std::fs::read_dir(student.directory.path()).unwrap();
    for entry in entries.flatten() {
        let name = entry.file_name().into_string().unwrap();
        assert!(["course", ".course-material"].contains(&name.as_str()), "{name}");
    }
}

#[test]
fn repository_paths_outside_are_refused() {
    let (repository, student) = (Repository::new(), Student::new());
    let blob = repository.blob("evil");
    let inner = repository.tree(&[("100644", "blob", &blob, "evil")]);
    for name in ["..", "."] {
        repository.commit_tree(&[("040000", "tree", &inner, name)]);
        assert_outcome(&student.place(&git(&repository.url())), MaterialOutcome::Failed);
    }
    assert!(student.files("course").is_empty());
    assert_inside(&student);
}

#[test]
fn hooks_links_and_submodules_are_omitted_and_counted() {
    let (repository, student) = (Repository::new(), Student::new());
    let (blob, outside) = (repository.blob("#!/bin/sh\nrm -rf ~\n"), repository.blob("/etc/passwd"));
    let hooks = repository.tree(&[("100755", "blob", &blob, "post-checkout")]);
    let directory = repository.tree(&[("040000", "tree", &hooks, "hooks")]);
    let commit = "1234567890123456789012345678901234567890";
    repository.commit_tree(&[
        ("040000", "tree", &directory, ".git"),
        ("040000", "tree", &directory, ".GIT"),
        ("100644", "blob", &blob, "a.sh"),
        ("120000", "blob", &outside, "link"),
        ("160000", "commit", commit, "module"),
    ]);
    let report = student.place(&git(&repository.url()));
    assert_outcome(&report, MaterialOutcome::Placed);
    let message = report.message.unwrap();
    for words in ["links: 1", "submodules: 1", "not allowed: 2"] {
        assert!(message.contains(words), "{message}");
    }
    assert_eq!(student.files("course").keys().collect::<Vec<_>>(), ["a.sh"]);
    assert_inside(&student);
}

#[test]
fn archive_paths_outside_are_refused() {
    for path in ["../evil", "a/../../evil", "/evil", "a/.."] {
        let mut builder = Builder::new(Vec::new());
        append(&mut builder, EntryType::Regular, "first", 0o644, b"1");
        append(&mut builder, EntryType::Regular, path, 0o644, b"evil");
        for content in [builder.into_inner().unwrap(), zip(&[("first", b"1", 0o644), (path, b"evil", 0o644)])] {
            let digest = sha256(&content);
            let server = Server::file(content);
            let student = Student::new();
            assert_outcome(&student.place(&archive(&server.url("a"), &digest)), MaterialOutcome::Failed);
            assert!(student.files("course").is_empty(), "a refused archive places no file");
            assert_inside(&student);
        }
    }
}

#[test]
fn archive_links_and_devices_are_omitted_and_counted() {
    let mut builder = Builder::new(Vec::new());
    for (kind, path) in [
        (EntryType::Symlink, "link"),
        (EntryType::Link, "hard"),
        (EntryType::Char, "null"),
        (EntryType::Block, "disk"),
        (EntryType::Fifo, "pipe"),
        (EntryType::GNUSparse, "sparse"),
    ] {
        append(&mut builder, kind, path, 0o644, b"");
    }
    append(&mut builder, EntryType::Regular, "link/evil", 0o644, b"1");
    let content = builder.into_inner().unwrap();
    let digest = sha256(&content);
    let server = Server::file(content);
    let student = Student::new();
    let report = student.place(&archive(&server.url("a"), &digest));
    assert_outcome(&report, MaterialOutcome::Placed);
    let message = report.message.unwrap();
    assert!(message.contains("links: 2") && message.contains("directories: 4"), "{message}");
    assert_eq!(student.read("course/link/evil"), "1");
    assert!(std::fs::symlink_metadata(student.path("course/link")).unwrap().is_dir());
    let zipped = zip(&[("link", b"/etc/passwd", 0o120_777), ("a", b"1", 0o644)]);
    let digest = sha256(&zipped);
    let server = Server::file(zipped);
    let student = Student::new();
    let report = student.place(&archive(&server.url("a"), &digest));
    assert_eq!(report.outcome, MaterialOutcome::Placed, "{report:?}");
    assert_eq!(student.files("course").keys().collect::<Vec<_>>(), ["a"]);
}

#[test]
fn archive_entry_with_another_size_in_its_extension_is_refused() {
    for (size, words) in [("64424509440", "is larger than"), ("7", "two sizes"), ("-1", "is larger than")] {
        let mut builder = Builder::new(Vec::new());
        builder.append_pax_extensions([("size", size.as_bytes())]).unwrap();
        append(&mut builder, EntryType::Regular, "data.csv", 0o644, b"");
        append(&mut builder, EntryType::Regular, "notes.txt", 0o644, b"1");
        let content = builder.into_inner().unwrap();
        let digest = sha256(&content);
        let server = Server::file(content);
        let student = Student::new();
        assert_failed(&student.place(&archive(&server.url("a"), &digest)), words);
        assert!(student.files("course").is_empty(), "a refused archive places no file");
    }
}

/// Asserts that git takes this directory for no repository.
#[track_caller]
fn assert_no_repository(student: &Student, directory: &str) {
    let output = Command::new("git")
        .args(["rev-parse", "--git-dir"])
        .current_dir(student.path(directory))
        .env("GIT_CEILING_DIRECTORIES", student.path(""))
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && error.contains("not a git repository"), "{directory}: {output:?}");
}

#[test]
fn source_that_is_a_bare_repository_is_no_repository_for_git() {
    let files: [(&str, &[u8]); 4] = [
        ("HEAD", b"ref: refs/heads/main\n"),
        ("config", b"[core]\nrepositoryformatversion = 0\nbare = true\n"),
        ("objects/info/packs", b""),
        ("refs/heads/.keep", b""),
    ];
    let content = tar(&files);
    let digest = sha256(&content);
    let server = Server::file(content);
    let student = Student::new();
    assert_outcome(&student.place(&archive(&server.url("a"), &digest)), MaterialOutcome::Placed);
    assert!(student.path("course/config").exists() && !student.path("course/HEAD").exists());
    assert_no_repository(&student, "course");
}

#[test]
fn bare_repository_inside_of_a_source_is_no_repository_for_git() {
    let files: [(&str, &[u8]); 8] = [
        ("HEAD", b"a note"),
        ("work/HEAD", b"ref: refs/heads/main\n"),
        ("work/config", b"[core]\nrepositoryformatversion = 0\nbare = true\n"),
        ("work/objects/info/packs", b""),
        ("work/refs/heads/.keep", b""),
        ("other/HEAD", b"ref: refs/heads/main\n"),
        ("other/commondir", b"../work\n"),
        ("other/a.py", b"1"),
    ];
    let modes = files.map(|(path, content)| (path, content, 0o644));
    for content in [tar(&files), zip(&modes)] {
        let digest = sha256(&content);
        let server = Server::file(content);
        let student = Student::new();
        let report = student.place(&archive(&server.url("a"), &digest));
        assert_outcome(&report, MaterialOutcome::Placed);
        let message = report.message.unwrap();
        assert!(message.contains("HEAD of git repositories inside of the source: 2"), "{message}");
        assert_eq!([student.read("course/HEAD"), student.read("course/other/a.py")], ["a note", "1"]);
        for directory in ["course/work", "course/other"] {
            assert_no_repository(&student, directory);
        }
    }
}

#[test]
fn file_below_a_file_is_refused() {
    let content = tar(&[("a", b"1"), ("a/b", b"2")]);
    let digest = sha256(&content);
    let server = Server::file(content);
    assert_failed(&Student::new().place(&archive(&server.url("a"), &digest)), "one name");
}

#[test]
fn bombs_end_at_the_limit() {
    let zeros = vec![0; 8 << 20];
    let many: Vec<(String, Vec<u8>)> = (0..60).map(|number| (format!("f{number}"), Vec::new())).collect();
    let many: Vec<(&str, &[u8])> = many.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect();
    let large: Vec<(&str, &[u8])> = many.iter().take(6).map(|(name, _)| (*name, &zeros[..200_000])).collect();
    let as_zip = |files: &[(&str, &[u8])]| {
        let files: Vec<(&str, &[u8], u32)> = files.iter().map(|(name, content)| (*name, *content, 0o644)).collect();
        zip(&files)
    };
    let one = [("zeros", zeros.as_slice())];
    for (content, words) in [
        (gzip(&tar(&one)), "larger than"),
        (as_zip(&one), "larger than 256 KiB"),
        (gzip(&tar(&large)), "larger than 1 MiB"),
        (as_zip(&large), "larger than 1 MiB"),
        (tar(&many), "more than 50 files"),
        (as_zip(&many), "more than 50 files"),
        (gzip(&zeros), "no zip, tar"),
    ] {
        let digest = sha256(&content);
        let server = Server::file(content);
        let student = Student::new();
        let report = student.place_with(&archive(&server.url("a"), &digest), SMALL);
        if words == "no zip, tar" {
            assert_outcome(&report, MaterialOutcome::Failed);
        } else {
            assert_failed(&report, words);
        }
        assert!(student.files("course").is_empty());
        assert_inside(&student);
    }
}

#[test]
fn large_repositories_end_at_the_limit() {
    let large = "0".repeat(300 << 10);
    let (repository, student) = (Repository::new(), Student::new());
    repository.commit(&[("large", &large)]);
    assert_failed(&student.place_with(&git(&repository.url()), SMALL), "larger than 256 KiB");
    let names: Vec<String> = (0..51).map(|number| format!("f{number}")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    repository.commit(&files);
    assert_failed(&student.place_with(&git(&repository.url()), SMALL), "more than 50 files");
    let names: Vec<String> = (0..101).map(|number| format!("f{number}")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), name.as_str())).collect();
    repository.commit(&files);
    assert_failed(&student.place_with(&git(&repository.url()), SMALL), "more than 100 objects");
    assert!(student.files("course").is_empty());
}

#[test]
fn repository_whose_directories_repeat_ends_at_the_limit() {
    let (repository, student) = (Repository::new(), Student::new());
    let blob = repository.blob("x");
    let mut tree = repository.tree(&[("100644", "blob", &blob, "a"), ("100644", "blob", &blob, "b")]);
    for _ in 0..20 {
        tree = repository.tree(&[("040000", "tree", &tree, "a"), ("040000", "tree", &tree, "b")]);
    }
    repository.commit_tree(&[("040000", "tree", &tree, "bomb")]);
    let limits = Limits { path_bytes: usize::MAX, ..Limits::default() };
    assert_failed(&student.place_with(&git(&repository.url()), limits), "more than 100000 files");
    let deep = (0..40).fold(repository.tree(&[("100644", "blob", &blob, "a")]), |tree, _| {
        repository.tree(&[("040000", "tree", &tree, "d")])
    });
    repository.commit_tree(&[("040000", "tree", &deep, "d")]);
    assert_failed(&student.place(&git(&repository.url())), "too deep");
}

#[test]
fn differences_that_need_much_memory_are_refused() {
    let (repository, student) = (Repository::new(), Student::new());
    let text: String = (0..20_000).map(|number| format!("line {number}\n")).collect();
    repository.commit(&[("a", &text), ("b", &format!("{text}more"))]);
    repository.git(&["gc", "--quiet", "--aggressive"]);
    let limits = Limits { file_bytes: 1 << 20, ..SMALL };
    assert_failed(&student.place_with(&git(&repository.url()), limits), "as a delta");
}

/// Answers like a git server, until the pack: then `pack` writes it.
fn fake(pack: impl Fn(&mut std::net::TcpStream) + Send + Sync + 'static) -> Server {
    Server::start(move |request, stream| {
        if request.method == "GET" {
            let kind = "application/x-git-upload-pack-advertisement";
            let capabilities = b"000eversion 2\n000cls-refs\n0012fetch=shallow\n0000";
            return respond(stream, "200 OK", &[("Content-Type", kind)], capabilities);
        }
        let kind = "application/x-git-upload-pack-result";
        if request.body.windows(7).any(|window| window == b"ls-refs") {
            let reference = b"003d1234567890123456789012345678901234567890 refs/heads/main\n";
            let head = b"00321234567890123456789012345678901234567890 HEAD\n";
            return respond(
                stream,
                "200 OK",
                &[("Content-Type", kind)],
                &[head.as_slice(), reference, b"0000"].concat(),
            );
        }
        let _ = stream.write_all(format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n").as_bytes());
        let _ = stream.write_all(b"000dpackfile\n");
        pack(stream);
    })
}

/// Packs these bytes as data of the first band.
fn band(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut packet = format!("{:04x}", bytes.len() + 5).into_bytes();
    packet.push(number);
    packet.extend_from_slice(bytes);
    packet
}

#[test]
fn endless_answers_end_at_the_limit() {
    for number in [1, 2] {
        let server = fake(move |stream| {
            // A pack of one object that never ends: blocks of stored zeros.
            let _ = stream.write_all(&band(1, b"PACK\0\0\0\x02\0\0\0\x01\xbf\xff\xff\x3f\x78\x01"));
            let block = [b"\0\xff\xff\0\0".as_slice(), &[0; 65_535]].concat();
            while block.chunks(30_000).all(|chunk| stream.write_all(&band(number, chunk)).is_ok()) {}
        });
        let student = Student::new();
        let limits = Limits { file_bytes: 1 << 30, total_bytes: 8 << 20, ..SMALL };
        assert_failed(&student.place_with(&git(&server.url("a.git")), limits), "larger than");
        assert_inside(&student);
    }
}

#[test]
fn invalid_packs_are_refused() {
    let packs: [&[u8]; 6] = [
        b"",
        b"PACK",
        b"no pack at all, but long enough",
        b"PACK\0\0\0\x02\0\0\0\x01",
        b"PACK\0\0\0\x02\0\0\0\x01\x35not zlib",
        b"PACK\0\0\0\x02\0\0\0\0aaaaaaaaaaaaaaaaaaaa",
    ];
    for pack in packs {
        let server = fake(move |stream| {
            let _ = stream.write_all(&band(1, pack)).and_then(|()| stream.write_all(b"0000"));
        });
        let student = Student::new();
        let report = student.place(&git(&server.url("a.git")));
        assert_outcome(&report, MaterialOutcome::Failed);
        assert!(student.files("course").is_empty());
    }
    let server = fake(|stream| drop(stream.write_all(&band(3, b"access denied by policy\n"))));
    assert_failed(&Student::new().place(&git(&server.url("a.git"))), "access denied by policy");
}

#[test]
fn temporary_files_are_gone_after_failures() {
    let (repository, student) = (Repository::new(), Student::new());
    repository.commit(&[("large", &"0".repeat(300 << 10))]);
    student.place_with(&git(&repository.url()), SMALL);
    let state = std::fs::read_dir(student.path(".course-material")).unwrap();
    assert_eq!(state.count(), 0);
    assert!(std::fs::metadata(student.path(".course-material")).unwrap().mode() & 0o022 == 0);
}
