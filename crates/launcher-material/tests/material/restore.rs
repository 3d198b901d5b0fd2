//! Saved files of an earlier workshop, placed in an empty directory.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use launcher_material::restore::restore;
use tar::{Builder, EntryType, Header};

fn header(kind: EntryType, mode: u32, size: usize) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_mtime(1_700_000_000);
    header.set_size(size as u64);
    header
}

/// Returns an archive with these entries: a path that ends with a slash is a directory.
fn archive(entries: &[(&str, u32, &str)]) -> Vec<u8> {
    let mut archive = Builder::new(Vec::new());
    for (path, mode, text) in entries {
        let kind = if path.ends_with('/') { EntryType::Directory } else { EntryType::Regular };
        archive.append_data(&mut header(kind, *mode, text.len()), path, text.as_bytes()).unwrap();
    }
    archive.into_inner().unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn files_are_placed_with_their_modes_also_those_of_a_repository() {
    let home = tempfile::tempdir().unwrap();
    let entries = [
        ("locked/", 0o500, ""),
        ("locked/deep/", 0o500, ""),
        ("locked/deep/a.txt", 0o400, "one"),
        ("run.sh", 0o755, "#!/bin/sh"),
        ("project/.git/HEAD", 0o644, "ref: refs/heads/main"),
    ];
    assert_eq!(restore(home.path(), &*archive(&entries)).unwrap(), 5);
    let at = |path: &str| home.path().join(path);
    assert_eq!(fs::read_to_string(at("locked/deep/a.txt")).unwrap(), "one");
    assert_eq!(fs::read_to_string(at("project/.git/HEAD")).unwrap(), "ref: refs/heads/main");
    assert_eq!(["locked", "locked/deep", "run.sh"].map(|path| mode(&at(path))), [0o500, 0o500, 0o755]);
    // The test directory cannot be removed otherwise.
    for path in ["locked", "locked/deep"] {
        fs::set_permissions(at(path), PermissionsExt::from_mode(0o700)).unwrap();
    }
}

#[test]
fn links_and_paths_out_of_the_directory_are_refused() {
    let outside = tempfile::tempdir().unwrap();
    let home = outside.path().join("home");
    fs::create_dir(&home).unwrap();
    for name in ["../up", "a/../../up"] {
        let mut bad = header(EntryType::Regular, 0o644, 1);
        bad.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        bad.set_cksum();
        let mut archive = Builder::new(Vec::new());
        archive.append(&bad, &b"x"[..]).unwrap();
        assert!(restore(&home, &*archive.into_inner().unwrap()).is_err(), "{name}");
    }
    let mut links = Builder::new(Vec::new());
    links.append_link(&mut header(EntryType::Symlink, 0o777, 0), "link", "..").unwrap();
    links.append_data(&mut header(EntryType::Regular, 0o644, 1), "link/up", &b"x"[..]).unwrap();
    let error = restore(&home, &*links.into_inner().unwrap()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1, "nothing is outside");
}

#[test]
fn truncated_archive_is_an_error() {
    let home = tempfile::tempdir().unwrap();
    let whole = archive(&[("a.txt", 0o644, &"x".repeat(3000))]);
    assert!(restore(home.path(), &whole[..2000]).is_err());
}
