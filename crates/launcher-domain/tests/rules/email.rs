use launcher_domain::EmailAddress;
use launcher_domain::email::EmailError;
use proptest::prelude::*;

#[test]
fn email_is_trimmed_and_lowercased() {
    for text in ["alice@example.org", " ALICE@example.org\t", "Alice@EXAMPLE.org"] {
        assert_eq!(EmailAddress::parse(text).unwrap().as_str(), "alice@example.org");
    }
}

#[test]
fn each_email_rule_has_its_own_error() {
    let long_local = format!("{}@example.org", "a".repeat(65));
    let long = format!("a@{}", "b".repeat(253));
    for (text, error) in [
        ("", EmailError::Empty),
        (" \t ", EmailError::Empty),
        ("alice", EmailError::NotOneAt),
        ("alice@example.org@evil.com", EmailError::NotOneAt),
        ("alice@example.org,bob@example.org", EmailError::NotOneAt),
        ("@example.org", EmailError::LocalPart),
        (&long_local, EmailError::LocalPart),
        ("alice@", EmailError::NoDomain),
        (&long, EmailError::TooLong),
        ("al ice@example.org", EmailError::NotVisibleAscii),
        ("alice\n@example.org", EmailError::NotVisibleAscii),
        ("alıce@example.org", EmailError::NotVisibleAscii),
        ("alice@example.org\0", EmailError::NotVisibleAscii),
        ("\u{a0}alice@example.org\u{3000}", EmailError::NotVisibleAscii),
    ] {
        assert_eq!(EmailAddress::parse(text), Err(error), "{text:?}");
    }
}

#[test]
fn longest_allowed_email_is_accepted() {
    let longest = format!("{}@{}", "a".repeat(64), "b".repeat(254 - 65));
    assert_eq!(EmailAddress::parse(&longest).unwrap().as_str().len(), 254);
}

proptest! {
    #[test]
    fn parsed_email_is_canonical(text in "\\PC{0,300}|[ -~]{1,70}@[ -~]{0,200}") {
        if let Ok(email) = EmailAddress::parse(&text) {
            let canonical = email.as_str();
            prop_assert!(canonical.bytes().all(|byte| byte.is_ascii_graphic() && !byte.is_ascii_uppercase()));
            prop_assert_eq!(canonical.matches('@').count(), 1);
            prop_assert!((3..=254).contains(&canonical.len()));
            prop_assert_eq!(EmailAddress::parse(canonical).unwrap(), email);
        }
    }
}
