//! Work of unpacking: an object that is stored as a delta needs its base, which can be a delta, too.

use crate::failure::Failure;
use crate::limits::Limits;

/// Maximum number of deltas in a chain. Git makes chains of 50, or of 250 on request.
const DEPTH: u32 = 500;
/// Maximum bytes that are unpacked, as a multiple of the limit of all files: each object is unpacked once to name it, and
/// once to place it.
const UNPACKED: u64 = 4;

/// Chain of deltas down to a base object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chain {
    depth: u32,
    /// Bytes of the largest object.
    largest: u64,
    /// Bytes of all objects.
    bytes: u64,
}

impl Chain {
    /// Chain of an object that is not a delta.
    pub(crate) fn new(bytes: u64) -> Self {
        Self { depth: 0, largest: bytes, bytes }
    }

    /// Chain with one more delta, whose result has this size.
    pub(crate) fn with(self, bytes: u64) -> Self {
        let (largest, all) = (self.largest.max(bytes), self.bytes.saturating_add(bytes));
        Self { depth: self.depth.saturating_add(1), largest, bytes: all }
    }

    /// Checks that an object with this base can be unpacked in one step.
    ///
    /// # Errors
    /// The chain is too long.
    pub(crate) fn check(self, limits: &Limits) -> Result<(), Failure> {
        if self.depth < DEPTH && self.bytes <= limits.total_bytes { Ok(()) } else { Err(too_much()) }
    }
}

/// Work so far.
#[derive(Debug)]
pub(crate) struct Work {
    left: u64,
}

impl Work {
    /// Work that a repository may need.
    pub(crate) fn new(limits: &Limits) -> Self {
        Self { left: limits.total_bytes.saturating_mul(UNPACKED) }
    }

    /// Adds the work for an object of this chain, for which this number of deltas was applied.
    ///
    /// # Errors
    /// The repository needs too much work.
    pub(crate) fn add(&mut self, chain: Chain, differences: u32) -> Result<(), Failure> {
        let most = chain.largest.saturating_mul(u64::from(differences) + 1).min(chain.bytes);
        self.left = self.left.checked_sub(most).ok_or_else(too_much)?;
        Ok(())
    }
}

fn too_much() -> Failure {
    Failure::new("The repository stores its files in long chains of deltas: use an archive instead.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_chains_end_at_the_limit_of_work() {
        let limits = Limits { total_bytes: 1000, ..Limits::default() };
        let chain = (0..8).fold(Chain::new(100), |chain, _| chain.with(100));
        chain.check(&limits).unwrap();
        let mut work = Work::new(&limits);
        let objects = (0..1000).take_while(|_| work.add(chain, 8).is_ok()).count();
        assert_eq!(objects, 4, "4,000 bytes are 4 chains of 900 bytes");
        let mut work = Work::new(&limits);
        let objects = (0..1000).take_while(|_| work.add(chain, 0).is_ok()).count();
        assert_eq!(objects, 40, "an object in the cache is no work but its copy");
    }
}
