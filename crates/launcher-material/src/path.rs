//! Paths inside of a source.

use crate::failure::Failure;
use crate::limits::{NAME_BYTES, PATH_BYTES, PATH_DEPTH};

/// Checks the path of an entry. Returns the relative path, with `/` between its parts: empty parts and `.` are removed, as in
/// `./a//b`. Returns `None` if the entry is omitted: a part is named `.git`, or a name is not text.
///
/// # Errors
/// The path is absolute, has a part `..`, is too long or too deep.
pub fn check(bytes: &[u8]) -> Result<Option<String>, Failure> {
    let shown = String::from_utf8_lossy(bytes.get(..bytes.len().min(80)).unwrap_or_default());
    let refused = |reason: &str| Failure::new(format!("The source has the path {shown:?}, which {reason}."));
    if bytes.first() == Some(&b'/') {
        return Err(refused("is absolute"));
    }
    let parts: Vec<&[u8]> =
        bytes.split(|byte| *byte == b'/').filter(|part| !part.is_empty() && *part != b".").collect();
    if parts.contains(&b"..".as_slice()) {
        return Err(refused("leaves the directory"));
    }
    if bytes.len() > PATH_BYTES || parts.iter().any(|part| part.len() > NAME_BYTES) {
        return Err(refused("is too long"));
    }
    if parts.len() > PATH_DEPTH {
        return Err(refused("is too deep"));
    }
    let names: Option<Vec<&str>> = parts.into_iter().map(name).collect();
    Ok(names.filter(|names| !names.is_empty()).map(|names| names.join("/")))
}

/// Returns the name as text, unless files with this name are omitted. A directory `.git` would configure git commands of
/// the student, also with hooks.
fn name(bytes: &[u8]) -> Option<&str> {
    let name = std::str::from_utf8(bytes).ok()?;
    let is_git = name.trim_end_matches(['.', ' ']).eq_ignore_ascii_case(".git");
    (!is_git && !name.contains(char::is_control)).then_some(name)
}

/// Returns the directory and the name of a path.
#[must_use]
pub fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Index of the last component of a path.
#[must_use]
pub fn last_part(path: &str) -> usize {
    path.matches('/').count()
}

/// Returns the part of a path below a folder; `None` for a path outside of it.
#[must_use]
pub fn below<'a>(path: &'a str, folder: Option<&str>) -> Option<&'a str> {
    match folder {
        None => Some(path),
        Some(folder) => path.strip_prefix(folder)?.strip_prefix('/'),
    }
}

/// Returns the path of the file beside `path` that gets the teacher's version. `part` is the number of the part that gets
/// the remark, and `attempt` distinguishes several files of one version.
#[must_use]
pub fn beside(path: &str, part: usize, version: &str, attempt: usize) -> String {
    let last = last_part(path);
    let number = if attempt > 1 { format!(", {attempt}") } else { String::new() };
    let remark = format!(" (from teacher {version}{number})");
    let marked = |(index, name): (usize, &str)| {
        if index != part {
            return name.to_owned();
        }
        let dot = name.rfind('.').filter(|dot| *dot > 0 && index == last).unwrap_or(name.len());
        let (stem, extension) = name.split_at(dot);
        let room = NAME_BYTES.saturating_sub(remark.len() + extension.len());
        let end = (0..=room.min(stem.len())).rev().find(|end| stem.is_char_boundary(*end)).unwrap_or(0);
        let (extension, stem) = (if room == 0 { "" } else { extension }, stem.get(..end).unwrap_or_default());
        format!("{stem}{remark}{extension}")
    };
    path.split('/').enumerate().map(marked).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_outside_are_refused() {
        for path in ["/etc/passwd", "../a", "a/../b", "a/.."] {
            assert!(check(path.as_bytes()).is_err(), "{path}");
        }
        assert!(check("a/".repeat(33).as_bytes()).is_err());
        assert!(check("a".repeat(256).as_bytes()).is_err());
        assert!(check("aa/".repeat(400).as_bytes()).is_err());
    }

    #[test]
    fn repository_directories_and_names_without_text_are_omitted() {
        for path in [b".git/hooks/post-checkout".as_slice(), b"a/.GIT/config", b"a/.git. /x", b"\xff", b"a\nb", b"./"] {
            assert_eq!(check(path), Ok(None), "{path:?}");
        }
    }

    #[test]
    fn plain_paths_are_normalised() {
        assert_eq!(check(b"./a//b.txt"), Ok(Some("a/b.txt".to_owned())));
        assert_eq!(check(".gitignore é".as_bytes()), Ok(Some(".gitignore é".to_owned())));
    }

    #[test]
    fn teachers_file_has_version_before_extension() {
        assert_eq!(beside("w/a.tar.gz", 1, "abc", 1), "w/a.tar (from teacher abc).gz");
        assert_eq!(beside("w.d/a.py", 0, "abc", 2), "w.d (from teacher abc, 2)/a.py");
        assert_eq!(beside(".profile", 0, "abc", 1), ".profile (from teacher abc)");
        let long = beside(&"é".repeat(127), 0, "abc", 1);
        assert!(long.len() <= NAME_BYTES && long.ends_with("é (from teacher abc)"), "{long}");
    }
}
