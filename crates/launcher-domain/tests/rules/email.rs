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

#[test]
fn length_limits_of_email_are_exact() {
    let with_local = |length: usize| EmailAddress::parse(&format!("{}@b", "a".repeat(length)));
    assert!(with_local(1).is_ok() && with_local(64).is_ok());
    assert_eq!(with_local(65), Err(EmailError::LocalPart));
    let of_length = |length: usize| EmailAddress::parse(&format!("a@{}", "b".repeat(length - 2)));
    assert!(of_length(3).is_ok() && of_length(254).is_ok());
    assert_eq!(of_length(255), Err(EmailError::TooLong));
    let padded = format!(" {} ", of_length(254).unwrap());
    assert!(EmailAddress::parse(&padded).is_ok(), "the length is checked after the trim");
}

#[test]
fn only_ascii_white_space_is_trimmed() {
    for space in [' ', '\t', '\r', '\n', '\u{c}'] {
        assert!(EmailAddress::parse(&format!("{space}alice@example.org{space}")).is_ok(), "{space:?}");
    }
    for space in ['\u{b}', '\u{a0}', '\u{2003}', '\u{feff}'] {
        let email = EmailAddress::parse(&format!("alice@example.org{space}"));
        assert_eq!(email, Err(EmailError::NotVisibleAscii), "{space:?}");
    }
}

#[test]
fn punctuation_of_email_is_kept() {
    for text in ["o'neil+stats@example.org", "!#$%&*/=?^_`{|}~@x", "a@[192.0.2.1]", "\"a\"@b"] {
        assert_eq!(EmailAddress::parse(text).unwrap().as_str(), text);
    }
}

#[test]
fn every_conversion_gives_the_canonical_email() {
    let email = EmailAddress::parse("alice@example.org").unwrap();
    let spelling = " Alice@EXAMPLE.org ";
    assert_eq!(spelling.parse::<EmailAddress>(), Ok(email.clone()));
    assert_eq!(EmailAddress::try_from(spelling.to_owned()), Ok(email.clone()));
    assert_eq!(serde_json::from_str::<EmailAddress>(&format!("\"{spelling}\"")).unwrap(), email);
    assert_eq!(serde_json::to_string(&email).unwrap(), "\"alice@example.org\"");
    assert_eq!(String::from(email.clone()), "alice@example.org");
    assert_eq!(
        (email.to_string(), format!("{email:?}")),
        ("alice@example.org".to_owned(), "EmailAddress(alice@example.org)".to_owned())
    );
}

#[test]
fn email_error_states_the_rule_without_the_text() {
    for (text, message) in [
        ("", "the e-mail address is empty"),
        ("s3cret", "an e-mail address has exactly one @"),
        ("@s3cret", "the part before the @ has 1 to 64 characters"),
        ("s3cret@", "the part after the @ is empty"),
        ("s3 cret@x", "an e-mail address has only visible ASCII characters"),
        (&"s3cret".repeat(50), "an e-mail address has at most 254 characters"),
    ] {
        assert_eq!(EmailAddress::parse(text).unwrap_err().to_string(), message);
    }
    let error = serde_json::from_str::<EmailAddress>("\"s3cret\"").unwrap_err();
    assert!(!error.to_string().contains("s3cret"), "{error}");
}
