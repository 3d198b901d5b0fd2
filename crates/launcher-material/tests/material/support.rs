//! Servers, repositories and directories for the tests.

pub(crate) mod archives;
pub(crate) mod http;
pub(crate) mod pack;
pub(crate) mod proxy;
pub(crate) mod repository;
pub(crate) mod secure;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use launcher_domain::material::MaterialConfig;
use launcher_domain::material::{MaterialOutcome, SourceReport};
use launcher_domain::template::{MaterialKind, MaterialSource};
use launcher_material::{Limits, run};
use tempfile::TempDir;

/// Deadline of most runs, in seconds: longer than a slow machine needs.
pub(crate) const DEADLINE: u32 = 180;

/// Temporary directory in memory, if there is one: each merge writes all changes of the file system to the disk, also those
/// of other programs.
pub(crate) fn memory_directory() -> TempDir {
    let memory = "/dev/shm";
    let has_room = rustix::fs::statvfs(memory).is_ok_and(|free| free.f_bavail * free.f_frsize > 1 << 30);
    if has_room { TempDir::new_in(memory) } else { TempDir::new() }.unwrap()
}

/// Directory of a student.
#[derive(Debug)]
pub(crate) struct Student {
    pub(crate) directory: TempDir,
}

impl Student {
    pub(crate) fn new() -> Self {
        Self { directory: memory_directory() }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.directory.path().join(path)
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).expect(path)
    }

    pub(crate) fn write(&self, path: &str, content: &str) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), content).unwrap();
    }

    pub(crate) fn mode(&self, path: &str) -> u32 {
        fs::metadata(self.path(path)).unwrap().permissions().mode() & 0o777
    }

    /// All files below the target, with their contents.
    pub(crate) fn files(&self, target: &str) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        list(&self.path(target), "", &mut files);
        files
    }

    pub(crate) fn config(&self, sources: Vec<MaterialSource>) -> MaterialConfig {
        let directory = self.directory.path().to_str().unwrap().to_owned();
        MaterialConfig { directory, sources, deadline_seconds: DEADLINE, report: None, secrets: None }
    }

    /// Places one source.
    pub(crate) fn place(&self, source: &MaterialSource) -> SourceReport {
        self.place_with(source, Limits::default())
    }

    pub(crate) fn place_with(&self, source: &MaterialSource, limits: Limits) -> SourceReport {
        let report = run(&self.config(vec![source.clone()]), limits);
        report.sources.into_iter().next().unwrap()
    }
}

/// Lists the files below a directory. Links have the content `-> target`.
pub(crate) fn list(directory: &Path, prefix: &str, files: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            list(&entry.path(), &format!("{path}/"), files);
        } else if kind.is_symlink() {
            files.insert(path, format!("-> {}", fs::read_link(entry.path()).unwrap().display()));
        } else if kind.is_file() {
            files.insert(path, String::from_utf8_lossy(&fs::read(entry.path()).unwrap()).into_owned());
        }
    }
}

pub(crate) fn git(url: &str) -> MaterialSource {
    MaterialSource {
        kind: MaterialKind::Git,
        url: url.to_owned(),
        reference: None,
        sha256: None,
        folder: None,
        secret: None,
        target: "course".to_owned(),
    }
}

pub(crate) fn archive(url: &str, sha256: &str) -> MaterialSource {
    MaterialSource { kind: MaterialKind::Archive, sha256: Some(sha256.to_owned()), ..git(url) }
}

/// Asserts a failure whose message has these words.
#[track_caller]
pub(crate) fn assert_failed(report: &SourceReport, words: &str) {
    let message = report.message.clone().unwrap_or_default();
    assert_eq!(report.outcome, MaterialOutcome::Failed, "{report:?}");
    assert!(message.contains(words), "{message}");
}

/// Asserts an outcome.
#[track_caller]
pub(crate) fn assert_outcome(report: &SourceReport, outcome: MaterialOutcome) {
    assert_eq!(report.outcome, outcome, "{report:?}");
}
