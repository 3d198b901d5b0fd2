//! The files of the app's image: the copy has the same content, modes, times and links, and never replaces the work of a
//! student.

use std::fs::{self, File, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, lchown, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use launcher_material::image::{Copied, copy};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::geteuid;
use tempfile::TempDir;

use crate::support::memory_directory;

/// Directories of an image and of a volume.
struct Folders(TempDir);

impl Folders {
    fn new() -> Self {
        let folders = Self(memory_directory());
        fs::create_dir(folders.image()).unwrap();
        fs::create_dir(folders.volume()).unwrap();
        folders
    }

    fn image(&self) -> PathBuf {
        self.0.path().join("image")
    }

    fn volume(&self) -> PathBuf {
        self.0.path().join("volume")
    }

    fn note(&self) -> PathBuf {
        self.0.path().join("note")
    }

    fn copy(&self, most: u64) -> Result<Option<Copied>, String> {
        copy(&self.image(), &self.volume(), &self.note(), most)
    }
}

fn write(path: &Path, text: &str, mode: u32) {
    let mut file = File::create(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file.set_permissions(Permissions::from_mode(mode)).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000)).unwrap();
}

fn mode(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().mode() & 0o7777
}

#[test]
fn copy_has_the_content_modes_times_and_links_of_the_image() {
    let folders = Folders::new();
    let (image, volume) = (folders.image(), folders.volume());
    fs::create_dir_all(image.join("course/locked")).unwrap();
    write(&image.join("course/lesson.txt"), "lesson", 0o640);
    write(&image.join("course/locked/run.sh"), "run", 0o755);
    write(&image.join(".hidden"), "", 0o600);
    symlink("course/lesson.txt", image.join("link")).unwrap();
    symlink("/nowhere", image.join("dangling")).unwrap();
    fs::set_permissions(image.join("course/locked"), Permissions::from_mode(0o555)).unwrap();
    let locked = File::open(image.join("course/locked")).unwrap();
    locked.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_100_000_000)).unwrap();

    let copied = folders.copy(1 << 20).unwrap().unwrap();

    assert_eq!(copied, Copied { entries: 7, bytes: 9, unreadable: Vec::new() });
    assert_eq!(fs::read_to_string(volume.join("course/lesson.txt")).unwrap(), "lesson");
    assert_eq!(fs::read_to_string(volume.join("course/locked/run.sh")).unwrap(), "run");
    for (path, expected) in
        [("course/lesson.txt", 0o640), ("course/locked/run.sh", 0o755), (".hidden", 0o600), ("course/locked", 0o555)]
    {
        assert_eq!(mode(&volume.join(path)), expected, "{path}");
    }
    for path in ["course/lesson.txt", "course/locked", "course/locked/run.sh", ".hidden", "link"] {
        let times = |folder: &Path| folder.join(path).symlink_metadata().unwrap().mtime();
        assert_eq!(times(&volume), times(&image), "{path}");
    }
    assert_eq!(fs::read_link(volume.join("link")).unwrap(), Path::new("course/lesson.txt"));
    assert_eq!(fs::read_link(volume.join("dangling")).unwrap(), Path::new("/nowhere"));
}

#[test]
fn copy_has_the_owners_of_the_image_if_root_copies() {
    if !geteuid().is_root() {
        return;
    }
    let folders = Folders::new();
    let (image, volume) = (folders.image(), folders.volume());
    fs::create_dir(image.join("course")).unwrap();
    write(&image.join("course/tool"), "tool", 0o755);
    symlink("course", image.join("link")).unwrap();
    let owners = [("", 1234), ("course", 1235), ("course/tool", 1236), ("link", 1237)];
    for (path, owner) in owners {
        lchown(image.join(path), Some(owner), Some(owner + 100)).unwrap();
    }
    // A change of the owner removes the first bit.
    fs::set_permissions(image.join("course/tool"), Permissions::from_mode(0o4755)).unwrap();

    folders.copy(100).unwrap().unwrap();

    for (path, owner) in owners {
        let found = volume.join(path).symlink_metadata().unwrap();
        assert_eq!((found.uid(), found.gid()), (owner, owner + 100), "{path}");
    }
    assert_eq!(mode(&volume.join("course/tool")), 0o4755);
}

#[test]
fn second_run_does_not_replace_the_work_of_a_student() {
    let folders = Folders::new();
    write(&folders.image().join("lesson.txt"), "image", 0o644);
    folders.copy(100).unwrap().unwrap();
    write(&folders.volume().join("lesson.txt"), "student", 0o644);
    assert_eq!(folders.copy(100).unwrap(), None);
    assert_eq!(fs::read_to_string(folders.volume().join("lesson.txt")).unwrap(), "student");
}

#[test]
fn copy_that_was_killed_is_repeated() {
    let folders = Folders::new();
    fs::create_dir(folders.image().join("course")).unwrap();
    write(&folders.image().join("course/lesson.txt"), "lesson", 0o644);
    symlink("course", folders.image().join("link")).unwrap();
    folders.copy(100).unwrap().unwrap();
    fs::remove_file(folders.note()).unwrap();
    write(&folders.volume().join("course/lesson.txt"), "les", 0o400);
    fs::set_permissions(folders.volume().join("course"), Permissions::from_mode(0o500)).unwrap();

    folders.copy(100).unwrap().unwrap();

    let copy = folders.volume().join("course/lesson.txt");
    assert_eq!((fs::read_to_string(&copy).unwrap().as_str(), mode(&copy)), ("lesson", 0o644));
    assert_eq!(mode(&folders.volume().join("course")), mode(&folders.image().join("course")));
}

#[test]
fn pipes_and_devices_are_not_copied() {
    let folders = Folders::new();
    mknodat(CWD, folders.image().join("pipe"), FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
    assert_eq!(folders.copy(100).unwrap().unwrap(), Copied::default());
    assert_eq!(fs::read_dir(folders.volume()).unwrap().count(), 0);
}

#[test]
fn image_without_the_directory_leaves_the_volume_empty() {
    let folders = Folders::new();
    fs::remove_dir(folders.image()).unwrap();
    assert_eq!(folders.copy(100).unwrap().unwrap(), Copied::default());
    assert!(folders.note().exists());
}

#[test]
fn link_instead_of_the_directory_is_refused() {
    let folders = Folders::new();
    let link = folders.0.path().join("link");
    // The directory with the target.
    symlink(folders.0.path(), &link).unwrap();
    for source in [link.clone(), link.join("")] {
        let refused = copy(&source, &folders.volume(), &folders.note(), 100).unwrap_err();
        assert!(refused.contains(" is no directory in the image, or a link: "), "{refused}");
    }
    assert!(!folders.note().exists());
    assert_eq!(fs::read_dir(folders.volume()).unwrap().count(), 0);
}

#[test]
fn file_has_at_most_the_bytes_that_the_limit_counts() {
    let folders = Folders::new();
    // Files of the kernel have the size 0 and content.
    let copied = copy(Path::new("/proc/sys/kernel/random"), &folders.volume(), &folders.note(), 0).unwrap().unwrap();
    assert_eq!(copied.bytes, 0);
    assert_eq!(fs::read_to_string(folders.volume().join("uuid")).unwrap(), "");
}

#[test]
fn files_above_the_limit_fail_with_an_explanation() {
    let folders = Folders::new();
    write(&folders.image().join("a"), "12345", 0o644);
    write(&folders.image().join("b"), "12345", 0o644);
    let error = folders.copy(9).unwrap_err().to_string();
    let expected = format!("the files of the image below {} need more than 9 bytes", folders.image().display());
    assert!(error.starts_with(&expected), "{error}");
    assert!(!folders.note().exists());
    folders.copy(10).unwrap().unwrap();
}

fn program(path: &Path, words: &[&str]) -> Output {
    Command::new(path).args(words).output().unwrap()
}

#[test]
fn installed_program_copies_the_files() {
    let folders = Folders::new();
    write(&folders.image().join("lesson.txt"), "lesson", 0o644);
    let installed = folders.0.path().join("launcher-material");
    let own = Path::new(env!("CARGO_BIN_EXE_launcher-material"));
    // The second run replaces the program.
    for _ in 0..2 {
        let output = program(own, &["install", installed.to_str().unwrap()]);
        assert!(output.status.success(), "{output:?}");
    }
    assert_eq!(mode(&installed), 0o555);

    let [image, volume, note] =
        [folders.image(), folders.volume(), folders.note()].map(|path| path.display().to_string());
    let output = program(&installed, &["copy", &image, &volume, &note, "1000"]);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "copied 1 entries with 6 bytes\n");
    assert_eq!(fs::read_to_string(folders.volume().join("lesson.txt")).unwrap(), "lesson");
}

#[test]
fn failure_is_one_line_and_an_exit_code() {
    let folders = Folders::new();
    let file = folders.image().join("file");
    write(&file, "", 0o644);
    let [file, volume, note] = [file, folders.volume(), folders.note()].map(|path| path.display().to_string());
    let own = Path::new(env!("CARGO_BIN_EXE_launcher-material"));
    for (words, code, text) in [
        (vec!["copy", &file, &volume, &note, "9"], 1, "is no directory in the image"),
        (vec!["copy", &file, &volume, &note, "much"], 1, "much is not a number of bytes"),
        (vec!["install", "/nowhere/program"], 1, "/nowhere/program"),
        (vec!["copy"], 2, "copy SOURCE TARGET MARKER BYTES"),
    ] {
        let output = program(own, &words);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), error.lines().count()), (Some(code), 1), "{words:?}: {error}");
        assert!(error.starts_with("launcher-material: ") && error.contains(text), "{error}");
    }
}

#[test]
fn files_that_the_user_of_the_app_cannot_read_are_missing_and_named() {
    /// User without privileges.
    const USER: u32 = 65_534;
    let folders = Folders::new();
    let (image, volume) = (folders.image(), folders.volume());
    write(&image.join("lesson.txt"), "lesson", 0o644);
    write(&image.join("key"), "secret", 0o000);
    fs::create_dir(image.join("private")).unwrap();
    fs::set_permissions(image.join("private"), Permissions::from_mode(0o000)).unwrap();
    let installed = folders.0.path().join("launcher-material");
    let own = Path::new(env!("CARGO_BIN_EXE_launcher-material"));
    assert!(program(own, &["install", installed.to_str().unwrap()]).status.success());
    let mut command = Command::new(&installed);
    // Without root, the modes above also refuse the owner.
    if geteuid().is_root() {
        for path in [folders.0.path(), &volume] {
            chown(path, Some(USER), Some(USER)).unwrap();
        }
        command.uid(USER).gid(USER);
    }
    let output = command.arg("copy").args([&image, &volume, &folders.note()]).arg("1000").output().unwrap();

    assert!(output.status.success(), "{output:?}");
    let error = String::from_utf8(output.stderr).unwrap();
    for name in ["key", "private"] {
        let line = format!("not copied, because the app's user cannot read it: {}/{name}\n", image.display());
        assert!(error.contains(&line), "{error}");
    }
    assert_eq!(fs::read_to_string(volume.join("lesson.txt")).unwrap(), "lesson");
    assert!(folders.note().exists() && !volume.join("key").exists());
    // The test directory cannot be removed otherwise.
    for folder in [image, volume] {
        fs::set_permissions(folder.join("private"), Permissions::from_mode(0o700)).unwrap();
    }
}
