//! Lists of the files of archives.

use std::io::Read;

use crate::content::{FileEntry, Manifest, digest};
use crate::failure::Failure;
use crate::limits::Limits;
use crate::meter::{Meter, Metered};
use crate::path::{self, Checked};

/// Failure of an archive with invalid bytes.
pub(super) fn broken(error: &dyn std::fmt::Display) -> Failure {
    Failure::new(format!("The archive is damaged ({error}): the teacher must create it again."))
}

/// Rules of a list of files.
#[derive(Debug, Clone, Copy)]
pub(super) struct Listing<'a> {
    pub(super) folder: Option<&'a str>,
    pub(super) limits: &'a Limits,
    pub(super) meter: &'a Meter,
}

impl<'a> Listing<'a> {
    /// Returns the path below the folder; `None` if the entry is omitted or is outside of it.
    pub(super) fn path(&self, bytes: &[u8], manifest: &mut Manifest) -> Result<Option<String>, Failure> {
        match path::check(bytes)? {
            Checked::Path(path) => Ok(path::below(&path, self.folder).map(str::to_owned)),
            Checked::Omitted => {
                // Many archives have an entry for their top directory.
                manifest.omitted.names += usize::from(!matches!(bytes, b"." | b"./"));
                Ok(None)
            }
        }
    }

    /// Reads a file, and adds it to the list.
    pub(super) fn add(
        &self,
        path: String,
        content: &mut dyn Read,
        (is_executable, position): (bool, usize),
        manifest: &mut Manifest,
    ) -> Result<(), Failure> {
        // One byte more than permitted shows that a file is too large.
        let most = self.limits.file_bytes.saturating_add(1);
        let mut content = Metered::new(content, self.meter, u64::MAX, self.limits.too_large()).take(most);
        let (sha256, size) = digest(&mut content)?;
        manifest.add(path, FileEntry { sha256, size, is_executable, position }, self.limits)
    }
}
