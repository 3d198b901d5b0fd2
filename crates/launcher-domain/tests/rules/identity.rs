use launcher_domain::identity::{IdentityError, TrustedHeader};
use launcher_domain::proof::{ProxySecret, ProxySecretError};
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
        assert_eq!(read(&lines), Err(IdentityError::Alias), "{alias} behind");
        assert_eq!(read(&[lines[1], lines[0]]), Err(IdentityError::Alias), "{alias} before");
    }
}

#[test]
fn identity_header_names_are_recognized() {
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
fn proxy_secret_is_validated_and_hidden_in_debug_output() {
    let wrong = |text: &str| ProxySecret::parse(text).unwrap_err();
    assert_eq!(wrong(" \n"), ProxySecretError::Empty);
    assert_eq!(wrong(&format!("{SECRET}\n{OTHER}\n{SECRET}")), ProxySecretError::TooMany(3));
    assert_eq!(wrong(&format!("{SECRET}\nshort")), ProxySecretError::Length(2));
    assert_eq!(wrong(&"x".repeat(257)), ProxySecretError::Length(1));
    assert_eq!(wrong("correct horse battery staple and more"), ProxySecretError::Character(1));
    assert!(!format!("{:?}", ProxySecret::parse(SECRET).unwrap()).contains(SECRET));
}

proptest! {
    #[test]
    fn arbitrary_header_lines_are_rejected(lines in prop::collection::vec((any::<Vec<u8>>(), any::<Vec<u8>>()), 0..5)) {
        let lines = lines.iter().map(|(name, value)| (name.as_slice(), value.as_slice()));
        prop_assert!(TrustedHeader::default().read(lines).is_err());
    }
}
