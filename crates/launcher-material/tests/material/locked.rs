//! Directories whose permissions do not allow access. The superuser has access to all, so the program runs as another user.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use launcher_domain::material::MATERIAL_VARIABLE;
use launcher_domain::material::{MaterialOutcome, MaterialReport, SourceReport};
use tempfile::TempDir;

use crate::support::repository::Repository;
use crate::support::{Student, assert_outcome, git};

/// User without privileges.
const USER: u32 = 65_534;

/// Program that another user can execute.
struct Program {
    directory: TempDir,
}

impl Program {
    fn new() -> Self {
        let program = Self { directory: TempDir::new().unwrap() };
        fs::copy(env!("CARGO_BIN_EXE_launcher-material"), program.directory.path().join("program")).unwrap();
        fs::set_permissions(program.directory.path(), PermissionsExt::from_mode(0o755)).unwrap();
        program
    }

    fn place(&self, student: &Student, repository: &Repository) -> SourceReport {
        let config = serde_json::to_string(&student.config(vec![git(&repository.url())])).unwrap();
        let mut command = Command::new(self.directory.path().join("program"));
        command.env(MATERIAL_VARIABLE, config);
        if rustix::process::geteuid().is_root() {
            chown(student.directory.path(), Some(USER), Some(USER)).unwrap();
            command.uid(USER).gid(USER);
        }
        let output = command.output().unwrap();
        let report: MaterialReport = serde_json::from_slice(&output.stdout).unwrap();
        report.sources.into_iter().next().unwrap()
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
}

#[test]
fn files_in_a_locked_directory_are_updated_when_it_is_open_again() {
    for mode in [0o311, 0o000, 0o644] {
        let (program, repository, student) = (Program::new(), Repository::new(), Student::new());
        repository.commit(&[("a", "1"), ("data/a", "1"), ("data/old", "1"), ("data/sub/a", "1")]);
        assert_outcome(&program.place(&student, &repository), MaterialOutcome::Placed);
        set_mode(&student.path("course/data"), mode);
        repository.commit(&[("a", "2"), ("data/a", "2"), ("data/new", "2"), ("data/sub/a", "2")]);

        let report = program.place(&student, &repository);
        assert_outcome(&report, MaterialOutcome::Updated);
        assert_eq!(report.conflict_count, 0, "{mode:o}");
        let message = report.message.unwrap();
        assert!(message.starts_with("4 files were not updated, in directories without access"), "{message}");
        assert_eq!(student.read("course/a"), "2");

        set_mode(&student.path("course/data"), 0o755);
        let files =
            |names: &[(&str, &str)]| names.iter().map(|(path, text)| (path.to_string(), text.to_string())).collect();
        let old = [("a", "2"), ("data/a", "1"), ("data/old", "1"), ("data/sub/a", "1")];
        assert_eq!(student.files("course"), files(&old), "{mode:o}");
        let report = program.place(&student, &repository);
        assert_outcome(&report, MaterialOutcome::Updated);
        assert_eq!((report.conflict_count, report.message), (0, None));
        let new = [("a", "2"), ("data/a", "2"), ("data/new", "2"), ("data/sub/a", "2")];
        assert_eq!(student.files("course"), files(&new), "{mode:o}");
        assert_outcome(&program.place(&student, &repository), MaterialOutcome::Unchanged);
    }
}
