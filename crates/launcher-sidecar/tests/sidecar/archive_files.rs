//! Tests of the files in the archive of `launcher-sidecar archive`, and of its list of missing files.

use std::fs::{OpenOptions, Permissions, remove_dir, remove_file, rename, set_permissions};
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;

use launcher_sidecar::archive::write_archive;
use rustix::fs::{Mode, OFlags, mkdirat, openat};

use crate::support::archive::{Reader, TOKEN, Volume, entries, files_of};

const LIST: &str = "NOT-IN-THIS-ARCHIVE.txt";
/// A user that is not the one of the files.
const STRANGER: u32 = 65534;

/// Starts the program as a user that is neither root nor the owner of the files.
fn start_as_stranger(volume: &Volume) -> Reader {
    volume.start_with(|command| {
        // Without root, the modes below also refuse the owner.
        if rustix::process::geteuid().is_root() {
            command.uid(STRANGER).gid(STRANGER);
        }
    })
}

fn forbid(path: &Path) {
    set_permissions(path, Permissions::from_mode(0o000)).unwrap();
}

#[test]
fn files_that_cannot_be_read_are_listed_and_all_others_are_in_the_archive() {
    let volume = Volume::new();
    volume.write("notes.txt", "saved");
    volume.write("private/key", "secret");
    volume.write("locked.txt", "secret");
    volume.write("line\nfeed", "secret");
    for name in ["private", "locked.txt", "line\nfeed"] {
        forbid(&volume.path(name));
    }
    let reader = start_as_stranger(&volume);
    let found = entries(&reader.download(TOKEN).1);
    assert_eq!(found.keys().collect::<Vec<_>>(), [LIST, "notes.txt", "private/"]);
    let list = std::str::from_utf8(&found[LIST]).unwrap();
    for line in ["private/: permission denied\n", "locked.txt: permission denied\n", "line\\nfeed: permission denied\n"]
    {
        assert!(list.contains(line), "{line} in {list}");
    }
    set_permissions(volume.path("private"), Permissions::from_mode(0o755)).unwrap();
}

/// Creates directories below each other. The path of the deepest one is too long for the kernel.
fn nest(top: &Path, levels: usize) {
    let mut parent = OwnedFd::from(std::fs::File::open(top).unwrap());
    for _ in 0..levels {
        mkdirat(&parent, "a", Mode::RWXU).unwrap();
        parent = openat(&parent, "a", OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).unwrap();
    }
}

/// Removes these directories: moves each out of its parent, and removes the empty parent.
fn remove_nested(top: &Path) {
    let (first, second) = (top.join("a"), top.join("b"));
    while rename(first.join("a"), &second).is_ok() {
        remove_dir(&first).unwrap();
        rename(&second, &first).unwrap();
    }
    remove_dir(&first).unwrap();
}

#[test]
fn deep_directories_need_no_stack_and_no_open_files() {
    let volume = Volume::new();
    let top = volume.path("");
    nest(&top, 3_000);
    volume.write("a/a/notes.txt", "saved");
    // A small stack, and few open files.
    let archived = std::thread::Builder::new().stack_size(256 * 1024).spawn({
        let top = top.clone();
        move || {
            let mut tar = Vec::new();
            write_archive(&top, &mut tar).unwrap();
            tar
        }
    });
    let tar = archived.unwrap().join().unwrap();
    let reader = volume.start_with_limit("ulimit -n 32");
    let (status, body) = reader.download(TOKEN);
    remove_file(volume.path("a/a/notes.txt")).unwrap();
    remove_nested(&top);

    let found = files_of(&tar);
    // The longest path has 4,096 bytes: 2,048 names and as many slashes.
    assert_eq!(found.len(), 2048 + 2);
    assert_eq!(found["a/a/notes.txt"], b"saved");
    let list = String::from_utf8(found[LIST].clone()).unwrap();
    assert!(list.ends_with(&format!("\n{}a: its path is too long\n", "a/".repeat(2048))), "{list}");
    assert_eq!((status, entries(&body)), (200, found));
}

#[test]
fn file_without_content_on_the_disk_is_listed() {
    let volume = Volume::new();
    volume.write("notes.txt", "saved");
    std::fs::File::create(volume.path("sparse")).unwrap().set_len((1 << 30) + 1).unwrap();
    let reader = volume.start();
    let found = entries(&reader.download(TOKEN).1);
    assert_eq!(found.keys().collect::<Vec<_>>(), [LIST, "notes.txt"]);
    let list = std::str::from_utf8(&found[LIST]).unwrap();
    assert!(list.ends_with("\n\nsparse: it is sparse\n"), "{list}");
}

/// An archive. Replaces a directory by a link as soon as its entry is written.
struct Swap<'a> {
    volume: &'a Volume,
    written: Vec<u8>,
}

impl Write for Swap<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if bytes.starts_with(b"outer/inner/\0") {
            let inner = self.volume.path("outer/inner");
            rename(&inner, self.volume.path("outer/gone")).unwrap();
            symlink(self.volume.0.path().join("foreign"), &inner).unwrap();
        }
        self.written.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn root_that_was_replaced_by_a_link_is_not_followed() {
    let volume = Volume::new();
    volume.write("../foreign/notes.txt", "secret");
    let root = volume.path("link");
    symlink(volume.path("../foreign"), &root).unwrap();
    let mut tar = Vec::new();
    write_archive(&root, &mut tar).unwrap();
    let found = files_of(&tar);
    assert_eq!(found.keys().collect::<Vec<_>>(), [LIST]);
    let list = std::str::from_utf8(&found[LIST]).unwrap();
    assert!(list.ends_with("\n\n/: not a directory\n"), "{list}");
}

#[test]
fn directory_that_becomes_a_link_is_not_followed() {
    let volume = Volume::new();
    for name in ["one", "two"] {
        volume.write(&format!("outer/inner/{name}/notes.txt"), "mine");
        volume.write(&format!("../foreign/{name}/notes.txt"), "secret");
    }
    let mut swap = Swap { volume: &volume, written: Vec::new() };
    write_archive(&volume.path(""), &mut swap).unwrap();
    let found = files_of(&swap.written);
    assert!(found.values().all(|content| content != b"secret"), "{found:?}");
    // The directory that is still open is in the archive.
    let list = std::str::from_utf8(&found[LIST]).unwrap();
    let (archived, missing) = if list.contains("one") { ("two", "one") } else { ("one", "two") };
    assert_eq!(found[&format!("outer/inner/{archived}/notes.txt")], b"mine");
    assert!(list.ends_with(&format!("\n\nouter/inner/{missing}/: not a directory\n")), "{list}");
}

#[test]
fn list_does_not_replace_a_file_of_the_user() {
    let volume = Volume::new();
    volume.write(LIST, "of an earlier download");
    volume.write("locked.txt", "secret");
    forbid(&volume.path("locked.txt"));
    let reader = start_as_stranger(&volume);
    let found = entries(&reader.download(TOKEN).1);
    assert_eq!(found.keys().collect::<Vec<_>>(), ["NOT-IN-THIS-ARCHIVE-2.txt", LIST]);
    assert_eq!(found[LIST], b"of an earlier download");
}

#[test]
fn directory_of_the_file_system_for_damaged_files_is_omitted() {
    let volume = Volume::new();
    for name in ["lost+found/damaged", "mine/lost+found/kept"] {
        volume.write(name, "1");
    }
    let reader = volume.start();
    let found = entries(&reader.download(TOKEN).1);
    assert_eq!(found.keys().collect::<Vec<_>>(), ["mine/", "mine/lost+found/", "mine/lost+found/kept"]);
}

/// An archive. Changes the sizes of two files as soon as their entries begin.
struct Resize<'a> {
    volume: &'a Volume,
    written: Vec<u8>,
}

impl Write for Resize<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        for (name, size) in [("grows", 9000), ("shrinks", 10)] {
            if bytes.starts_with(format!("{name}\0").as_bytes()) {
                OpenOptions::new().write(true).open(self.volume.path(name)).unwrap().set_len(size).unwrap();
            }
        }
        self.written.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn file_whose_size_changes_leaves_all_others_readable() {
    let volume = Volume::new();
    for (name, content) in [("grows", "g".repeat(3000)), ("shrinks", "s".repeat(3000)), ("notes.txt", "saved".into())] {
        volume.write(name, content);
    }
    let mut resize = Resize { volume: &volume, written: Vec::new() };
    write_archive(&volume.path(""), &mut resize).unwrap();
    let found = files_of(&resize.written);
    assert_eq!(found.keys().collect::<Vec<_>>(), ["grows", "notes.txt", "shrinks"]);
    assert!(found["grows"] == [b'g'; 3000] && found["notes.txt"] == b"saved");
    assert!(found["shrinks"] == ["s".repeat(10), "\0".repeat(2990)].concat().as_bytes());
}
