//! Join links: a person with the code of a class becomes a student of the class. This module decides whom a link admits.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use uuid::Uuid;

use crate::class::{Class, ClassClosure, MAX_MEMBERS, Membership};
use crate::clock::{Clock, Entropy};
use crate::coded_text::coded_texts;
use crate::email::EmailAddress;
use crate::names::{is_random, random_characters, uuid_v7};
use crate::template::codecs::{Seconds, integer_codec};
use crate::template::field::{Audience, Codec, Errors, FieldError, JsonObject, json_object, text};
use crate::template::rule::FieldRule;

/// Seats of a link: at most as many as a class has members.
const SEATS: std::ops::RangeInclusive<i64> = 1..=MAX_MEMBERS as i64;
/// Default for the validity of a link, in days.
pub const VALID_DAYS: u32 = 14;
/// Length of a domain name (RFC 1035, 2.3.4).
const MAX_DOMAIN: usize = 253;

json_object! {
    /// Rules of a join link.
    pub struct JoinRules {
        /// Time for which the link is valid, in seconds.
        valid_seconds: u32 = defaulted(Seconds, (VALID_DAYS * 24 * 3600).into()),
        /// Maximum number of people who join by the link. null: only the limits of the class.
        seats: Option<u32> = optional(SeatCount),
        /// Domain of the e-mail addresses of the people who may join. null: any domain.
        domain: Option<String> = optional_text(MailDomain),
        /// True if only people who are members already can use the link.
        members_only: bool = defaulted(bool, false.into()),
    }
}

integer_codec! {
    SeatCount in SEATS, SeatCount, 40
}

/// A domain of e-mail addresses, in lower case, without the `@`.
pub(crate) enum MailDomain {}

impl Codec for MailDomain {
    type Value = String;

    fn read(json: &Value, at: &str, errors: &mut Errors) -> Option<String> {
        let text = text(json, at, errors)?.trim_ascii();
        let domain = text.strip_prefix('@').unwrap_or(text).to_ascii_lowercase();
        let is_label =
            |label: &str| !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let is_domain = domain.len() <= MAX_DOMAIN && domain.split('.').all(is_label);
        errors.check(is_domain, at, FieldRule::MailDomain);
        Some(domain)
    }

    fn schema(_: Audience) -> Value {
        serde_json::json!({ "type": "string", "maxLength": MAX_DOMAIN, "examples": ["example.org"] })
    }
}

impl JoinRules {
    /// Reads the rules from the body of a request or from a form. Absent fields get their defaults.
    ///
    /// # Errors
    /// All errors, each with its location; never empty.
    pub fn read(body: &JsonObject) -> Result<Self, Vec<FieldError>> {
        let mut errors = Errors::default();
        let rules = <Self as Codec>::read(&body.clone().into(), "", &mut errors);
        errors.outcome(rules)
    }

    /// Returns the JSON schema (2020-12) of the rules.
    #[must_use]
    pub fn schema(audience: Audience) -> Value {
        <Self as Codec>::schema(audience)
    }
}

/// Returns the code that a person typed: in lower case, without spaces and dashes. `None` if no code has this shape.
#[must_use]
pub fn read_join_code(text: &str) -> Option<String> {
    let typed = text.chars().filter(|character| !character.is_whitespace() && *character != '-');
    // A code has 10 characters. A longer text is no code: the length of the result is bounded.
    let code: String = typed.take(16).flat_map(char::to_lowercase).collect();
    is_random(&code).then_some(code)
}

/// Returns a code as people read it: two groups with a dash between them.
#[must_use]
pub fn shown_join_code(code: &str) -> String {
    let (first, second) = code.split_at_checked(code.len() / 2).unwrap_or((code, ""));
    format!("{first}-{second}")
}

/// A link that makes people students of a class. A class has at most one link that is not revoked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinLink {
    pub link_id: Uuid,
    /// Code in the address of the link: 50 random bits as ten characters without look-alikes.
    pub code: String,
    pub class_id: Uuid,
    pub rules: JoinRules,
    pub created_by: EmailAddress,
    pub created_at: Timestamp,
    /// Time from which the link no longer works.
    pub expires_at: Timestamp,
    /// Number of people who joined by the link.
    pub joined: u32,
    /// Time of the revocation; `None` for the current link of the class.
    pub revoked_at: Option<Timestamp>,
}

impl JoinLink {
    /// Returns a new link of a class.
    #[must_use]
    pub fn new(
        class: &Class,
        rules: JoinRules,
        created_by: EmailAddress,
        clock: &dyn Clock,
        entropy: &dyn Entropy,
    ) -> Self {
        let (now, valid) = (clock.now(), SignedDuration::from_secs(rules.valid_seconds.into()));
        Self {
            link_id: uuid_v7(clock, entropy),
            code: random_characters(entropy),
            class_id: class.class_id,
            created_by,
            created_at: now,
            expires_at: now.saturating_add(valid).unwrap_or(Timestamp::MAX),
            rules,
            joined: 0,
            revoked_at: None,
        }
    }

    /// True if the link admits people who meet its rules.
    #[must_use]
    pub fn is_open(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && now < self.expires_at && self.rules.seats.is_none_or(|seats| self.joined < seats)
    }
}

coded_texts! {
    /// Reason why a join link does not admit a person.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum JoinRefusal as "join-refusal" {
        Removed = "removed", "You were removed from this class. Ask a teacher to add you again.";
        /// The class is archived, or its last day is over.
        Over = "over", "This class is over. Ask your teacher.";
        /// A teacher revoked the link, or replaced it.
        Revoked = "revoked", "This link is no longer valid. Ask your teacher for the new link.";
        Expired = "expired", "This link has expired. Ask your teacher for a new link.";
        Full = "full", "All places of this link are taken. Ask your teacher for a new link.";
        ClassFull = "class-full", "The class has the maximum number of members. Ask your teacher.";
        MembersOnly = "members-only", "Only members of the class may use this link. Ask your teacher to add you.";
        OtherDomain { domain } = "other-domain", "This link is for addresses of {domain}. Log in with such an address, or ask your teacher.";
    }
}

/// A join link as one person finds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invitation {
    pub link: JoinLink,
    pub class: Class,
    /// The memberships of the person in the class, also the removed ones.
    pub memberships: Vec<Membership>,
}

impl Invitation {
    /// True if the person is a member of the class.
    #[must_use]
    pub fn is_member(&self) -> bool {
        self.memberships.iter().any(|one| one.removed_at.is_none())
    }

    /// Returns why the link does not admit this person, who is no member. `None`: it does.
    #[must_use]
    pub fn refusal(&self, email: &EmailAddress, now: Timestamp) -> Option<JoinRefusal> {
        let JoinLink { rules, expires_at, joined, revoked_at, .. } = &self.link;
        let domain = email.as_str().rsplit_once('@').map_or("", |(_, domain)| domain);
        if !self.memberships.is_empty() && !self.is_member() {
            Some(JoinRefusal::Removed)
        } else if revoked_at.is_some() {
            Some(JoinRefusal::Revoked)
        } else if self.class.content.closure(now) == Some(ClassClosure::Over) {
            Some(JoinRefusal::Over)
        } else if now >= *expires_at {
            Some(JoinRefusal::Expired)
        } else if rules.members_only {
            Some(JoinRefusal::MembersOnly)
        } else if let Some(wanted) = rules.domain.as_ref().filter(|wanted| *wanted != domain) {
            Some(JoinRefusal::OtherDomain { domain: wanted.clone() })
        } else if rules.seats.is_some_and(|seats| *joined >= seats) {
            Some(JoinRefusal::Full)
        } else {
            None
        }
    }
}
