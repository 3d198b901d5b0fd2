//! Version of the programs.

use std::sync::LazyLock;

/// Returns the version for `--version`: the version of the workspace, and in a release build the commit, as in
/// `0.1.0 (abc1234)`.
///
/// A release build sets the environment variable `LAUNCHER_COMMIT`. Other builds do not read the repository, so a commit
/// does not rebuild them, and a build from a source archive needs no Git.
#[must_use]
pub fn version() -> &'static str {
    static VERSION: LazyLock<String> =
        LazyLock::new(|| with_commit(env!("CARGO_PKG_VERSION"), option_env!("LAUNCHER_COMMIT")));
    &VERSION
}

/// Appends the commit. An empty commit counts as none, because an unset build argument of an image is empty.
fn with_commit(version: &str, commit: Option<&str>) -> String {
    match commit {
        Some(commit) if !commit.is_empty() => format!("{version} ({commit})"),
        _ => version.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::with_commit;

    #[test]
    fn commit_is_in_parentheses_and_optional() {
        assert_eq!(with_commit("0.1.0", Some("abc1234")), "0.1.0 (abc1234)");
        assert_eq!(with_commit("0.1.0", Some("")), "0.1.0");
        assert_eq!(with_commit("0.1.0", None), "0.1.0");
    }
}
