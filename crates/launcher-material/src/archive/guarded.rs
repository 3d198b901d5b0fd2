//! Limits the memory for the central directory of a zip archive. The library reads the whole central directory into
//! memory. This reader therefore counts its entries and bytes while the library reads them.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::rc::Rc;

use crate::failure::Failure;
use crate::limits::{Limits, ZIP_END_BYTES};

/// Signature of an entry of the central directory.
const ENTRY: &[u8] = b"PK\x01\x02";
/// Beginning of the record at the end of an archive, and of the one in large archives.
const END: &[u8] = b"PK\x05\x06";
const LARGE_END: &[u8] = b"PK\x06\x06";

/// Reader of an archive.
#[derive(Debug)]
pub(super) struct Guarded {
    inner: BufReader<File>,
    limits: Limits,
    is_active: Rc<Cell<bool>>,
    entries: usize,
    bytes: u64,
}

/// Guard, until it is ended.
pub(super) struct Guard(Rc<Cell<bool>>);

impl Guard {
    /// Ends the guard: the list is complete, and the rest is content of files.
    pub(super) fn end(self) {
        self.0.set(false);
    }
}

impl Guarded {
    /// Guards an archive.
    pub(super) fn new(file: File, limits: &Limits) -> (Self, Guard) {
        let is_active = Rc::new(Cell::new(true));
        let guard = Guard(Rc::clone(&is_active));
        (Self { inner: BufReader::new(file), limits: *limits, is_active, entries: 0, bytes: 0 }, guard)
    }

    /// Checks what the library reads in one step: each record is one.
    fn check(&mut self, record: &[u8]) -> Result<(), Failure> {
        self.bytes += record.len() as u64;
        if self.bytes > ZIP_END_BYTES {
            return Err(Failure::new("The archive has a list of files that is too long: choose a smaller source."));
        }
        self.entries += usize::from(record.starts_with(ENTRY));
        let mut counts = [Some(self.entries as u64), None];
        if record.starts_with(END) {
            counts = [number(record, 8, 2), number(record, 10, 2)];
        } else if record.starts_with(LARGE_END) {
            counts = [number(record, 24, 8), number(record, 32, 8)];
        }
        // The list has directories, too.
        let mut counts = counts.into_iter().flatten();
        counts.try_for_each(|count| self.limits.check_files(usize::try_from(count).unwrap_or(usize::MAX) / 2))
    }
}

/// Returns a number of the record.
fn number(record: &[u8], from: usize, bytes: usize) -> Option<u64> {
    let digits = record.get(from..from + bytes)?;
    Some(digits.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

impl Read for Guarded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.is_active.get() {
            return self.inner.read(buffer);
        }
        // A record may not begin in one read and end in the next one.
        let mut length = 0;
        while let Some(rest) = buffer.get_mut(length..).filter(|rest| !rest.is_empty()) {
            match self.inner.read(rest)? {
                0 => break,
                bytes => length += bytes,
            }
        }
        self.check(buffer.get(..length).unwrap_or_default())?;
        Ok(length)
    }
}

impl Seek for Guarded {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.inner.seek(position)
    }
}
