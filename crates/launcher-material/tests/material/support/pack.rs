//! Packs of single entries, and a git server that sends them.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::http::{Server, respond};
use super::repository::Repository;

pub(crate) const COMMIT: u8 = 1;
pub(crate) const TREE: u8 = 2;
pub(crate) const BLOB: u8 = 3;
const OFS_DELTA: u8 = 6;

/// Pack.
#[derive(Debug, Default)]
pub(crate) struct Pack {
    entries: Vec<u8>,
    count: u32,
}

impl Pack {
    /// Pack with a commit of these files, whose contents other entries have. The second value is the commit.
    pub(crate) fn of(repository: &Repository, files: &[(&str, &str)]) -> (Self, String) {
        let lines: Vec<(&str, &str, &str, &str)> =
            files.iter().map(|(name, id)| ("100644", "blob", *id, *name)).collect();
        let commit = repository.commit_tree(&lines);
        let mut tree = Vec::new();
        for (name, id) in files {
            tree.extend_from_slice(format!("100644 {name}\0").as_bytes());
            tree.extend((0..20).map(|byte| u8::from_str_radix(&id[2 * byte..2 * byte + 2], 16).unwrap()));
        }
        let mut pack = Self::default();
        pack.add(COMMIT, format!("{}\n", repository.git(&["cat-file", "commit", &commit])).as_bytes());
        pack.add(TREE, &tree);
        (pack, commit)
    }

    /// Adds an object; its position.
    pub(crate) fn add(&mut self, kind: u8, content: &[u8]) -> usize {
        self.entry(kind, &[], content)
    }

    /// Adds an object that is this difference to the one at a position; its position.
    pub(crate) fn add_difference(&mut self, base: usize, difference: &[u8]) -> usize {
        let mut distance = self.position() - base;
        let mut digits = vec![(distance & 0x7f) as u8];
        while distance >> 7 > 0 {
            distance = (distance >> 7) - 1;
            digits.insert(0, 0x80 | (distance & 0x7f) as u8);
        }
        self.entry(OFS_DELTA, &digits, difference)
    }

    fn position(&self) -> usize {
        12 + self.entries.len()
    }

    fn entry(&mut self, kind: u8, base: &[u8], content: &[u8]) -> usize {
        let position = self.position();
        let (mut byte, mut rest) = (kind << 4 | (content.len() & 0xf) as u8, content.len() >> 4);
        while rest > 0 {
            self.entries.push(byte | 0x80);
            (byte, rest) = ((rest & 0x7f) as u8, rest >> 7);
        }
        self.entries.push(byte);
        self.entries.extend_from_slice(base);
        let mut encoder = ZlibEncoder::new(&mut self.entries, Compression::fast());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap();
        self.count += 1;
        position
    }

    /// Server with this pack, whose default branch is this commit.
    pub(crate) fn serve(self, commit: &str) -> Server {
        let mut pack = [b"PACK\0\0\0\x02".as_slice(), &self.count.to_be_bytes(), &self.entries].concat();
        // The program does not compare the checksum.
        pack.extend_from_slice(&[0; 20]);
        let head = format!("0032{commit} HEAD\n0000");
        Server::start(move |request, stream| {
            if request.method == "GET" {
                let kind = "application/x-git-upload-pack-advertisement";
                let capabilities = b"000eversion 2\n000cls-refs\n000afetch\n0000";
                return respond(stream, "200 OK", &[("Content-Type", kind)], capabilities);
            }
            let mut body = head.clone().into_bytes();
            if !request.body.windows(7).any(|window| window == b"ls-refs") {
                body = b"000dpackfile\n".to_vec();
                for chunk in pack.chunks(60_000) {
                    body.extend_from_slice(format!("{:04x}\x01", chunk.len() + 5).as_bytes());
                    body.extend_from_slice(chunk);
                }
                body.extend_from_slice(b"0000");
            }
            respond(stream, "200 OK", &[("Content-Type", "application/x-git-upload-pack-result")], &body);
        })
    }
}

/// Difference that copies `size` bytes of its base, and appends a text.
pub(crate) fn append(size: usize, text: &str) -> Vec<u8> {
    const MOST: usize = 0xff_ffff;
    let mut difference = [number(size), number(size + text.len())].concat();
    let mut position = 0;
    while position < size {
        let length = (size - position).min(MOST);
        // All bytes of the position and of the length follow.
        difference.push(0xff);
        difference.extend_from_slice(&(position as u32).to_le_bytes());
        difference.extend_from_slice(&(length as u32).to_le_bytes()[..3]);
        position += length;
    }
    difference.push(text.len() as u8);
    difference.extend_from_slice(text.as_bytes());
    difference
}

fn number(mut value: usize) -> Vec<u8> {
    let mut digits = Vec::new();
    while value >= 0x80 {
        digits.push(0x80 | (value & 0x7f) as u8);
        value >>= 7;
    }
    digits.push(value as u8);
    digits
}
