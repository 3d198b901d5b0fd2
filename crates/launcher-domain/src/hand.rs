//! Attention in a class: a member raises a hand, and a teacher sends a message to all members.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

use crate::email::EmailAddress;
use crate::template::field::FieldError;
use crate::template::rule::FieldRule;

/// A raised hand: a member of a class asks for help. A member has at most one in a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hand {
    pub class_id: Uuid,
    pub email: EmailAddress,
    /// Time at which the person raised the hand.
    pub raised_at: Timestamp,
    /// The person who comes to help.
    pub taken_by: Option<EmailAddress>,
    /// Time at which this person took the hand.
    pub taken_at: Option<Timestamp>,
}

impl Hand {
    /// Time after which a raised hand counts as lowered: the lesson is over.
    pub const LIFETIME: SignedDuration = SignedDuration::from_hours(12);

    /// True while the hand is raised.
    #[must_use]
    pub fn is_raised(&self, now: Timestamp) -> bool {
        now.duration_since(self.raised_at) < Self::LIFETIME
    }
}

/// The current message of a class to all members. A new message replaces it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassMessage {
    pub class_id: Uuid,
    /// Plain text: see [`ClassMessage::read`].
    pub text: String,
    /// The teacher who sent it.
    pub sent_by: EmailAddress,
    pub sent_at: Timestamp,
}

impl ClassMessage {
    /// Maximum length of the text, in characters.
    pub const MAX_TEXT: usize = 500;
    /// Time after which the message ends for all readers.
    pub const LIFETIME: SignedDuration = SignedDuration::from_hours(2);

    /// Reads the text of a message: 1 to 500 characters, on one or more lines. Removes white space at both ends, and writes
    /// each line break as `\n`.
    ///
    /// # Errors
    /// A text that is empty or too long, or has invisible characters.
    pub fn read(text: &str) -> Result<String, FieldError> {
        let text = text.replace("\r\n", "\n");
        let text = text.trim();
        let is_valid = (1..=Self::MAX_TEXT).contains(&text.chars().count())
            && !text.chars().any(|character| character.is_control() && character != '\n');
        if is_valid { Ok(text.to_owned()) } else { Err(FieldError::new("/text", FieldRule::ClassMessage)) }
    }

    /// True until the message ends.
    #[must_use]
    pub fn is_current(&self, now: Timestamp) -> bool {
        now.duration_since(self.sent_at) < Self::LIFETIME
    }
}

/// Hands, message and members of a class at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attention {
    pub class_id: Uuid,
    /// All stored hands, the oldest first.
    pub hands: Vec<Hand>,
    pub message: Option<ClassMessage>,
    /// Names of the current members by address; empty if unknown.
    pub members: BTreeMap<EmailAddress, String>,
}

impl Attention {
    /// Returns the hands that are raised, the oldest first.
    pub fn raised(&self, now: Timestamp) -> impl Iterator<Item = &Hand> {
        self.hands.iter().filter(move |hand| hand.is_raised(now))
    }

    /// Returns the raised hand of a person.
    #[must_use]
    pub fn hand_of(&self, email: &EmailAddress, now: Timestamp) -> Option<&Hand> {
        self.raised(now).find(|hand| hand.email == *email)
    }

    /// Returns the message, unless it has ended.
    #[must_use]
    pub fn current_message(&self, now: Timestamp) -> Option<&ClassMessage> {
        self.message.as_ref().filter(|message| message.is_current(now))
    }

    /// Returns the name of a person, or the address of a person without a name.
    #[must_use]
    pub fn name_of<'a>(&'a self, email: &'a EmailAddress) -> &'a str {
        self.members.get(email).map(String::as_str).filter(|name| !name.is_empty()).unwrap_or(email.as_str())
    }
}
