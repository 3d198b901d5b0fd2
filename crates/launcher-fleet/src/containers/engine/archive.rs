//! The start of a tar archive, as far as it describes a directory.

/// Size of a header, and unit of all sizes.
const BLOCK: usize = 512;
/// Maximum bytes that are read for the first entry, with the records before it.
const MOST: usize = 1 << 20;
/// Maximum bytes of a name, with the slash of a directory.
const MOST_NAME: usize = 100;
/// Types of an entry.
const DIRECTORY: u8 = b'5';
const RECORDS_OF_NEXT: u8 = b'x';
const RECORDS_OF_ALL: u8 = b'g';

/// Attributes of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DirectoryEntry {
    /// Permissions.
    pub(super) mode: u64,
    /// User ID of the owner.
    pub(super) user: u32,
    /// Group ID.
    pub(super) group: u32,
    /// Time of the last change, in seconds since 1970.
    pub(super) modified: u64,
}

/// The first entry of an archive.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FirstEntry {
    /// The entry needs more bytes.
    Incomplete,
    /// A directory.
    Directory(DirectoryEntry),
    /// Something else: a file, a link, or no archive.
    Other,
}

impl FirstEntry {
    /// Parses the start of an archive.
    pub(super) fn parse(start: &[u8]) -> Self {
        let (mut rest, mut user, mut group) = (start, None, None);
        loop {
            let Some((header, content)) = rest.split_first_chunk::<BLOCK>() else {
                return if start.len() < MOST { Self::Incomplete } else { Self::Other };
            };
            let size = usize::try_from(number(&header[124..136])).unwrap_or(usize::MAX);
            match header[156] {
                RECORDS_OF_NEXT | RECORDS_OF_ALL if size < MOST => {
                    let Some(records) = content.get(..size) else { return Self::Incomplete };
                    user = record(records, "uid").or(user);
                    group = record(records, "gid").or(group);
                    rest = content.get(size.next_multiple_of(BLOCK)..).unwrap_or_default();
                }
                DIRECTORY => {
                    let id = |record: Option<u64>, field| u32::try_from(record.unwrap_or_else(|| number(field)));
                    let (Ok(user), Ok(group)) = (id(user, &header[108..116]), id(group, &header[116..124])) else {
                        return Self::Other;
                    };
                    let (mode, modified) = (number(&header[100..108]) & 0o7777, number(&header[136..148]));
                    return Self::Directory(DirectoryEntry { mode, user, group, modified });
                }
                _ => return Self::Other,
            }
        }
    }
}

impl DirectoryEntry {
    /// Returns an archive with this directory only, or `None` if the name is too long.
    pub(super) fn archive(self, name: &str) -> Option<Vec<u8>> {
        let mut archive = vec![0_u8; BLOCK];
        let name = format!("{name}/");
        if name.len() > MOST_NAME {
            return None;
        }
        let mut put = |offset: usize, field: &[u8]| archive[offset..offset + field.len()].copy_from_slice(field);
        put(0, name.as_bytes());
        put(100, &field(self.mode));
        put(108, &field(self.user.into()));
        put(116, &field(self.group.into()));
        put(124, b"00000000000");
        put(136, format!("{:011o}", self.modified & ((1 << 33) - 1)).as_bytes());
        // The checksum counts its own field as spaces.
        put(148, b"        ");
        put(156, &[DIRECTORY]);
        put(257, b"ustar\x0000");
        let sum: u32 = archive.iter().map(|&byte| u32::from(byte)).sum();
        archive[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        // Two empty blocks end an archive.
        archive.resize(3 * BLOCK, 0);
        Some(archive)
    }
}

/// Returns the number of a field: octal digits, or binary if the first bit is set.
fn number(field: &[u8]) -> u64 {
    if field[0] & 0x80 != 0 {
        return field[1..].iter().fold(0, |value, &byte| (value << 8) | u64::from(byte));
    }
    let digits = field.iter().filter(|byte| (b'0'..=b'7').contains(byte));
    digits.fold(0, |value, digit| (value << 3) | u64::from(digit - b'0'))
}

/// Returns a field of 8 bytes with this number.
fn field(number: u64) -> [u8; 8] {
    const MOST_OCTAL: u64 = 0o7_777_777;
    if number > MOST_OCTAL {
        let mut binary = number.to_be_bytes();
        binary[0] = 0x80;
        return binary;
    }
    let mut octal = [0; 8];
    octal[..7].copy_from_slice(format!("{number:07o}").as_bytes());
    octal
}

/// Returns the number of a record: lines of the form `LENGTH NAME=VALUE`.
fn record(records: &[u8], name: &str) -> Option<u64> {
    let lines = records.split(|&byte| byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
    let mut values = lines.filter_map(|line| line.split_once(' ')?.1.strip_prefix(name)?.strip_prefix('='));
    values.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, DirectoryEntry, FirstEntry};

    const HOME: DirectoryEntry = DirectoryEntry { mode: 0o2775, user: 1000, group: 100, modified: 1_700_000_000 };

    #[test]
    fn written_directory_is_read_again() {
        for directory in [HOME, DirectoryEntry { user: 4_000_000_000, group: 2_097_152, ..HOME }] {
            let archive = directory.archive("work").unwrap();
            assert_eq!(FirstEntry::parse(&archive), FirstEntry::Directory(directory));
            assert_eq!(archive.len() % BLOCK, 0);
        }
    }

    #[test]
    fn entry_is_read_when_its_header_has_arrived() {
        let archive = HOME.archive("work").unwrap();
        assert_eq!(FirstEntry::parse(&archive[..BLOCK - 1]), FirstEntry::Incomplete);
        assert_eq!(FirstEntry::parse(&archive[..BLOCK]), FirstEntry::Directory(HOME));
    }

    #[test]
    fn records_before_the_entry_have_precedence() {
        let mut archive = HOME.archive("records").unwrap();
        let records = b"18 uid=4000000000\n20 mtime=1700000000.5\n";
        archive[156] = b'x';
        archive[124..135].copy_from_slice(format!("{:011o}", records.len()).as_bytes());
        archive.truncate(BLOCK);
        archive.extend_from_slice(records);
        assert_eq!(FirstEntry::parse(&archive), FirstEntry::Incomplete);
        archive.resize(2 * BLOCK, 0);
        assert_eq!(FirstEntry::parse(&archive), FirstEntry::Incomplete);
        archive.extend(HOME.archive("work").unwrap());
        assert_eq!(FirstEntry::parse(&archive), FirstEntry::Directory(DirectoryEntry { user: 4_000_000_000, ..HOME }));
    }

    #[test]
    fn link_is_no_directory() {
        let mut archive = HOME.archive("work").unwrap();
        archive[156] = b'2';
        assert_eq!(FirstEntry::parse(&archive), FirstEntry::Other);
    }

    #[test]
    fn long_name_is_refused() {
        assert!(HOME.archive(&"a".repeat(99)).is_some());
        assert_eq!(HOME.archive(&"a".repeat(100)), None);
    }
}
