//! Reception of a pack: its bytes go to a file, and each object's position and identity into memory.
//!
//! An object is identified by its hash. An object that was altered in transit has another hash, which no directory
//! names.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufWriter, Read, Write};

use gix_hash::ObjectId;
use gix_object::Kind;
use gix_pack::data::{Entry, entry::Header};
use gix_zlib::{Decompress, FlushDecompress, Status};
use sha2::{Digest as _, Sha256};

use crate::content::Digest;
use crate::failure::{Failure, find};
use crate::limits::{Limits, TREE_BYTES};
use crate::meter::Meter;
use crate::space::Growth;

/// Maximum bytes of the two sizes at the beginning of a delta.
const SIZES_BYTES: usize = 20;
/// Bytes of the checksum at the end of a pack.
const CHECKSUM_BYTES: u64 = 20;
/// Maximum total size of the objects that are stored as deltas, as a multiple of the limit of all files.
const RESULTS: u64 = 2;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Located {
    /// Position of the object's entry.
    pub(crate) offset: u64,
    /// Bytes of its content.
    pub(crate) size: u64,
    pub(crate) kind: Kind,
    /// SHA-256 of the content of a file.
    pub(crate) sha256: Digest,
}

#[derive(Debug, Default)]
pub(crate) struct Received {
    /// Objects by their names.
    pub(crate) objects: HashMap<ObjectId, Located>,
    /// Positions of the objects that are stored as deltas. Their names are not known yet.
    pub(crate) differences: Vec<u64>,
}

/// Receives a pack.
///
/// # Errors
/// The pack is invalid, a limit is exceeded, or the file cannot be written.
pub(crate) fn receive<'a>(
    source: impl BufRead,
    file: &'a File,
    limits: &'a Limits,
    meter: &Meter,
) -> Result<Received, Failure> {
    let mut copy = Copying {
        source,
        file: BufWriter::with_capacity(256 << 10, file),
        growth: Growth::new(file, limits),
        offset: 0,
        failure: None,
    };
    let count = begin(&mut copy, limits)?;
    let mut received = Received::default();
    let mut state = Decompress::new();
    let mut buffer = vec![0; 64 << 10];
    let (mut total, mut results) = (0_u64, 0_u64);
    for _ in 0..count {
        meter.advance()?;
        let offset = copy.offset;
        let entry = Entry::from_read(&mut copy, offset, gix_hash::Kind::Sha1.len_in_bytes()).map_err(unreadable)?;
        let size = entry.decompressed_size;
        total = total.saturating_add(size);
        limits.check_total(total)?;
        let mut inflate = Inflate { state: &mut state, buffer: &mut buffer, meter };
        match entry.header {
            Header::OfsDelta { .. } | Header::RefDelta { .. } => {
                let result = check_difference(&inflate.beginning(&mut copy, size)?, size, limits)?;
                // A commit has each of its files once; servers without shallow commits send some more.
                results = results.saturating_add(result);
                limits.check_total(results / RESULTS)?;
                received.differences.push(offset);
            }
            Header::Blob | Header::Tree | Header::Commit | Header::Tag => {
                let kind = entry.header.as_kind().ok_or_else(broken)?;
                check_object(kind, size, limits)?;
                let (id, sha256) = inflate.identify(&mut copy, kind, size)?;
                received.objects.insert(id, Located { offset, size, kind, sha256 });
            }
        }
    }
    // The checksum at the end is not compared: the names of the objects protect all content. Without it, the library would
    // take the end of the last object for it.
    if io::copy(&mut Read::by_ref(&mut copy).take(CHECKSUM_BYTES), &mut io::sink())? < CHECKSUM_BYTES {
        return Err(broken());
    }
    copy.finish()?;
    Ok(received)
}

/// Reads the header of a pack; the number of objects.
fn begin(reader: &mut dyn Read, limits: &Limits) -> Result<u32, Failure> {
    let mut header = [0; gix_pack::data::header::SIZE];
    reader.read_exact(&mut header)?;
    let (_, count) = gix_pack::data::header::decode(&header).map_err(|_| broken())?;
    if count as usize > limits.objects {
        let most = limits.objects;
        return Err(Failure::new(format!("The repository has more than {most} objects: use a smaller one.")));
    }
    Ok(count)
}

pub(crate) fn check_object(kind: Kind, size: u64, limits: &Limits) -> Result<(), Failure> {
    match kind {
        Kind::Blob => limits.check_file("of the repository", size),
        _ if size > TREE_BYTES => Err(Failure::new("The repository has a directory with too many files.")),
        _ => Ok(()),
    }
}

/// Checks the memory that is needed to unpack an object that is stored as a delta of this size. Returns the object's
/// size.
fn check_difference(beginning: &[u8], size: u64, limits: &Limits) -> Result<u64, Failure> {
    let mut rest = beginning;
    let base = varint(&mut rest).ok_or_else(broken)?;
    let result = varint(&mut rest).ok_or_else(broken)?;
    if [base, result, size].iter().all(|bytes| *bytes <= limits.difference_bytes) {
        return Ok(result);
    }
    Err(Failure::new(format!(
        "The repository stores a file of more than {} MiB as a delta to another one: use an archive instead.",
        limits.difference_bytes >> 20
    )))
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..63).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// Failure of a pack with invalid bytes.
pub(crate) fn broken() -> Failure {
    Failure::new("The git server sent an invalid answer: launch the workshop again later.")
}

/// Failure of an entry that cannot be read.
fn unreadable(error: io::Error) -> Failure {
    if find(&error).is_some() || error.kind() == io::ErrorKind::UnexpectedEof { error.into() } else { broken() }
}

/// Decompression of the entries, with one state and one buffer for all.
struct Inflate<'a> {
    state: &'a mut Decompress,
    buffer: &'a mut [u8],
    meter: &'a Meter,
}

impl Inflate<'_> {
    /// Decompresses one entry of exactly this size.
    fn entry(&mut self, reader: &mut dyn BufRead, size: u64, mut each: impl FnMut(&[u8])) -> Result<(), Failure> {
        self.state.reset();
        let mut left = size;
        loop {
            self.meter.advance()?;
            let input = reader.fill_buf()?;
            let before = (self.state.total_in(), self.state.total_out());
            let is_at_end = input.is_empty();
            let status = self.state.decompress(input, self.buffer, FlushDecompress::None).map_err(|_| broken())?;
            let consumed = usize::try_from(self.state.total_in() - before.0).map_err(|_| broken())?;
            let written = self.state.total_out() - before.1;
            reader.consume(consumed);
            left = left.checked_sub(written).ok_or_else(broken)?;
            each(usize::try_from(written).ok().and_then(|end| self.buffer.get(..end)).ok_or_else(broken)?);
            match status {
                Status::StreamEnd if left == 0 => return Ok(()),
                Status::StreamEnd => return Err(broken()),
                _ if is_at_end || (consumed == 0 && written == 0) => return Err(broken()),
                _ => {}
            }
        }
    }

    /// Decompresses an entry, and returns its beginning.
    fn beginning(&mut self, reader: &mut dyn BufRead, size: u64) -> Result<Vec<u8>, Failure> {
        let mut beginning = Vec::with_capacity(SIZES_BYTES);
        self.entry(reader, size, |piece| {
            let room = SIZES_BYTES - beginning.len();
            beginning.extend_from_slice(piece.get(..piece.len().min(room)).unwrap_or_default());
        })?;
        Ok(beginning)
    }

    /// Decompresses an object, and returns its name and the SHA-256 of its content.
    fn identify(&mut self, reader: &mut dyn BufRead, kind: Kind, size: u64) -> Result<(ObjectId, Digest), Failure> {
        let mut name = gix_hash::hasher(gix_hash::Kind::Sha1);
        name.update(&gix_object::encode::loose_header(kind, size));
        let mut sha256 = Sha256::new();
        self.entry(reader, size, |piece| {
            name.update(piece);
            if kind == Kind::Blob {
                sha256.update(piece);
            }
        })?;
        Ok((name.try_finalize().map_err(|_| broken())?, sha256.finalize().into()))
    }
}

/// Reader that copies all bytes that it passes on to a file.
struct Copying<'f, R> {
    source: R,
    file: BufWriter<&'f File>,
    growth: Growth<'f>,
    offset: u64,
    failure: Option<io::Error>,
}

impl<R: BufRead> Copying<'_, R> {
    fn finish(mut self) -> Result<(), Failure> {
        self.failure.take().map_or(Ok(()), Err)?;
        Ok(self.file.flush()?)
    }
}

impl<R: BufRead> BufRead for Copying<'_, R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        self.source.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        // The bytes are in the buffer of the source, so that this reads nothing.
        let written = self.source.fill_buf().and_then(|bytes| {
            self.growth.add(amount)?;
            self.file.write_all(bytes.get(..amount).ok_or(io::ErrorKind::UnexpectedEof)?)
        });
        self.failure = written.err().or(self.failure.take());
        self.offset += amount as u64;
        self.source.consume(amount);
    }
}

impl<R: BufRead> Read for Copying<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}
