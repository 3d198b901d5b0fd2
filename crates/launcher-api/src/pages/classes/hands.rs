//! News of a class on its page: the message to all, the hand of the reader, and for those who answer them the hands of all.

use askama::Template;
use launcher_domain::{ClassAccess, ClassAction};
use launcher_service::ServiceError;
use serde::Deserialize;

use crate::extract::MemberEmail;
use crate::pages::classes::path;
use crate::pages::classes::room::{Form, Room, refuse};
use crate::pages::view::Instant;
use crate::pages::{Fields, Language, PageResult, ReturnForm, Visitor, forms, page};
use crate::permission::{AnswerHands, InClass, RaiseHand, ReadClass, SendMessage};

#[derive(Debug)]
pub(crate) struct News {
    pub(super) path: String,
    pub(super) message: Option<Message>,
    pub(super) hand: Option<HandView>,
    /// True for a student, who has the button for the hand.
    pub(super) may_raise: bool,
    /// All hands, the oldest first; `None` if the reader does not answer them.
    pub(super) hands: Option<Vec<HandView>>,
    /// True if the reader may send and remove messages.
    pub(super) can_send: bool,
}

#[derive(Debug)]
pub(super) struct Message {
    pub(super) text: String,
    pub(super) sent: Instant,
}

#[derive(Debug)]
pub(super) struct HandView {
    pub(super) email: String,
    pub(super) name: String,
    pub(super) raised: Instant,
    /// Name or address of the person who comes to help.
    pub(super) helper: Option<String>,
}

impl News {
    pub(crate) async fn new(visitor: &Visitor, access: &ClassAccess) -> Result<Self, ServiceError> {
        let (t, now) = (visitor.t, visitor.launcher.clock().now());
        let attention = visitor.launcher.attention(access).await?;
        let view = |hand: &launcher_domain::Hand| HandView {
            email: hand.email.to_string(),
            name: attention.name_of(&hand.email).to_owned(),
            raised: Instant::new(t, hand.raised_at),
            helper: hand.taken_by.as_ref().map(|helper| attention.name_of(helper).to_owned()),
        };
        let answers = access.allows(ClassAction::AnswerHands);
        Ok(Self {
            path: path(access),
            message: attention
                .current_message(now)
                .map(|message| Message { text: message.text.clone(), sent: Instant::new(t, message.sent_at) }),
            hand: attention.hand_of(access.caller().email(), now).map(view),
            may_raise: access.allows(ClassAction::RaiseHand),
            hands: answers.then(|| attention.raised(now).map(view).collect()),
            can_send: access.allows(ClassAction::SendMessage),
        })
    }

    /// Returns a raised hand and a message for the guide.
    pub(super) fn example(visitor: &Visitor) -> Self {
        let (t, now) = (visitor.t, visitor.launcher.clock().now());
        let hand = HandView {
            email: "ada@example.org".to_owned(),
            name: t.text("guide-ada").into_owned(),
            raised: Instant::new(t, now),
            helper: None,
        };
        Self {
            path: String::new(),
            message: Some(Message { text: t.text("guide-message").into_owned(), sent: Instant::new(t, now) }),
            hand: None,
            may_raise: false,
            hands: Some(vec![hand]),
            can_send: false,
        }
    }
}

#[derive(Debug, Template)]
#[template(path = "class_news.html")]
struct NewsPage {
    t: Language,
    news: News,
}

/// `GET /classes/{class}/news`: only the news.
pub(crate) async fn news(visitor: InClass<ReadClass, Visitor>) -> PageResult {
    page(&NewsPage { t: visitor.t, news: News::new(&visitor, &visitor.access).await? })
}

pub(crate) async fn raise(visitor: InClass<RaiseHand, Visitor>, Fields(_): Fields<ReturnForm>) -> PageResult {
    visitor.launcher.raise_hand(&visitor.access).await?;
    Ok(forms::redirect(&path(&visitor.access)))
}

pub(crate) async fn lower_own(visitor: InClass<RaiseHand, Visitor>, Fields(_): Fields<ReturnForm>) -> PageResult {
    visitor.launcher.lower_hand(&visitor.access, visitor.caller.email()).await?;
    Ok(forms::redirect(&path(&visitor.access)))
}

/// `POST /classes/{class}/hands/{email}/take`: the reader comes to help. The member may have lowered the hand meanwhile.
pub(crate) async fn take(
    visitor: InClass<AnswerHands, Visitor>,
    MemberEmail(email): MemberEmail,
    Fields(_): Fields<ReturnForm>,
) -> PageResult {
    match visitor.launcher.take_hand(&visitor.access, &email).await {
        Ok(_) | Err(ServiceError::NotFound) => Ok(forms::redirect(&path(&visitor.access))),
        Err(error) => Err(error.into()),
    }
}

pub(crate) async fn lower(
    visitor: InClass<AnswerHands, Visitor>,
    MemberEmail(email): MemberEmail,
    Fields(_): Fields<ReturnForm>,
) -> PageResult {
    visitor.launcher.lower_hand(&visitor.access, &email).await?;
    Ok(forms::redirect(&path(&visitor.access)))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct MessageForm {
    text: String,
}

pub(crate) async fn send(visitor: InClass<SendMessage, Visitor>, Fields(form): Fields<MessageForm>) -> PageResult {
    match visitor.launcher.send_message(&visitor.access, &form.text).await {
        Ok(_) => Ok(forms::redirect(&path(&visitor.access))),
        Err(error) => {
            let room = Room { message: form.text, open: Some(Form::Message), ..Room::default() };
            refuse(&visitor, &visitor.access, error, room).await
        }
    }
}

pub(crate) async fn remove_message(
    visitor: InClass<SendMessage, Visitor>,
    Fields(_): Fields<ReturnForm>,
) -> PageResult {
    visitor.launcher.remove_message(&visitor.access).await?;
    Ok(forms::redirect(&path(&visitor.access)))
}
