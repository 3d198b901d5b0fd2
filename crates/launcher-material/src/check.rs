//! Check of sources before a template names them: finds the version of each, and counts its files. Places nothing.

use std::path::Path;
use std::time::{Duration, Instant};

use launcher_domain::material::{MaterialConfig, MaterialFinding};
use launcher_domain::template::{FieldRule, MaterialKind, MaterialSource};

use crate::archive;
use crate::content::{Content as _, Manifest};
use crate::failure::Failure;
use crate::git::Repository;
use crate::limits::Limits;
use crate::meter::Meter;
use crate::threads::run_all;
use crate::web::{Reach, Web};

/// Maximum bytes of all sources of a check together: it must not fill the disk of the launcher.
const CHECK_BYTES: u64 = 256 << 20;

/// Limits of each source of a check, below those of a run.
#[must_use]
pub fn limits(sources: usize) -> Limits {
    let bytes = CHECK_BYTES / (sources as u64).max(1);
    Limits { total_bytes: bytes, file_bytes: bytes, added_bytes: bytes, ..Limits::default() }
}

/// Checks all sources at the same time, and returns at the deadline at the latest. Temporary files are in the directory of
/// the configuration, without names.
#[must_use]
pub fn check(config: &MaterialConfig, limits: Limits, reach: &Reach) -> Vec<MaterialFinding> {
    let deadline = Instant::now() + Duration::from_secs(config.deadline_seconds.max(1).into());
    let late = format!("The server did not send the material within {} seconds.", config.deadline_seconds);
    let tasks = config.sources.iter().cloned().map(|source| {
        let (name, directory, reach) = (source.target.clone(), config.directory.clone(), reach.clone());
        let task = move || {
            let (directory, meter) = (Path::new(&directory), &Meter::default());
            let check = Check { source: &source, directory, limits: &limits, deadline, meter };
            check.find(&reach).unwrap_or_else(|failure| MaterialFinding::failed(failure.to_string()))
        };
        (name, task)
    });
    let findings = run_all(tasks, deadline).into_iter();
    // Without a thread, the source has no finding at the deadline.
    findings.map(|found| found.and_then(Result::ok).unwrap_or_else(|| MaterialFinding::failed(late.clone()))).collect()
}

struct Check<'a> {
    source: &'a MaterialSource,
    directory: &'a Path,
    limits: &'a Limits,
    deadline: Instant,
    meter: &'a Meter,
}

impl Check<'_> {
    fn find(&self, reach: &Reach) -> Result<MaterialFinding, Failure> {
        let is_unknown = |rule: &FieldRule| *rule == FieldRule::MaterialSha256 && self.source.sha256.is_none();
        if let Some((field, _)) = self.source.broken_rules().iter().find(|(_, rule)| !is_unknown(rule)) {
            return Err(Failure::new(format!("The field {field} of the source is invalid.")));
        }
        let web = Web::new(reach, self.meter, self.limits, self.deadline, None);
        match self.source.kind {
            MaterialKind::Git => self.repository(&web),
            MaterialKind::Archive => self.archive(&web),
        }
    }

    fn repository(&self, web: &Web<'_>) -> Result<MaterialFinding, Failure> {
        let reference = self.source.reference.as_deref();
        let repository = Repository::find(web, &self.source.url, reference)?;
        let version = repository.version();
        let is_commit = reference == Some(version.as_str());
        let reference = match reference {
            Some(reference) => Some(reference.to_owned()).filter(|_| !is_commit),
            None => repository.default_branch()?,
        };
        let found = MaterialFinding { reference, version: Some(version), ..MaterialFinding::default() };
        let pack = repository.receive(self.temporary_file()?, self.limits, self.meter);
        let content = pack.and_then(|pack| pack.open(self.source.folder.as_deref(), self.limits, self.meter));
        self.counted(found, content.map(|content| size(content.manifest())))
    }

    fn archive(&self, web: &Web<'_>) -> Result<MaterialFinding, Failure> {
        let file = self.temporary_file()?;
        let sha256 = archive::fetch(web, &self.source.url, &file, self.limits)?;
        if self.source.sha256.as_ref().is_some_and(|expected| !expected.eq_ignore_ascii_case(&sha256)) {
            return Err(Failure::new(format!("The archive has another checksum: {sha256}.")));
        }
        let found = MaterialFinding { version: Some(sha256), ..MaterialFinding::default() };
        let content = archive::open(file, self.source.folder.as_deref(), self.limits, self.meter);
        self.counted(found, content.map(|content| size(content.manifest())))
    }

    /// Adds the numbers of files and bytes to a finding, unless the source exceeds the limits of a check.
    fn counted(&self, found: MaterialFinding, size: Result<(u64, u64), Failure>) -> Result<MaterialFinding, Failure> {
        match size {
            Ok((files, bytes)) => Ok(MaterialFinding { files: Some(files), bytes: Some(bytes), ..found }),
            Err(failure) if failure == self.limits.too_large() => Ok(found),
            Err(failure) => Err(failure),
        }
    }

    fn temporary_file(&self) -> Result<std::fs::File, Failure> {
        Ok(tempfile::tempfile_in(self.directory)?)
    }
}

/// Numbers of files and bytes.
fn size(manifest: &Manifest) -> (u64, u64) {
    (manifest.files().len() as u64, manifest.bytes())
}
