//! Removes the login proxy's cookies in both directions.
//!
//! The app may run untrusted code. Such code must neither read nor set the login proxy's session cookie.

/// Cookie name prefixes for which browsers enforce cookie attributes. The sidecar ignores their case, as browsers do.
const SECURITY_PREFIXES: [&[u8]; 4] = [b"__host-http-", b"__host-", b"__secure-", b"__http-"];

/// Recognizes the login proxy's cookies by their name prefix.
#[derive(Debug, Clone)]
pub(crate) struct LoginCookies {
    prefix: Box<[u8]>,
}

impl LoginCookies {
    /// Creates a matcher for cookies whose names begin with `prefix`, also after a security prefix such as `__Host-`.
    pub(crate) fn new(prefix: &str) -> Self {
        Self { prefix: strip_security_prefix(prefix.as_bytes()).into() }
    }

    /// Returns true if a cookie belongs to the login proxy: `name=value`, or the value of a `Set-Cookie` header.
    ///
    /// Ignores a leading `=`: the app can set `=_oauth2_proxy=x`, a cookie without a name, and the browser sends it as
    /// `_oauth2_proxy=x`.
    pub(crate) fn is_login_cookie(&self, cookie: &[u8]) -> bool {
        let start = cookie.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'=')).unwrap_or(cookie.len());
        strip_security_prefix(&cookie[start..]).starts_with(&self.prefix)
    }

    /// Returns true if a `Cookie` header contains a cookie of the login proxy.
    pub(crate) fn are_in(&self, line: &[u8]) -> bool {
        line.split(|&byte| byte == b';').any(|cookie| self.is_login_cookie(cookie))
    }

    /// Returns the cookies of a `Cookie` header that do not belong to the login proxy, in their order.
    pub(crate) fn others<'c>(&self, line: &'c [u8]) -> impl Iterator<Item = &'c [u8]> {
        line.split(|&byte| byte == b';')
            .filter(|cookie| !self.is_login_cookie(cookie))
            .map(<[u8]>::trim_ascii)
            .filter(|cookie| !cookie.is_empty())
    }
}

fn strip_security_prefix(name: &[u8]) -> &[u8] {
    for prefix in SECURITY_PREFIXES {
        if let Some((start, rest)) = name.split_at_checked(prefix.len())
            && start.eq_ignore_ascii_case(prefix)
        {
            return rest;
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn others(line: &str) -> String {
        let cookies = LoginCookies::new("_oauth2_proxy");
        let others: Vec<&[u8]> = cookies.others(line.as_bytes()).collect();
        String::from_utf8(others.join(&b"; "[..])).unwrap()
    }

    /// Returns all names that programs may read from a cookie. The name is the text before the first `=`. If that text
    /// is empty, a program may also read the value as another cookie.
    fn names(cookie: &[u8]) -> Vec<String> {
        let text = String::from_utf8_lossy(cookie).into_owned();
        let mut names = Vec::new();
        let mut rest = text.as_str();
        loop {
            let (name, value) = rest.split_once('=').unwrap_or((rest, ""));
            names.push(name.trim_matches([' ', '\t']).to_owned());
            if !name.trim_matches([' ', '\t']).is_empty() || value.is_empty() {
                return names;
            }
            rest = value;
        }
    }

    fn is_login(name: &str) -> bool {
        let lower = name.to_ascii_lowercase();
        let security_prefixes = ["", "__host-", "__secure-", "__http-", "__host-http-"];
        security_prefixes
            .iter()
            .any(|prefix| lower.starts_with(prefix) && name[prefix.len()..].starts_with("_oauth2_proxy"))
    }

    #[test]
    fn only_login_proxy_cookies_are_removed() {
        for (line, left) in [
            ("_oauth2_proxy=s; _oauth2_proxy_0=t; a=b", "a=b"),
            ("a=b;_oauth2_proxy_csrf=x;c=\"d e\"", "a=b; c=\"d e\""),
            ("  _oauth2_proxy = s ;\ta=b", "a=b"),
            ("__Host-_oauth2_proxy=s; __SECURE-_oauth2_proxy=s; __Host-app=1", "__Host-app=1"),
            ("=_oauth2_proxy=s; x_oauth2_proxy=1; _OAUTH2_PROXY=1", "x_oauth2_proxy=1; _OAUTH2_PROXY=1"),
            ("_oauth2_proxy", ""),
            ("a=_oauth2_proxy=1", "a=_oauth2_proxy=1"),
            ("", ""),
        ] {
            assert_eq!(others(line), left, "{line}");
        }
    }

    #[test]
    fn configured_host_prefix_also_matches_cookie_without_host_prefix() {
        let cookies = LoginCookies::new("__Host-launcher");
        assert!(cookies.are_in(b"a=b; launcher=s"));
        assert!(cookies.are_in(b"__Host-launcher_0=s"));
        assert!(!cookies.are_in(b"a=launcher"));
    }

    #[test]
    fn login_cookie_set_by_app_is_detected_in_all_spellings() {
        let cookies = LoginCookies::new("_oauth2_proxy");
        for line in [
            "_oauth2_proxy=x; Path=/",
            " _oauth2_proxy_0=x",
            "=_oauth2_proxy=x",
            "\t= _oauth2_proxy",
            "__host-_oauth2_proxy=x",
        ] {
            assert!(cookies.is_login_cookie(line.as_bytes()), "{line}");
        }
        assert!(!cookies.is_login_cookie(b"session=_oauth2_proxy"));
    }

    proptest! {
        #[test]
        fn only_login_cookies_are_removed_from_valid_cookie_header(
            cookies in prop::collection::vec(("(_oauth2_proxy|__Host-_oauth2_proxy|a|_o)[_a-z0-9]{0,5}", "[!-:<-~]{0,9}"), 0..9),
            separator in "(;|; |;  |\t;)",
        ) {
            let line: Vec<String> = cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let kept: Vec<&str> = line
                .iter()
                .map(String::as_str)
                .filter(|cookie| !cookie.starts_with("_oauth2_proxy") && !cookie.starts_with("__Host-_oauth2_proxy"))
                .collect();
            prop_assert_eq!(others(&line.join(&separator)), kept.join("; "));
        }

        #[test]
        fn only_login_cookies_are_removed_from_arbitrary_cookie_header(
            pieces in prop::collection::vec(
                prop_oneof![
                    "(__|_)?(Host-|Secure-|Http-|Host-Http-|host-)?_oauth2_proxy[_a-z0-9]{0,3}",
                    "[_a-zA-Z]{1,9}",
                    Just("=".to_owned()),
                    Just(";".to_owned()),
                    Just("; ".to_owned()),
                    "[\t -~\u{80}-\u{ff}]{1,4}",
                ],
                0..24,
            ),
        ) {
            let line = pieces.concat();
            let cookies = LoginCookies::new("_oauth2_proxy");
            let kept: Vec<&[u8]> = cookies.others(line.as_bytes()).collect();
            let left = kept.join(&b"; "[..]);
            prop_assert!(!cookies.are_in(&left), "{:?}", String::from_utf8_lossy(&left));
            for cookie in left.split(|&byte| byte == b';') {
                for name in names(cookie) {
                    prop_assert!(!is_login(&name), "{name} in {:?}", String::from_utf8_lossy(&left));
                }
            }
            let expected: Vec<&[u8]> = line
                .as_bytes()
                .split(|&byte| byte == b';')
                .map(<[u8]>::trim_ascii)
                .filter(|cookie| !cookie.is_empty() && !names(cookie).iter().any(|name| is_login(name)))
                .collect();
            prop_assert_eq!(kept, expected);
        }
    }
}
