//! Progress of one source, and its end.

use std::io::{self, Read};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::Failure;

/// Progress of one source. Each step asks whether the source may go on; the main thread stops it at the deadline.
#[derive(Debug, Default)]
pub struct Meter {
    is_stopped: AtomicBool,
    /// Version of the last complete delivery, which a report about a failure names.
    last_version: OnceLock<String>,
}

impl Meter {
    /// Begins the next step.
    ///
    /// # Errors
    /// The source was stopped.
    pub fn advance(&self) -> Result<(), Failure> {
        if self.is_stopped.load(Ordering::Relaxed) {
            return Err(Failure::new("The source was stopped."));
        }
        Ok(())
    }

    /// Version of the last complete delivery.
    #[must_use]
    pub fn last_version(&self) -> Option<String> {
        self.last_version.get().cloned()
    }

    /// Remembers the version of the last complete delivery.
    pub fn set_last_version(&self, version: Option<&str>) {
        if let Some(version) = version {
            self.last_version.get_or_init(|| version.to_owned());
        }
    }

    /// Stops the source at its next step.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }
}

/// Reader whose reads are steps, and which fails after a number of bytes.
#[derive(Debug)]
pub struct Metered<'a, R> {
    inner: R,
    meter: &'a Meter,
    left: u64,
    failure: Failure,
}

impl<'a, R> Metered<'a, R> {
    /// Creates a reader of at most `most` bytes. Further bytes fail with `failure`.
    pub fn new(inner: R, meter: &'a Meter, most: u64, failure: Failure) -> Self {
        Self { inner, meter, left: most, failure }
    }
}

impl<R: Read> Read for Metered<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.inner.read(buffer)?;
        self.meter.advance()?;
        self.left = self.left.checked_sub(bytes as u64).ok_or_else(|| self.failure.clone())?;
        Ok(bytes)
    }
}

/// Passes all bytes of a reader to `each`, in pieces. Returns their number.
///
/// # Errors
/// An error of the reader or of the function.
pub fn pieces(reader: &mut dyn Read, mut each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<u64> {
    let mut buffer = vec![0; 64 << 10];
    let mut total = 0;
    loop {
        let bytes = match reader.read(&mut buffer) {
            Ok(0) => return Ok(total),
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        each(buffer.get(..bytes).unwrap_or_default())?;
        total += bytes as u64;
    }
}
