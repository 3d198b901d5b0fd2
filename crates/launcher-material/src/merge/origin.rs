//! Repository of the files in a folder.

use url::Url;

/// True if two addresses name one repository: they differ at most in the scheme, and in the suffix `.git`.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    let parts = |url: &str| {
        let url = Url::parse(url).ok()?;
        let path = url.path().trim_end_matches('/');
        let path = path.strip_suffix(".git").unwrap_or(path).to_owned();
        Some((url.host_str()?.to_owned(), url.port(), path, url.query().map(str::to_owned)))
    };
    one == other || parts(one).is_some_and(|one| Some(one) == parts(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_repository_are_equal() {
        let url = "https://git.example.org/alice/hw1.git";
        for same in [url, "http://GIT.example.org/alice/hw1/", "https://git.example.org:443/alice/hw1"] {
            assert!(is_same(url, same), "{same}");
        }
        for other in ["https://git.example.org/bob/hw1.git", "https://git.example.org:8080/alice/hw1.git", "", "alice"]
        {
            assert!(!is_same(url, other), "{other}");
        }
    }
}
