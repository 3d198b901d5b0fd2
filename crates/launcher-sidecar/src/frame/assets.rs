//! Files of the frame page. They are embedded in the program, and their URLs contain a hash of their content, so that a
//! browser can cache them for ever.

use launcher_domain::frame_path::PREFIX;

/// A file that the frame page loads.
#[derive(Debug)]
pub(super) struct Asset {
    name: &'static str,
    pub(super) media: &'static str,
    pub(super) content: &'static str,
}

/// The style sheet of the frame page.
pub(super) const STYLE: Asset =
    Asset { name: "frame.css", media: "text/css", content: include_str!("../../assets/frame.css") };
/// The script of the frame page.
pub(super) const SCRIPT: Asset =
    Asset { name: "frame.js", media: "text/javascript", content: include_str!("../../assets/frame.js") };

impl Asset {
    /// Returns the path of the file, with the hash of its content as the query.
    pub(super) fn url(&self) -> String {
        format!("{PREFIX}{}?{:016x}", self.name, fnv1a(self.content.as_bytes()))
    }
}

/// Returns the 64-bit FNV-1a hash. It only distinguishes versions of a file, so it need not resist attacks.
const fn fnv1a(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325;
    let mut index = 0;
    while index < bytes.len() {
        hash = (hash ^ bytes[index] as u64).wrapping_mul(0x0100_0000_01b3);
        index += 1;
    }
    hash
}
