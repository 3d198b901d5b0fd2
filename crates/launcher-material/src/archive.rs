//! Archives: zip, tar and tar.gz.
//!
//! The files are read twice: first to check all paths and limits and to know all digests, then to place them. A source
//! that exceeds a limit therefore changes no file.

mod guarded;
mod listing;
mod tarball;
mod zipped;

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};

use sha2::{Digest as _, Sha256};
use url::Url;

use crate::content::{Content, hex};
use crate::failure::Failure;
use crate::limits::Limits;
use crate::meter::{Meter, pieces};
use crate::scratch;
use crate::space::Growth;
use crate::web::Web;

use listing::Listing;
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
