//! Limits of one source, each with its reason. A source that exceeds one fails. Most limits are checked before the first
//! change; a later failure leaves some files of the new version, and the next run continues.

use std::time::Duration;

use crate::failure::Failure;

/// Maximum bytes of one name: the limit of Linux file systems.
pub const NAME_BYTES: usize = 255;
/// Maximum bytes of a path inside of a source: with the target below 4,096, the limit of Linux.
pub const PATH_BYTES: usize = 1024;
/// Maximum parts of a path. Deeper directories are an attack on programs that recurse.
pub const PATH_DEPTH: usize = 32;
/// Maximum bytes of a list of references, or of another answer that is kept in memory.
pub const ANSWER_BYTES: u64 = 16 << 20;
/// Maximum number of capabilities of a git server. Usual servers send 10.
pub const CAPABILITIES: usize = 1000;
/// Maximum bytes of all capabilities of a git server.
pub const CAPABILITY_BYTES: usize = 64 << 10;
/// Maximum references that a git server sends at once, with version 0 of the protocol: they are in memory.
pub const REFERENCES: usize = 100_000;
/// Maximum bytes that are read to find the list of files of a zip archive.
pub const ZIP_END_BYTES: u64 = 32 << 20;
/// Maximum bytes of one directory listing or commit of a repository.
pub const TREE_BYTES: u64 = 16 << 20;
/// Maximum redirects of one request, as in browsers.
pub const REDIRECTS: usize = 5;
/// Maximum duration of the connection, and of the resolution of the host name.
pub const CONNECT: Duration = Duration::from_secs(10);
/// Maximum duration for which a server may send nothing. Servers of repositories send a sign of life every 5 seconds.
pub const SILENCE: Duration = Duration::from_secs(15);

/// Limits of the size of one source.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Maximum bytes of all files. More does not fit on a usual volume, and takes longer than students wait.
    pub total_bytes: u64,
    /// Maximum bytes of one file.
    pub file_bytes: u64,
    /// Maximum number of files: their paths are in memory.
    pub files: usize,
    /// Maximum bytes of the paths of all files and directories: several copies of them are in memory.
    pub path_bytes: usize,
    /// Maximum bytes of the state and of the journal: more than the maximum number of files and of path bytes need.
    pub state_bytes: u64,
    /// Maximum bytes that a source may add to a volume. The free space limits them further: see `space`.
    pub added_bytes: u64,
    /// Maximum number of objects of a repository: their positions are in memory.
    pub objects: usize,
    /// Maximum bytes of an object that a repository stores as a delta: it is unpacked in memory.
    pub difference_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            total_bytes: 2 << 30,
            file_bytes: 1 << 30,
            files: 100_000,
            path_bytes: 8 << 20,
            state_bytes: 32 << 20,
            added_bytes: u64::MAX,
            objects: 300_000,
            difference_bytes: 32 << 20,
        }
    }
}

impl Limits {
    /// Checks the size of one file.
    ///
    /// # Errors
    /// The file is too large.
    pub fn check_file(&self, path: &str, bytes: u64) -> Result<(), Failure> {
        if bytes <= self.file_bytes {
            return Ok(());
        }
        Err(Failure::new(format!(
            "The file {path} is larger than {}: the teacher must remove it from the source.",
            size(self.file_bytes)
        )))
    }

    /// Checks the size of all files together.
    ///
    /// # Errors
    /// The source is too large.
    pub fn check_total(&self, bytes: u64) -> Result<(), Failure> {
        if bytes <= self.total_bytes { Ok(()) } else { Err(self.too_large()) }
    }

    /// Checks the number of files.
    ///
    /// # Errors
    /// The source has too many files.
    pub fn check_files(&self, files: usize) -> Result<(), Failure> {
        if files <= self.files {
            return Ok(());
        }
        let most = self.files;
        Err(Failure::new(format!("The source has more than {most} files: choose a folder of it, or a smaller source.")))
    }

    /// Checks the bytes of all paths together.
    ///
    /// # Errors
    /// The paths are too long.
    pub fn check_paths(&self, bytes: usize) -> Result<(), Failure> {
        if bytes <= self.path_bytes {
            return Ok(());
        }
        let most = size(self.path_bytes as u64);
        Err(Failure::new(format!(
            "The paths of the source are longer than {most} together: choose a folder of it, or a smaller source."
        )))
    }

    /// Returns the failure of a source with too many bytes.
    #[must_use]
    pub fn too_large(&self) -> Failure {
        let most = size(self.total_bytes);
        Failure::new(format!("The source is larger than {most}: choose a smaller source, or a folder of it."))
    }
}

/// Returns a number of bytes as people write it.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [(&str, u32); 3] = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let unit = UNITS.iter().find(|(_, shift)| bytes >> shift > 0 && bytes.is_multiple_of(1 << shift));
    unit.map_or_else(|| format!("{bytes} bytes"), |(name, shift)| format!("{} {name}", bytes >> shift))
}
