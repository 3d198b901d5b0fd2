//! Archives: formats, folders, versions.

use launcher_domain::material::MaterialOutcome;
use launcher_domain::template::MaterialSource;
use tar::{Builder, EntryType, Header};

use crate::support::archives::{append, gzip, sha256, tar, zip};
use crate::support::http::Server;
use crate::support::{Student, archive, assert_failed, assert_outcome};

fn serve(content: Vec<u8>) -> (Server, MaterialSource) {
    let digest = sha256(&content);
    let server = Server::file(content);
    let source = archive(&server.url("material"), &digest);
    (server, source)
}

#[test]
fn all_formats_are_recognised_by_content() {
    let files: [(&str, &[u8]); 2] = [("top/a.txt", b"1"), ("top/sub/b.txt", b"2")];
    let zipped: Vec<(&str, &[u8], u32)> = files.iter().map(|(path, content)| (*path, *content, 0o644)).collect();
    // Some programs compress an archive in several parts.
    let parts = tar(&files).chunks(700).map(gzip).collect::<Vec<_>>().concat();
    for content in [tar(&files), gzip(&tar(&files)), parts, zip(&zipped)] {
        let (server, source) = serve(content);
        let student = Student::new();
        let report = student.place(&MaterialSource { folder: Some("top".to_owned()), ..source.clone() });
        assert_outcome(&report, MaterialOutcome::Placed);
        assert_eq!(report.version, source.sha256);
        let placed = student.files("course").into_iter().collect::<Vec<_>>();
        assert_eq!(placed, [("a.txt", "1"), ("sub/b.txt", "2")].map(|(path, text)| (path.to_owned(), text.to_owned())));
        let whole = student.place(&source);
        assert_outcome(&whole, MaterialOutcome::Updated);
        assert_eq!(student.read("course/top/sub/b.txt"), "2");
        drop(server);
        assert_outcome(&student.place(&source), MaterialOutcome::Unchanged);
    }
}

#[test]
fn modes_and_empty_directories_are_placed() {
    let with_directories = |kind: EntryType| {
        let mut builder = Builder::new(Vec::new());
        append(&mut builder, kind, "./", 0o755, b"");
        append(&mut builder, kind, "./output/", 0o700, b"");
        append(&mut builder, EntryType::Regular, "./run.sh", 0o4755, b"#!/bin/sh\n");
        append(&mut builder, EntryType::Regular, "./data.csv", 0o600, b"1,2\n");
        builder.into_inner().unwrap()
    };
    let zipped: [(&str, &[u8], u32); 3] =
        [("output/", b"", 0o700), ("run.sh", b"#!/bin/sh\n", 0o4755), ("data.csv", b"1,2\n", 0o600)];
    // Old programs mark a directory by the slash alone.
    for content in [with_directories(EntryType::Directory), with_directories(EntryType::Regular), zip(&zipped)] {
        let (_server, source) = serve(content);
        let student = Student::new();
        let report = student.place(&source);
        assert_eq!((report.outcome, report.message), (MaterialOutcome::Placed, None));
        assert_eq!((student.mode("course/run.sh"), student.mode("course/data.csv")), (0o755, 0o644));
        assert!(student.path("course/output").is_dir());
        assert_eq!(student.mode("course/output"), 0o755);
        let source = MaterialSource { folder: Some("output".to_owned()), ..source };
        assert_outcome(&Student::new().place(&source), MaterialOutcome::Failed);
    }
}

#[test]
fn long_names_of_both_tar_formats_are_read() {
    let name = format!("{}/{}.txt", "d".repeat(150), "f".repeat(150));
    let mut gnu = Builder::new(Vec::new());
    let mut header = Header::new_gnu();
    header.set_size(1);
    header.set_mode(0o644);
    gnu.append_data(&mut header, &name, b"1".as_slice()).unwrap();
    let mut posix = Builder::new(Vec::new());
    posix.append_pax_extensions([("path", name.as_bytes())]).unwrap();
    append(&mut posix, EntryType::Regular, "short", 0o644, b"1");
    for content in [gnu.into_inner().unwrap(), posix.into_inner().unwrap()] {
        let (_server, source) = serve(content);
        let student = Student::new();
        assert_outcome(&student.place(&source), MaterialOutcome::Placed);
        assert_eq!(student.files("course").keys().collect::<Vec<_>>(), [&name]);
    }
}

#[test]
fn last_of_two_entries_with_one_name_is_placed() {
    let (_server, source) = serve(tar(&[("a", b"old"), ("a", b"new")]));
    let student = Student::new();
    assert_outcome(&student.place(&source), MaterialOutcome::Placed);
    assert_eq!(student.read("course/a"), "new");
}

#[test]
fn other_content_than_named_is_refused() {
    let (server, source) = serve(tar(&[("a", b"1")]));
    let student = Student::new();
    let other = MaterialSource { sha256: Some(sha256(b"other")), ..source };
    assert_failed(&student.place(&other), "has the SHA-256");
    assert!(student.files("course").is_empty());
    let page = b"<html>not an archive</html>".to_vec();
    let digest = sha256(&page);
    drop(server);
    let server = Server::file(page);
    assert_failed(&student.place(&archive(&server.url("a.zip"), &digest)), "no zip, tar or tar.gz archive");
}

#[test]
fn damaged_archives_are_refused() {
    let mut cut = gzip(&tar(&[("a", &[7; 100_000])]));
    cut.truncate(cut.len() / 2);
    let mut zipped = zip(&[("a", b"some text that is long enough", 0o644)]);
    zipped[40] ^= 0xff;
    for content in [cut, zipped, b"PK\x03\x04".to_vec(), vec![0x1f, 0x8b]] {
        let (_server, source) = serve(content);
        let student = Student::new();
        assert_failed(&student.place(&source), "archive is damaged");
        assert!(student.files("course").is_empty());
    }
}
