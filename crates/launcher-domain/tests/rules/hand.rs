//! Tests of hands and messages of a class.

use jiff::{SignedDuration, Timestamp};
use launcher_domain::{ClassMessage, EmailAddress, FieldRule, Hand};
use uuid::Uuid;

fn email() -> EmailAddress {
    EmailAddress::parse("alice@example.org").unwrap()
}

#[test]
fn message_is_plain_text_of_bounded_length() {
    let longest = "ä".repeat(500);
    for (given, expected) in
        [(" Hello \r\n", "Hello"), ("one\r\ntwo\n\nthree", "one\ntwo\n\nthree"), ("<b>", "<b>"), (&longest, &longest)]
    {
        assert_eq!(ClassMessage::read(given).as_deref(), Ok(expected));
    }
    for wrong in ["", " \n\t", &"ä".repeat(501), "a\u{0}b", "a\u{1b}[1mb", "a\rb"] {
        let error = ClassMessage::read(wrong).unwrap_err();
        assert_eq!((error.pointer.as_ref(), error.rule), ("/text", FieldRule::ClassMessage), "{wrong:?}");
    }
}

#[test]
fn message_and_hand_end_by_themselves() {
    let (sent_at, second) = (Timestamp::UNIX_EPOCH, SignedDuration::from_secs(1));
    let after = |lifetime| sent_at + lifetime;
    let message = ClassMessage { class_id: Uuid::nil(), text: "x".to_owned(), sent_by: email(), sent_at };
    assert!(message.is_current(sent_at - second) && message.is_current(after(ClassMessage::LIFETIME) - second));
    assert!(!message.is_current(after(ClassMessage::LIFETIME)));
    let hand = Hand { class_id: Uuid::nil(), email: email(), raised_at: sent_at, taken_by: None, taken_at: None };
    assert!(hand.is_raised(after(Hand::LIFETIME) - second) && !hand.is_raised(after(Hand::LIFETIME)));
}
