use launcher_domain::email::EmailError;
use launcher_domain::identity::{IdentityError, TrustedHeader};
use launcher_domain::identity::{ProxySecret, ProxySecretError};
use proptest::prelude::*;

fn read(lines: &[(&str, &str)]) -> Result<String, IdentityError> {
    let lines = lines.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
    TrustedHeader::default().read(lines).map(|email| email.to_string())
}

const H: &str = "X-Auth-Request-Email";

#[test]
fn identity_requires_exactly_one_header_line() {
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
fn alias_of_identity_header_is_rejected() {
    for alias in ["X_Auth_Request_Email", "x.auth.request.email", "XAuthRequestEmail", "x-auth_request-email"] {
        assert_eq!(read(&[(alias, "alice@example.org")]), Err(IdentityError::Missing), "{alias}");
        let lines = [(H, "alice@example.org"), (alias, "alice@example.org")];
        assert_eq!(read(&lines), Err(IdentityError::Alias), "{alias} after");
        assert_eq!(read(&[lines[1], lines[0]]), Err(IdentityError::Alias), "{alias} before");
    }
}

#[test]
fn identity_header_is_recognized_in_every_spelling() {
    let header = TrustedHeader::parse("X-My-Mail").unwrap();
    for name in ["X-My-Mail", "x_my_mail", "X-Auth-Request-User", "x_auth.request-groups", "X-Forwarded-Email"] {
        assert!(header.is_identity_header(name.as_bytes()), "{name}");
    }
    for name in ["X-My-Mailer", "X-Forwarded-For", "X-Forwarded-Host", "Authorization", "Cookie", "X-Auth"] {
        assert!(!header.is_identity_header(name.as_bytes()), "{name}");
    }
}

#[test]
fn invalid_identity_header_name_is_refused() {
    for name in ["", "X_Auth", "X Auth", "-X", "X:Y", "Ünder"] {
        assert!(TrustedHeader::parse(name).is_err(), "{name}");
    }
}

const SECRET: &str = "0123456789abcdef0123456789abcdef";
const OTHER: &str = "fedcba9876543210fedcba9876543210";
const PROOF: &str = "X-Auth-Request-Proof";

fn read_verified(secret: &ProxySecret, lines: &[(&str, &str)]) -> Result<String, IdentityError> {
    let lines = lines.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
    TrustedHeader::default().read_verified(Some(secret), lines).map(|email| email.to_string())
}

#[test]
fn identity_without_valid_proof_is_refused() {
    let secret = ProxySecret::parse(SECRET).unwrap();
    let alice = (H, "alice@example.org");
    assert_eq!(read_verified(&secret, &[alice, (PROOF, SECRET)]).unwrap(), "alice@example.org");
    assert_eq!(read_verified(&secret, &[("x-auth-request-proof", SECRET), alice]).unwrap(), "alice@example.org");
    for lines in [
        vec![alice],
        vec![alice, (PROOF, OTHER)],
        vec![alice, (PROOF, "")],
        vec![alice, (PROOF, &SECRET[1..])],
        vec![alice, (PROOF, SECRET), (PROOF, SECRET)],
        vec![alice, ("X_Auth_Request_Proof", SECRET)],
        vec![alice, alice, (PROOF, OTHER)],
    ] {
        assert_eq!(read_verified(&secret, &lines), Err(IdentityError::Unproven), "{lines:?}");
    }
    assert_eq!(read_verified(&secret, &[(PROOF, OTHER)]), Err(IdentityError::Missing));
    assert_eq!(read_verified(&secret, &[alice, alice, (PROOF, SECRET)]), Err(IdentityError::Repeated));
    assert!(TrustedHeader::default().is_identity_header(PROOF.as_bytes()));
}

#[test]
fn two_secrets_are_accepted_during_a_rotation() {
    let secret = ProxySecret::parse(&format!("{SECRET}\n\n{OTHER}\n")).unwrap();
    assert!(secret.accepts(SECRET.as_bytes()) && secret.accepts(OTHER.as_bytes()));
    let shared = secret.clone();
    assert_eq!(secret.replace(OTHER), Ok(true));
    assert!(!shared.accepts(SECRET.as_bytes()) && shared.accepts(OTHER.as_bytes()));
    assert_eq!(secret.replace(OTHER), Ok(false));
    assert_eq!(secret.replace("short"), Err(ProxySecretError::Length(1)));
    assert!(shared.accepts(OTHER.as_bytes()), "the previous secret stays in force");
}

#[test]
fn proxy_secret_is_validated() {
    let wrong = |text: &str| ProxySecret::parse(text).unwrap_err();
    assert_eq!(wrong(" \n"), ProxySecretError::Empty);
    assert_eq!(wrong(&format!("{SECRET}\n{OTHER}\n{SECRET}")), ProxySecretError::TooMany(3));
    assert_eq!(wrong(&format!("{SECRET}\nshort")), ProxySecretError::Length(2));
    assert_eq!(wrong(&"x".repeat(257)), ProxySecretError::Length(1));
    assert_eq!(wrong("correct horse battery staple and more"), ProxySecretError::Character(1));
}

proptest! {
    #[test]
    fn random_header_lines_have_no_identity(lines in prop::collection::vec((any::<Vec<u8>>(), any::<Vec<u8>>()), 0..5)) {
        let lines = lines.iter().map(|(name, value)| (name.as_slice(), value.as_slice()));
        prop_assert!(TrustedHeader::default().read(lines).is_err());
    }
}

#[test]
fn error_for_unreadable_identity_states_the_broken_rule() {
    let unreadable = |value: &[u8]| TrustedHeader::default().read([(H.as_bytes(), value)]);
    assert_eq!(unreadable(b"\xff@example.org"), Err(IdentityError::Unreadable(EmailError::NotVisibleAscii)));
    assert_eq!(unreadable(b"alice"), Err(IdentityError::Unreadable(EmailError::NotOneAt)));
    assert_eq!(unreadable(b" \t"), Err(IdentityError::Missing));
}

#[test]
fn request_with_repeated_and_misspelled_identity_header_is_reported_as_repeated() {
    let alice = (H, "alice@example.org");
    assert_eq!(read(&[("X_Auth_Request_Email", ""), alice, alice]), Err(IdentityError::Repeated));
    assert_eq!(read(&[(H, ""), ("X_Auth_Request_Email", "")]), Err(IdentityError::Alias));
}

#[test]
fn header_with_similar_name_is_not_an_identity_alias() {
    let alice = (H, "alice@example.org");
    for name in ["X-Auth-Request-Emails", "X-Auth-Request-Emai", "Auth-Request-Email", "X-Auth-Request-User", ""] {
        assert_eq!(read(&[alice, (name, "bob@example.org")]).unwrap(), "alice@example.org", "{name}");
    }
}

#[test]
fn configured_identity_header_replaces_the_default() {
    let header = TrustedHeader::parse(" X-My-Mail9 ").unwrap();
    assert_eq!((header.name(), TrustedHeader::default().name()), ("x-my-mail9", "x-auth-request-email"));
    let lines = [(H, "alice@example.org"), ("x-MY-mail9", "bob@example.org")];
    let lines = lines.map(|(name, value)| (name.as_bytes(), value.as_bytes()));
    assert_eq!(header.read(lines).unwrap().as_str(), "bob@example.org");
    let error = TrustedHeader::parse("X_My").unwrap_err().to_string();
    assert_eq!(error, "\"X_My\" is not a header name: use letters, digits and dashes, as in X-Auth-Request-Email");
}

#[test]
fn forwarded_person_headers_are_identity_headers_in_any_spelling() {
    let header = TrustedHeader::parse("X-My-Mail").unwrap();
    for person in ["user", "email", "groups", "preferred-username", "access-token"] {
        for name in [format!("X-Forwarded-{person}"), format!("x_forwarded_{}", person.replace('-', "_"))] {
            assert!(header.is_identity_header(name.as_bytes()), "{name}");
        }
    }
    for name in ["X-Auth-Request", "xauthrequest", "X-Auth-Request-Access-Token"] {
        assert!(header.is_identity_header(name.as_bytes()), "{name}");
    }
    for name in ["X-Forwarded", "X-Forwarded-Users", "X-Forwarded-Proto", "Y-Auth-Request-Email", ""] {
        assert!(!header.is_identity_header(name.as_bytes()), "{name}");
    }
}

#[test]
fn proof_header_is_ignored_without_configured_proxy_secret() {
    let lines = [(H, "alice@example.org"), (PROOF, "wrong")].map(|(name, value)| (name.as_bytes(), value.as_bytes()));
    assert_eq!(TrustedHeader::default().read_verified(None, lines).unwrap().as_str(), "alice@example.org");
}

#[test]
fn proof_header_is_trimmed_and_checked_before_the_address_is_read() {
    let secret = ProxySecret::parse(SECRET).unwrap();
    let padded = format!(" {SECRET}\t");
    assert!(read_verified(&secret, &[(H, "alice@example.org"), (PROOF, &padded)]).is_ok());
    assert_eq!(read_verified(&secret, &[(H, "alice")]), Err(IdentityError::Unproven));
    let unreadable = IdentityError::Unreadable(EmailError::NotOneAt);
    assert_eq!(read_verified(&secret, &[(H, "alice"), (PROOF, SECRET)]), Err(unreadable));
}

#[test]
fn proxy_secret_has_32_to_256_characters() {
    for length in [32, 33, 256] {
        assert!(ProxySecret::parse(&"x".repeat(length)).is_ok(), "{length}");
    }
    for length in [1, 31, 257] {
        assert_eq!(ProxySecret::parse(&"x".repeat(length)).unwrap_err(), ProxySecretError::Length(1), "{length}");
    }
}

#[test]
fn blank_lines_and_spaces_around_proxy_secrets_are_ignored() {
    let one = ProxySecret::parse(&format!("\r\n  {SECRET}\r\n\r\n")).unwrap();
    assert_eq!(one.count(), 1);
    assert!(one.accepts(SECRET.as_bytes()));
    assert_eq!(one.replace(&format!("{SECRET}\n{OTHER}")), Ok(true));
    assert_eq!(one.count(), 2);
    assert_eq!(one.replace(&format!("{OTHER}\n{SECRET}")), Ok(true), "their order counts as a difference");
    assert!(!one.accepts(b"") && !one.accepts(&SECRET.as_bytes()[..31]) && !one.accepts(&[b'x'; 32]));
    assert_eq!(ProxySecret::parse(&format!("\n{SECRET}\n\nsh ort")).unwrap_err(), ProxySecretError::Character(4));
}

#[test]
fn secret_that_is_listed_twice_is_accepted() {
    let secret = ProxySecret::parse(&format!("{SECRET}\n{SECRET}")).unwrap();
    assert!(secret.accepts(SECRET.as_bytes()) && !secret.accepts(OTHER.as_bytes()));
}

#[test]
fn debug_output_of_proxy_secret_hides_the_secret() {
    let secret = ProxySecret::parse(SECRET).unwrap();
    assert_eq!(format!("{secret:?}"), "ProxySecret { .. }");
}
