use jiff::{SignedDuration, Timestamp};
use launcher_domain::join::{read_join_code, shown_join_code};
use launcher_domain::{
    Class, ClassContent, ClassRole, EmailAddress, Invitation, JoinLink, JoinRefusal, JoinRules, MemberSource,
    Membership,
};
use serde_json::{Value, json};
use uuid::Uuid;

fn email(text: &str) -> EmailAddress {
    EmailAddress::parse(text).unwrap()
}

fn rules(body: &Value) -> Result<JoinRules, Vec<(String, &'static str)>> {
    let read = JoinRules::read(body.as_object().unwrap());
    read.map_err(|errors| errors.into_iter().map(|error| (error.pointer, error.rule.code())).collect())
}

/// Returns an unused link that was created at 0 s.
fn invitation(body: &Value) -> Invitation {
    let now = Timestamp::UNIX_EPOCH;
    let content = json!({ "name": "Statistics 101" });
    let class = Class {
        class_id: Uuid::from_u128(1),
        content: ClassContent::read(content.as_object().unwrap(), None).unwrap(),
        version: 1,
        created_by: email("teacher@example.org"),
        created_at: now,
        updated_at: now,
    };
    let rules = rules(body).unwrap();
    let link = JoinLink {
        link_id: Uuid::from_u128(2),
        code: "abcdefghij".to_owned(),
        class_id: class.class_id,
        created_by: email("teacher@example.org"),
        created_at: now,
        expires_at: now + SignedDuration::from_secs(rules.valid_seconds.into()),
        rules,
        joined: 0,
        revoked_at: None,
    };
    Invitation { link, class, memberships: Vec::new() }
}

fn membership(removed_at: Option<Timestamp>) -> Membership {
    Membership {
        membership_id: Uuid::from_u128(3),
        class_id: Uuid::from_u128(1),
        email: email("alice@example.org"),
        source: MemberSource::Roster,
        role: ClassRole::Student,
        name: String::new(),
        joined_at: Timestamp::UNIX_EPOCH,
        removed_at,
    }
}

#[test]
fn code_is_read_as_people_type_it() {
    assert_eq!(shown_join_code("abcdefghij"), "abcde-fghij");
    for typed in ["abcdefghij", "ABCDE-FGHIJ", " abcde fghij\n", "a-b-c-d-e-f-g-h-i-j"] {
        assert_eq!(read_join_code(typed).as_deref(), Some("abcdefghij"), "{typed:?}");
    }
    for typed in ["", "abcde-fghi", "abcdefghijk", "abcdefghi0", "abcdefghi/", "äbcdefghij", &"a".repeat(100_000)] {
        assert_eq!(read_join_code(typed), None);
    }
}

#[test]
fn wrong_rules_of_link_have_all_errors() {
    let wrong = rules(&json!({ "valid_seconds": 5, "seats": 0, "domain": "exa mple", "members_only": "yes" }));
    let expected = [
        ("/valid_seconds", "duration"),
        ("/seats", "seat-count"),
        ("/domain", "mail-domain"),
        ("/members_only", "type-boolean"),
    ];
    assert_eq!(wrong.unwrap_err(), expected.map(|(at, code)| (at.to_owned(), code)));
    let defaults = rules(&json!({})).unwrap();
    assert_eq!((defaults.valid_seconds, defaults.seats, defaults.domain), (14 * 86400, None, None));
    assert_eq!(rules(&json!({ "domain": "@Example.ORG" })).unwrap().domain.as_deref(), Some("example.org"));
}

#[test]
fn link_refuses_each_person_with_the_reason() {
    let alice = email("alice@example.org");
    let refusal = |body: &Value, change: fn(&mut Invitation), seconds: i64| {
        let mut invitation = invitation(body);
        change(&mut invitation);
        invitation.refusal(&alice, Timestamp::from_second(seconds).unwrap())
    };
    let hour = &json!({ "valid_seconds": 3600, "seats": 1, "domain": "example.org" });
    assert_eq!(refusal(hour, |_| (), 3599), None);
    assert_eq!(refusal(hour, |_| (), 3600), Some(JoinRefusal::Expired));
    assert_eq!(refusal(hour, |found| found.link.joined = 1, 0), Some(JoinRefusal::Full));
    let revoke = |found: &mut Invitation| found.link.revoked_at = Some(Timestamp::UNIX_EPOCH);
    assert_eq!(refusal(hour, revoke, 0), Some(JoinRefusal::Revoked));
    assert_eq!(refusal(hour, |found| found.class.content.archived = true, 0), Some(JoinRefusal::Over));
    let remove = |found: &mut Invitation| found.memberships = vec![membership(Some(Timestamp::UNIX_EPOCH))];
    assert_eq!(refusal(hour, remove, 0), Some(JoinRefusal::Removed), "a removed person does not return by the link");
    assert_eq!(refusal(&json!({ "members_only": true }), |_| (), 0), Some(JoinRefusal::MembersOnly));
    for domain in ["sub.example.org", "ple.org", "org"] {
        let other = Some(JoinRefusal::OtherDomain { domain: domain.to_owned() });
        assert_eq!(refusal(&json!({ "domain": domain }), |_| (), 0), other);
    }
}
