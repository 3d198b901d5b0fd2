//! Checks a request's target and Host header. They never select the upstream: the upstream is always the app.

/// Error of a request whose target or Host header is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TargetError {
    #[error("the request's target is not a path")]
    Form,
    #[error("the request does not have exactly one Host")]
    HostCount,
    #[error("the request's Host is invalid")]
    Host,
    #[error("the request's target and its Host name different hosts")]
    OtherHost,
}

/// Returns the path and query for the app, in two parts to concatenate. The second part contains the bytes as received:
/// `target` itself, or the part after the host of an absolute target such as `http://host/path`. The first part is
/// empty, or the `/` or `*` that an absolute target without a path needs.
///
/// `host` is the value of the Host header, if the request has one.
///
/// # Errors
/// Returns [`TargetError`] if the target is invalid, or names another host than `host`.
pub(crate) fn path<'t>(
    target: &'t [u8],
    host: Option<&[u8]>,
    is_options: bool,
) -> Result<(&'static [u8], &'t [u8]), TargetError> {
    if target.contains(&b'#') {
        return Err(TargetError::Form);
    }
    if target.first() == Some(&b'/') || (target == b"*" && is_options) {
        return Ok((b"", target));
    }
    let scheme = if starts_with(target, b"http://") {
        b"http://".len()
    } else if starts_with(target, b"https://") {
        b"https://".len()
    } else {
        return Err(TargetError::Form);
    };
    let rest = &target[scheme..];
    let end = rest.iter().position(|byte| matches!(byte, b'/' | b'?')).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    if host.is_some_and(|host| !host.eq_ignore_ascii_case(authority)) {
        return Err(TargetError::OtherHost);
    }
    check_host(authority)?;
    if path.first() == Some(&b'/') {
        return Ok((b"", path));
    }
    Ok((if path.is_empty() && is_options { b"*" } else { b"/" }, path))
}

fn starts_with(target: &[u8], scheme: &[u8]) -> bool {
    target.split_at_checked(scheme.len()).is_some_and(|(start, _)| start.eq_ignore_ascii_case(scheme))
}

/// Checks that the value of a Host header contains only characters that a host and port may have.
///
/// # Errors
/// Returns [`TargetError::Host`] for an empty value or any other character.
pub(crate) fn check_host(host: &[u8]) -> Result<(), TargetError> {
    let readable = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~%!$&'()*+;=:[]".contains(byte);
    if host.is_empty() || !host.iter().all(readable) { Err(TargetError::Host) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(target: &str, host: &str, is_options: bool) -> Result<String, TargetError> {
        let (start, rest) = path(target.as_bytes(), Some(host.as_bytes()), is_options)?;
        Ok(String::from_utf8([start, rest].concat()).unwrap())
    }

    #[test]
    fn target_that_is_a_path_stays_unchanged() {
        for target in ["/", "//d", "/api/contents/a%2Fb;c//d?x=%00", "/a/../b", "/?http://x"] {
            assert_eq!(joined(target, "h", false).unwrap(), target);
        }
    }

    #[test]
    fn absolute_target_is_reduced_to_its_path_and_query() {
        assert_eq!(joined("http://H:80/a?b", "h:80", false).unwrap(), "/a?b");
        assert_eq!(joined("HTTPS://h", "h", false).unwrap(), "/");
        assert_eq!(joined("http://h?x", "h", false).unwrap(), "/?x");
        assert_eq!(joined("http://h", "h", true).unwrap(), "*");
        assert_eq!(joined("http://other/", "h", false), Err(TargetError::OtherHost));
        assert_eq!(joined("http://u@h/", "u@h", false), Err(TargetError::Host));
    }

    #[test]
    fn target_without_path_is_refused_except_asterisk_of_options() {
        for target in ["*", "h:443", "a", "ftp://h/", "/a#b"] {
            assert_eq!(joined(target, "h", false), Err(TargetError::Form), "{target}");
        }
        assert_eq!(joined("*", "h", true).unwrap(), "*");
    }
}
