use launcher_domain::SourceUrl;

fn url(text: &str) -> SourceUrl {
    SourceUrl::parse(text).unwrap()
}

#[test]
fn url_of_source_has_http_or_https_and_no_user() {
    for text in [
        "https://git.example.org/statistics/101.git",
        "http://127.0.0.1:8080/a",
        "HTTPS://EXAMPLE.org",
        "https://[::1]:8443/a.zip?raw=1",
        "https://example.org/a%20b/~user/",
    ] {
        assert!(SourceUrl::parse(text).is_some(), "{text}");
    }
    let long = format!("https://example.org/{}", "a".repeat(2048));
    for text in [
        "",
        "example.org/a",
        "//example.org/a",
        "file:///etc/passwd",
        "ssh://git@example.org/a",
        "git://example.org/a",
        "git@example.org:a.git",
        "https://",
        "https:///a",
        "https://user@example.org/a",
        "https://user:secret@example.org/a",
        "https://example.org\\@other.example/a",
        "https://example.org:/a",
        "https://example.org:0/a",
        "https://example.org:+80/a",
        "https://example.org:65536/a",
        "https://[::1/a",
        "https://[]/a",
        "https://[::1]x/a",
        "https://exa mple.org/a",
        "https://example.org/a#b",
        "https://example.org/a\n",
        "https://exämple.org/a",
        &long,
    ] {
        assert_eq!(SourceUrl::parse(text), None, "{text:?}");
    }
}

#[test]
fn prefix_is_compared_by_scheme_host_port_and_whole_segments() {
    for (text, prefix) in [
        ("https://example.org/team/a.git", "https://example.org/team"),
        ("https://example.org/team/a.git", "https://example.org/team/"),
        ("https://example.org/team/a/b", "https://EXAMPLE.org:443/team"),
        ("https://example.org/team", "https://example.org/team"),
        ("https://example.org/a", "https://example.org"),
    ] {
        assert!(url(text).begins_with(&url(prefix)), "{text} {prefix}");
    }
    for (text, prefix) in [
        ("https://example.org/team-of-others/a", "https://example.org/team"),
        ("https://example.org.evil.example/team/a", "https://example.org/team"),
        ("https://example.org:8443/team/a", "https://example.org/team"),
        ("http://example.org/team/a", "https://example.org/team"),
        ("http://example.org:443/team/a", "https://example.org/team"),
        ("https://example.org/", "https://example.org/team"),
        ("https://example.org/Team/a", "https://example.org/team"),
        ("https://example.org/team/../others/a", "https://example.org/team"),
        ("https://example.org/team/%2e%2E/others/a", "https://example.org/team"),
        ("https://example.org/team/..%2Fothers/a", "https://example.org/team"),
        ("https://example.org/team//a", "https://example.org/team"),
        ("https://example.org/team/a?service=x", "https://example.org/team"),
        ("https://example.org/team/a", "https://example.org/team?x"),
    ] {
        assert!(!url(text).begins_with(&url(prefix)), "{text} {prefix}");
    }
}

#[test]
fn repository_is_named_by_last_segment_without_git() {
    for (text, name) in [
        ("https://example.org/team/statistics-101.git", Some("statistics-101")),
        ("https://example.org/team/r/", Some("r")),
        ("https://example.org/", None),
    ] {
        assert_eq!(url(text).repository_name(), name, "{text}");
    }
}

/// The program for course material reads the address with another parser.
#[test]
fn any_plain_address_is_read_alike_by_another_parser() {
    let name = "any_plain_address_is_read_alike_by_another_parser";
    launcher_fuzz::run(env!("CARGO_MANIFEST_DIR"), name, 100_000, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let Some(read) = SourceUrl::parse(&text) else { return };
        assert_eq!(read.begins_with(&read), read.is_plain());
        let Ok(other) = url::Url::parse(&text) else { return };
        assert_eq!((other.username(), other.password(), other.fragment()), ("", None, None), "{text}");
        assert_eq!(other.scheme() == "https", read.is_https());
        let again = SourceUrl::parse(other.as_str()).unwrap_or_else(|| unreachable!("{text} is {other}"));
        // The other parser knows further spellings of numeric addresses. The text is compared, so they are not alike.
        if read.is_plain() && matches!(other.host(), Some(url::Host::Domain(_))) {
            assert_eq!(again, read, "{text} is {other}");
        }
    });
}
