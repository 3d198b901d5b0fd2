//! A request's target and Host. The target never selects the upstream, which is always the app.

/// This proxy does not forward requests with this target or Host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TargetError {
    #[error("the request's target is no path")]
    Form,
    #[error("the request has no Host, or more than one")]
    HostCount,
    #[error("the request's Host is no host")]
    Host,
    #[error("the request's target names another host than its Host does")]
    OtherHost,
}

/// Returns the path and query for the app, byte for byte as received: `target` itself, or the part after the authority
/// of an absolute-form target. The first of the two parts is a missing `/` or `*`, or empty.
///
/// # Errors
/// [`TargetError`]. `host` is the value of the Host line, if there is one.
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

/// Checks that the value of a Host line has only characters of a host and port.
///
/// # Errors
/// [`TargetError::Host`].
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
    fn origin_form_targets_are_unchanged() {
        for target in ["/", "//d", "/api/contents/a%2Fb;c//d?x=%00", "/a/../b", "/?http://x"] {
            assert_eq!(joined(target, "h", false).unwrap(), target);
        }
    }

    #[test]
    fn absolute_targets_lose_their_authority() {
        assert_eq!(joined("http://H:80/a?b", "h:80", false).unwrap(), "/a?b");
        assert_eq!(joined("HTTPS://h", "h", false).unwrap(), "/");
        assert_eq!(joined("http://h?x", "h", false).unwrap(), "/?x");
        assert_eq!(joined("http://h", "h", true).unwrap(), "*");
        assert_eq!(joined("http://other/", "h", false), Err(TargetError::OtherHost));
        assert_eq!(joined("http://u@h/", "u@h", false), Err(TargetError::Host));
    }

    #[test]
    fn other_target_forms_are_refused() {
        for target in ["*", "h:443", "a", "ftp://h/", "/a#b"] {
            assert_eq!(joined(target, "h", false), Err(TargetError::Form), "{target}");
        }
        assert_eq!(joined("*", "h", true).unwrap(), "*");
    }
}
