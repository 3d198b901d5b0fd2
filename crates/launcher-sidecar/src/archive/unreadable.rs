//! The list of files that an archive lacks.

use std::io::{self, ErrorKind, Write};
use std::path::Path;

use tar::{Builder, Header};

/// Name of the file, without its ending.
const NAME: &str = "NOT-IN-THIS-ARCHIVE";
/// First lines of the file.
const INTRODUCTION: &str = "These files and directories are missing in this archive, or incomplete, for the reason beside them.\n\
                            Kept files still exist: launch a workshop, and copy them there. Files of a workshop without kept files were\n\
                            deleted with it.\n\n";
/// Maximum length of the list in bytes. Further paths are only counted.
const MAX_LIST: usize = 256 * 1024;

/// Paths that could not be read or are omitted, with the reasons.
#[derive(Debug, Default)]
pub(super) struct Unreadable {
    list: String,
    omitted: usize,
}

impl Unreadable {
    /// Records a path, unless it has vanished: the app deleted it.
    pub(super) fn record(&mut self, path: &Path, error: &io::Error) {
        if error.kind() != ErrorKind::NotFound {
            self.omit(path, &error.kind().to_string());
        }
    }

    /// Records a path and the reason why it is missing.
    pub(super) fn omit(&mut self, path: &Path, reason: &str) {
        if self.list.len() > MAX_LIST {
            self.omitted += 1;
            return;
        }
        // A path may contain line feeds.
        let path = path.display().to_string().escape_debug().to_string();
        let path = if path.is_empty() { "/" } else { &path };
        self.list.push_str(&format!("{path}: {reason}\n"));
    }

    /// Adds the list to the archive, unless it is empty. The name of the list differs from the names of the user's
    /// files.
    pub(super) fn add_to<W: Write>(self, tar: &mut Builder<W>, root: &Path) -> io::Result<()> {
        if self.list.is_empty() {
            return Ok(());
        }
        let more = if self.omitted > 0 { format!("… and {} more\n", self.omitted) } else { String::new() };
        let text = format!("{INTRODUCTION}{}{more}", self.list);
        let mut names = (1..100).map(|number| match number {
            1 => format!("{NAME}.txt"),
            number => format!("{NAME}-{number}.txt"),
        });
        let name = names.find(|name| root.join(name).symlink_metadata().is_err()).unwrap_or(format!("{NAME}.txt"));
        let mut header = Header::new_gnu();
        header.set_mode(0o644);
        header.set_size(text.len() as u64);
        tar.append_data(&mut header, name, text.as_bytes())
    }
}
