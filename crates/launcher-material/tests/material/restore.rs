//! Saved files of an earlier workshop, placed in the directory of an app.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
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
fn files_replace_those_of_the_image_and_no_link_of_it_is_followed() {
    let outside = tempfile::tempdir().unwrap();
    let home = outside.path().join("home");
    let at = |path: &str| home.join(path);
    fs::create_dir_all(at("was-directory/deep")).unwrap();
    fs::create_dir(outside.path().join("other")).unwrap();
    for (path, text) in [("a.txt", "image"), ("kept.txt", "image"), ("was-file", "image"), ("../other/b.txt", "other")]
    {
        fs::write(at(path), text).unwrap();
    }
    fs::set_permissions(at("a.txt"), PermissionsExt::from_mode(0o400)).unwrap();
    symlink("../other", at("linked")).unwrap();
    symlink("../other/b.txt", at("link.txt")).unwrap();
    let entries = [
        ("a.txt", 0o644, "saved"),
        ("was-directory", 0o644, "saved"),
        ("was-file/", 0o755, ""),
        ("was-file/c.txt", 0o644, "saved"),
        ("linked/b.txt", 0o644, "saved"),
        ("link.txt", 0o644, "saved"),
    ];
    for _ in 0..2 {
        // The second attempt after a broken connection.
        assert_eq!(restore(&home, &*archive(&entries)).unwrap(), entries.len());
    }
    for path in ["a.txt", "was-directory", "was-file/c.txt", "linked/b.txt", "link.txt"] {
        assert!(!fs::symlink_metadata(at(path)).unwrap().is_symlink(), "{path}");
        assert_eq!(fs::read_to_string(at(path)).unwrap(), "saved", "{path}");
    }
    assert_eq!(fs::read_to_string(at("kept.txt")).unwrap(), "image");
    assert_eq!(fs::read_to_string(outside.path().join("other/b.txt")).unwrap(), "other");
}

#[test]
fn files_get_the_owner_of_the_directory_if_root_places_them() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    chown(home.path(), Some(1234), Some(1235)).unwrap();
    restore(home.path(), &*archive(&[("deep/", 0o755, ""), ("deep/a.txt", 0o600, "saved")])).unwrap();
    for path in ["deep", "deep/a.txt"] {
        let found = fs::metadata(home.path().join(path)).unwrap();
        assert_eq!((found.uid(), found.gid()), (1234, 1235), "{path}");
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
