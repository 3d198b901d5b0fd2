//! Archives: zip, tar and tar.gz.
//!
//! The files are read twice: first to check all paths and limits and to know all digests, then to place them. A source
//! that exceeds a limit therefore changes no file.

mod guarded;
mod tarball;
mod zipped;

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};

use sha2::{Digest as _, Sha256};
use url::Url;

use crate::content::{Content, FileEntry, Manifest, digest, hex};
use crate::failure::Failure;
use crate::limits::Limits;
use crate::meter::{Meter, Metered, pieces};
use crate::path::{self, Checked};
use crate::scratch;
use crate::space::Growth;
use crate::web::Web;

use tarball::Tarball;
use zipped::Zip;

/// Position of the magic word of a tar archive, and the word.
const USTAR: (usize, &[u8]) = (257, b"ustar");

/// Downloads an archive to a file, and compares its SHA-256.
///
/// # Errors
/// The server cannot be reached, the archive is another one, or the disk is too full for it.
pub(crate) fn download(web: &Web<'_>, url: &str, sha256: &str, file: &File, limits: &Limits) -> Result<(), Failure> {
    let wrong = |_| Failure::new("The URL is invalid: it must begin with http:// or https://.");
    let mut body = web.get(&Url::parse(url).map_err(wrong)?, &[("Accept", "*/*")])?.body;
    let mut out = BufWriter::with_capacity(256 << 10, file);
    let mut hasher = Sha256::new();
    let mut growth = Growth::new(file, limits);
    pieces(&mut body, |piece| {
        growth.add(piece.len())?;
        hasher.update(piece);
        out.write_all(piece)
    })?;
    out.flush()?;
    let found = hex(&hasher.finalize());
    if found == sha256.to_ascii_lowercase() {
        return Ok(());
    }
    Err(Failure::new(format!(
        "The archive has the SHA-256 {found}, not that of the template: the teacher must check the file, and then the template."
    )))
}

/// Opens a downloaded archive, and lists its files.
///
/// # Errors
/// The archive is invalid, has an invalid path, or exceeds a limit.
pub(crate) fn open<'a>(
    file: File,
    folder: Option<&'a str>,
    limits: &'a Limits,
    meter: &'a Meter,
) -> Result<Box<dyn Content + 'a>, Failure> {
    let mut start = BufReader::with_capacity(1024, scratch::reopen(&file)?);
    let start = start.fill_buf()?;
    let list = Listing { folder, limits, meter };
    if start.starts_with(b"PK\x03\x04") || start.starts_with(b"PK\x05\x06") {
        return Ok(Box::new(Zip::open(file, list)?));
    }
    let is_compressed = start.starts_with(&[0x1f, 0x8b]);
    if is_compressed || start.get(USTAR.0..).is_some_and(|rest| rest.starts_with(USTAR.1)) {
        return Ok(Box::new(Tarball::open(file, is_compressed, list)?));
    }
    Err(Failure::new("The file is no zip, tar or tar.gz archive: the teacher must use one of these."))
}

/// Failure of an archive with invalid bytes.
fn broken(error: &dyn std::fmt::Display) -> Failure {
    Failure::new(format!("The archive is damaged ({error}): the teacher must create it again."))
}

/// Rules of a list of files.
#[derive(Debug, Clone, Copy)]
struct Listing<'a> {
    folder: Option<&'a str>,
    limits: &'a Limits,
    meter: &'a Meter,
}

impl<'a> Listing<'a> {
    /// Returns the path below the folder; `None` if the entry is omitted or is outside of it.
    fn path(&self, bytes: &[u8], manifest: &mut Manifest) -> Result<Option<String>, Failure> {
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
    fn add(
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
