use launcher_domain::local_path::LocalPath;

#[test]
fn only_local_paths_are_accepted() {
    for text in ["/", "/launch/0190?x=%2F%2Fevil#top", "/a//b"] {
        assert_eq!(LocalPath::parse(text).unwrap().as_str(), text);
    }
    for text in [
        "",
        "evil",
        "//evil",
        "/\\evil",
        "\\/evil",
        "javascript:alert(1)",
        "https://evil",
        "/\t/evil",
        "/a\r\nSet-Cookie: x",
        " /",
        "/é",
        "/a\\b",
    ] {
        assert_eq!(LocalPath::parse(text), None, "{text:?}");
    }
}

#[test]
fn local_path_has_at_most_2048_bytes() {
    let path = |length: usize| LocalPath::parse(&format!("/{}", "a".repeat(length - 1)));
    assert!(path(2048).is_some());
    assert_eq!(path(2049), None);
    assert_eq!(LocalPath::root().as_str(), "/");
}
