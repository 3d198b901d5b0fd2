use launcher_domain::identity::{IdentityError, TrustedHeader};
use proptest::prelude::*;

fn read(lines: &[(&str, &str)]) -> Result<String, IdentityError> {
    let lines = lines.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
    TrustedHeader::default().read(lines).map(|email| email.to_string())
}

const H: &str = "X-Auth-Request-Email";

#[test]
fn exactly_one_line_in_its_exact_spelling() {
    assert_eq!(read(&[(H, "ALICE@example.org")]).unwrap(), "alice@example.org");
    assert_eq!(read(&[("x-auth-request-email", " alice@example.org ")]).unwrap(), "alice@example.org");
    assert_eq!(read(&[]), Err(IdentityError::Missing));
    assert_eq!(read(&[(H, "")]), Err(IdentityError::Missing));
    assert_eq!(read(&[("X-Forwarded-Email", "alice@example.org")]), Err(IdentityError::Missing));
    assert_eq!(read(&[(H, "alice@example.org"), (H, "alice@example.org")]), Err(IdentityError::Repeated));
    assert_eq!(read(&[(H, ""), (H, "alice@example.org")]), Err(IdentityError::Repeated));
    assert!(matches!(read(&[(H, "alice@example.org,bob@example.org")]), Err(IdentityError::Unreadable(_))));
}

#[test]
fn an_alias_is_no_identity_and_spoils_one() {
    for alias in ["X_Auth_Request_Email", "x.auth.request.email", "XAuthRequestEmail", "x-auth_request-email"] {
        assert_eq!(read(&[(alias, "alice@example.org")]), Err(IdentityError::Missing), "{alias}");
        let lines = [(H, "alice@example.org"), (alias, "alice@example.org")];
        assert_eq!(read(&lines), Err(IdentityError::Alias), "{alias} behind");
        assert_eq!(read(&[lines[1], lines[0]]), Err(IdentityError::Alias), "{alias} before");
    }
}

#[test]
fn names_that_speak_of_identity() {
    let header = TrustedHeader::parse("X-My-Mail").unwrap();
    for name in ["X-My-Mail", "x_my_mail", "X-Auth-Request-User", "x_auth.request-groups", "X-Forwarded-Email"] {
        assert!(header.speaks_of_identity(name.as_bytes()), "{name}");
    }
    for name in ["X-My-Mailer", "X-Forwarded-For", "X-Forwarded-Host", "Authorization", "Cookie", "X-Auth"] {
        assert!(!header.speaks_of_identity(name.as_bytes()), "{name}");
    }
}

#[test]
fn a_header_name_that_could_be_an_alias_is_refused() {
    for name in ["", "X_Auth", "X Auth", "-X", "X:Y", "Ünder"] {
        assert!(TrustedHeader::parse(name).is_err(), "{name}");
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(lines in prop::collection::vec((any::<Vec<u8>>(), any::<Vec<u8>>()), 0..5)) {
        let lines = lines.iter().map(|(name, value)| (name.as_slice(), value.as_slice()));
        prop_assert!(TrustedHeader::default().read(lines).is_err());
    }
}
