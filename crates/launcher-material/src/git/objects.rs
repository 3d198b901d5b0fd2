//! Objects of a received pack.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};

use gix_hash::ObjectId;
use gix_object::Kind;
use gix_pack::cache::lru::MemoryCappedHashmap;
use gix_pack::data::decode::entry::ResolvedBase;
use gix_pack::data::entry::Header;
use gix_zlib::Inflate;
use sha2::{Digest as _, Sha256};

use crate::failure::Failure;
use crate::git::pack::{Located, Received, broken, check_object};
use crate::limits::{Limits, TREE_BYTES};
use crate::meter::Meter;
use crate::space;

/// Maximum bytes of unpacked objects that are kept in memory, because they are the bases of deltas.
const CACHE_BYTES: usize = 16 << 20;

/// Objects of a pack.
pub(crate) struct Objects<'m> {
    pack: gix_pack::data::File,
    objects: HashMap<ObjectId, Located>,
    inflate: Inflate,
    cache: MemoryCappedHashmap,
    /// Chains of the objects that are stored as deltas, by their positions.
    chains: HashMap<u64, Chain>,
    work: Work,
    limits: Limits,
    meter: &'m Meter,
}

impl<'m> Objects<'m> {
    /// Names the objects of a received pack.
    ///
    /// # Errors
    /// The pack is invalid, or a limit is exceeded.
    pub(crate) fn open(file: &File, received: Received, limits: &Limits, meter: &'m Meter) -> Result<Self, Failure> {
        // A base, its result and the deltas are in memory together.
        let most = 3 * limits.difference_bytes.max(TREE_BYTES);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let pack = gix_pack::data::File::at(space::path_of(file), gix_hash::Kind::Sha1).map_err(|_| broken())?;
        let mut objects = Self {
            pack: pack.with_alloc_limit_bytes(Some(most)),
            objects: received.objects,
            inflate: Inflate::default(),
            cache: MemoryCappedHashmap::new(CACHE_BYTES),
            chains: HashMap::new(),
            work: Work::new(limits),
            limits: *limits,
            meter,
        };
        let mut open = received.differences;
        while !open.is_empty() {
            let mut later = Vec::new();
            for offset in &open {
                meter.advance()?;
                if !objects.identify(*offset)? {
                    later.push(*offset);
                }
            }
            // Each round must name one more object, else a base is missing.
            if later.len() == open.len() {
                return Err(broken());
            }
            open = later;
        }
        Ok(objects)
    }

    /// Identifies an object that is stored as a delta; false if the name of its base is not known yet.
    fn identify(&mut self, offset: u64) -> Result<bool, Failure> {
        let Some(base) = self.base(offset)? else { return Ok(false) };
        base.check(&self.limits)?;
        let mut content = Vec::new();
        let kind = self.decode(offset, &mut content)?;
        let size = content.len() as u64;
        check_object(kind, size, &self.limits)?;
        self.chains.insert(offset, base.with(size));
        let id = gix_object::compute_hash(gix_hash::Kind::Sha1, kind, &content).map_err(|_| broken())?;
        let sha256 = Sha256::digest(&content).into();
        self.objects.insert(id, Located { offset, size, kind, sha256 });
        Ok(true)
    }

    /// Returns the chain of the base of the delta at this position; `None` if the base is not identified yet.
    fn base(&self, offset: u64) -> Result<Option<Chain>, Failure> {
        let entry = self.pack.entry(offset).map_err(|_| broken())?;
        let base = match entry.header {
            Header::OfsDelta { base_distance } => offset.checked_sub(base_distance).ok_or_else(broken)?,
            Header::RefDelta { base_id } => match self.objects.get(&base_id) {
                Some(found) => found.offset,
                None => return Ok(None),
            },
            _ => return Err(broken()),
        };
        if let Some(chain) = self.chains.get(&base) {
            return Ok(Some(*chain));
        }
        let base = self.pack.entry(base).map_err(|_| broken())?;
        Ok((!base.header.is_delta()).then(|| Chain::new(base.decompressed_size)))
    }

    /// Unpacks the entry at this position into memory. The bases of a delta must already be identified.
    fn decode(&mut self, offset: u64, content: &mut Vec<u8>) -> Result<Kind, Failure> {
        self.meter.advance()?;
        let entry = self.pack.entry(offset).map_err(|_| broken())?;
        let (pack, objects) = (&self.pack, &self.objects);
        let base = |id: &gix_hash::oid, _: &mut Vec<u8>| {
            let entry = objects.get(id).map(|found| pack.entry(found.offset)).transpose()?;
            Ok(entry.map(ResolvedBase::InPack))
        };
        let outcome = self.pack.decode_entry(entry, content, &mut self.inflate, &base, &mut self.cache);
        let outcome = outcome.map_err(|_| broken())?;
        let chain = self.chains.get(&offset).copied().unwrap_or_else(|| Chain::new(content.len() as u64));
        self.work.add(chain, outcome.num_deltas)?;
        Ok(outcome.kind)
    }

    /// Returns the position and the size of an object of this kind.
    ///
    /// # Errors
    /// The pack does not have it.
    pub(crate) fn locate(&self, id: &gix_hash::oid, kind: Kind) -> Result<Located, Failure> {
        self.objects.get(id).filter(|found| found.kind == kind).copied().ok_or_else(broken)
    }

    #[must_use]
    pub(crate) fn kind(&self, id: &gix_hash::oid) -> Option<Kind> {
        self.objects.get(id).map(|found| found.kind)
    }

    /// Returns the content of a small object: not of a file.
    ///
    /// # Errors
    /// The pack does not have it.
    pub(crate) fn small(&mut self, id: &gix_hash::oid, kind: Kind) -> Result<Vec<u8>, Failure> {
        let located = self.locate(id, kind)?;
        let mut content = Vec::new();
        self.decode(located.offset, &mut content)?;
        Ok(content)
    }

    /// Passes the content of a file to a function.
    ///
    /// # Errors
    /// The pack is invalid, or the error of the function.
    pub(crate) fn file(
        &mut self,
        id: &gix_hash::oid,
        read: impl FnOnce(&mut dyn Read) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let located = self.locate(id, Kind::Blob)?;
        let entry = self.pack.entry(located.offset).map_err(|_| broken())?;
        if entry.header.is_delta() {
            let mut content = Vec::new();
            self.decode(located.offset, &mut content)?;
            return read(&mut content.as_slice());
        }
        let end = self.pack.pack_end() as u64;
        let packed = self.pack.entry_slice(entry.data_offset..end).ok_or_else(broken)?;
        let state = gix_zlib::Decompress::new();
        read(&mut Unpacking { packed, state })
    }
}

/// Content of an entry that is not a delta, unpacked in pieces.
struct Unpacking<'a> {
    packed: &'a [u8],
    state: gix_zlib::Decompress,
}

impl Read for Unpacking<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        gix_zlib::stream::inflate::read(&mut self.packed, &mut self.state, buffer)
    }
}

/// Maximum number of deltas in a chain. Git makes chains of 50, or of 250 on request.
const DEPTH: u32 = 500;
/// Maximum bytes that are unpacked, as a multiple of the limit of all files: each object is unpacked once to name it, and
/// once to place it.
const UNPACKED: u64 = 4;

/// Chain of deltas down to a base object.
#[derive(Debug, Clone, Copy)]
struct Chain {
    depth: u32,
    /// Bytes of the largest object.
    largest: u64,
    /// Bytes of all objects.
    bytes: u64,
}

impl Chain {
    /// Chain of an object that is not a delta.
    fn new(bytes: u64) -> Self {
        Self { depth: 0, largest: bytes, bytes }
    }

    /// Chain with one more delta, whose result has this size.
    fn with(self, bytes: u64) -> Self {
        let (largest, all) = (self.largest.max(bytes), self.bytes.saturating_add(bytes));
        Self { depth: self.depth.saturating_add(1), largest, bytes: all }
    }

    /// Checks that an object with this base can be unpacked in one step.
    ///
    /// # Errors
    /// The chain is too long.
    fn check(self, limits: &Limits) -> Result<(), Failure> {
        if self.depth < DEPTH && self.bytes <= limits.total_bytes { Ok(()) } else { Err(too_much()) }
    }
}

/// Work so far.
#[derive(Debug)]
struct Work {
    left: u64,
}

impl Work {
    /// Work that a repository may need.
    fn new(limits: &Limits) -> Self {
        Self { left: limits.total_bytes.saturating_mul(UNPACKED) }
    }

    /// Adds the work for an object of this chain, for which this number of deltas was applied.
    ///
    /// # Errors
    /// The repository needs too much work.
    fn add(&mut self, chain: Chain, differences: u32) -> Result<(), Failure> {
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
