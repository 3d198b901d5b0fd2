//! `/classes/{class}/`: hands of members, and the message of a teacher to all.

use axum::Json;
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use http::StatusCode;
use http::header::CACHE_CONTROL;
use jiff::Timestamp;
use launcher_domain::{Attention, ClassAccess, ClassAction, ClassMessage, Hand};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::extract::{Json as Body, MemberEmail, RequestBody};
use crate::permission::{AnswerHands, InClass, RaiseHand, ReadClass, SendMessage};
use crate::problem::{Problem, ProblemCode};
use crate::routes::Routes;
use crate::routes::events::RETRY;
use crate::state::Call;
use crate::wire::rfc3339;

pub(super) fn routes() -> Routes {
    vec![
        routes!(read_news),
        routes!(follow_news),
        routes!(raise_hand, lower_hand),
        routes!(list_hands),
        routes!(take_hand, lower_hand_of_member),
        routes!(send_message, remove_message),
    ]
}

/// Read the news of a class
///
/// The current message to all members, and the hand of the caller.
#[utoipa::path(get, path = "/classes/{class}/news", operation_id = "readClassNews", tag = "classes",
    responses((status = 200, description = "The news.", body = NewsResponse)))]
pub(crate) async fn read_news(call: InClass<ReadClass>) -> Result<Json<NewsResponse>, Problem> {
    news_for(&call, &call.access).await
}

/// Returns the news of a class for the caller.
pub(crate) async fn news_for(call: &Call, access: &ClassAccess) -> Result<Json<NewsResponse>, Problem> {
    let attention = call.launcher.attention(access).await?;
    Ok(Json(NewsResponse::new(&attention, access, call.launcher.clock().now())))
}

/// Follow the news of a class
///
/// Server-sent events: the event is `news`, and its data is a NewsResponse. The stream sends one at once, one after each
/// change, and one at least every 15 seconds. It ends when the caller is no longer a member, and when the service stops.
#[utoipa::path(get, path = "/classes/{class}/news/events", operation_id = "followClassNews", tag = "classes",
    responses((status = 200, description = "The stream.", body = String, content_type = "text/event-stream")),
    extensions(("x-problems" = json!([ProblemCode::TooManyStreams]))))]
pub(crate) async fn follow_news(call: InClass<ReadClass>) -> Result<Response, Problem> {
    follow(&call, &call.access).await
}

/// Answers with the event stream of the news of a class for the caller.
pub(crate) async fn follow(call: &Call, access: &ClassAccess) -> Result<Response, Problem> {
    let open = call.streams.open(&call.caller)?;
    // Return an error if the database is unavailable, because the stream would end at once.
    call.launcher.ready().await?;
    let (launcher, access) = (call.launcher.clone(), access.clone());
    let news = call.launcher.follow_attention(&access).map(move |attention| {
        let body = NewsResponse::new(&attention, &access, launcher.clock().now());
        let event = Event::default().event("news").json_data(body);
        event.unwrap_or_else(|_| Event::default().comment("the news could not be written"))
    });
    let first = stream::iter([Event::default().retry(RETRY)]);
    Ok(([(CACHE_CONTROL, "no-store")], Sse::new(open.until_stop(call, first.chain(news)))).into_response())
}

/// Raise the hand
///
/// Only students of the class may call it: the caller asks for help. A repeated request changes nothing. A raised hand counts as
/// lowered after 12 hours.
#[utoipa::path(put, path = "/classes/{class}/hand", operation_id = "raiseHand", tag = "classes",
    responses((status = 200, description = "The hand.", body = HandResponse)),
    extensions(("x-problems" = json!([ProblemCode::ClassRole, ProblemCode::TooManyHandChanges]))))]
pub(crate) async fn raise_hand(call: InClass<RaiseHand>) -> Result<Json<HandResponse>, Problem> {
    let hand = call.launcher.raise_hand(&call.access).await?;
    answer(&call, &call.access, &hand).await
}

/// Lower the hand
///
/// Only students of the class may call it. A repeated request changes nothing.
#[utoipa::path(delete, path = "/classes/{class}/hand", operation_id = "lowerHand", tag = "classes",
    responses((status = 204, description = "The hand is not raised.")),
    extensions(("x-problems" = json!([ProblemCode::ClassRole, ProblemCode::TooManyHandChanges]))))]
pub(crate) async fn lower_hand(call: InClass<RaiseHand>) -> Result<StatusCode, Problem> {
    call.launcher.lower_hand(&call.access, call.caller.email()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// List the raised hands of a class
///
/// Only its teachers, its assistants and admins may call it. The oldest first.
#[utoipa::path(get, path = "/classes/{class}/hands/", operation_id = "listHands", tag = "classes",
    responses((status = 200, description = "All raised hands.", body = [HandResponse])),
    extensions(("x-problems" = json!([ProblemCode::ClassRole]))))]
pub(crate) async fn list_hands(call: InClass<AnswerHands>) -> Result<Json<Vec<HandResponse>>, Problem> {
    let attention = call.launcher.attention(&call.access).await?;
    let raised = attention.raised(call.launcher.clock().now());
    Ok(Json(raised.map(|hand| HandResponse::new(hand, &attention)).collect()))
}

/// Take the hand of a member
///
/// Only teachers, assistants and admins may call it: the caller comes to help, and the member sees that. A hand that another
/// person has taken stays this person's.
#[utoipa::path(put, path = "/classes/{class}/hands/{email}", operation_id = "takeHand", tag = "classes",
    responses((status = 200, description = "The hand.", body = HandResponse)),
    extensions(("x-problems" = json!([ProblemCode::ClassRole]))))]
pub(crate) async fn take_hand(
    call: InClass<AnswerHands>,
    MemberEmail(email): MemberEmail,
) -> Result<Json<HandResponse>, Problem> {
    let hand = call.launcher.take_hand(&call.access, &email).await?;
    answer(&call, &call.access, &hand).await
}

/// Lower the hand of a member
///
/// Only teachers, assistants and admins may call it. A repeated request changes nothing.
#[utoipa::path(delete, path = "/classes/{class}/hands/{email}", operation_id = "lowerHandOfMember", tag = "classes",
    responses((status = 204, description = "The hand is not raised.")),
    extensions(("x-problems" = json!([ProblemCode::ClassRole]))))]
pub(crate) async fn lower_hand_of_member(
    call: InClass<AnswerHands>,
    MemberEmail(email): MemberEmail,
) -> Result<StatusCode, Problem> {
    call.launcher.lower_hand(&call.access, &email).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Send a message to all members of a class
///
/// Only its teachers and admins may call it. The message replaces the current one, and ends after 2 hours.
#[utoipa::path(put, path = "/classes/{class}/message", operation_id = "sendClassMessage", tag = "classes",
    request_body = MessageBody, responses((status = 200, description = "The message.", body = MessageResponse)),
    extensions(("x-problems" = json!([ProblemCode::ClassRole]))))]
pub(crate) async fn send_message(
    call: InClass<SendMessage>,
    Body(MessageBody { text }): Body<MessageBody>,
) -> Result<Json<MessageResponse>, Problem> {
    let message = call.launcher.send_message(&call.access, &text).await?;
    Ok(Json(MessageResponse::from(&message)))
}

/// Remove the message of a class
///
/// Only its teachers and admins may call it. A repeated request changes nothing.
#[utoipa::path(delete, path = "/classes/{class}/message", operation_id = "removeClassMessage", tag = "classes",
    responses((status = 204, description = "The class has no message.")),
    extensions(("x-problems" = json!([ProblemCode::ClassRole]))))]
pub(crate) async fn remove_message(call: InClass<SendMessage>) -> Result<StatusCode, Problem> {
    call.launcher.remove_message(&call.access).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn answer(call: &Call, access: &ClassAccess, hand: &Hand) -> Result<Json<HandResponse>, Problem> {
    Ok(Json(HandResponse::new(hand, &call.launcher.attention(access).await?)))
}

/// A raised hand.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HandResponse {
    /// Address of the person.
    #[schema(example = "bob@example.org")]
    email: String,
    /// Name of the person; the address if unknown.
    name: String,
    /// Time at which the person raised the hand.
    raised_at: String,
    /// Name of the person who comes to help, or the address if the name is unknown; null if nobody has taken the hand.
    taken_by: Option<String>,
    /// Time at which this person took the hand; null if nobody has.
    taken_at: Option<String>,
}

impl HandResponse {
    fn new(hand: &Hand, attention: &Attention) -> Self {
        Self {
            email: hand.email.to_string(),
            name: attention.name_of(&hand.email).to_owned(),
            raised_at: rfc3339(hand.raised_at),
            taken_by: hand.taken_by.as_ref().map(|helper| attention.name_of(helper).to_owned()),
            taken_at: hand.taken_at.map(rfc3339),
        }
    }
}

/// A message as a teacher writes it.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MessageBody {
    /// Plain text. White space at both ends is removed.
    #[schema(min_length = 1, max_length = 500, example = "Exercise 2 begins now.")]
    text: String,
}

impl RequestBody for MessageBody {}

/// The current message of a class.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MessageResponse {
    /// Plain text, on one or more lines.
    text: String,
    /// Time at which it was sent.
    sent_at: String,
}

impl From<&ClassMessage> for MessageResponse {
    fn from(message: &ClassMessage) -> Self {
        Self { text: message.text.clone(), sent_at: rfc3339(message.sent_at) }
    }
}

/// The news of a class for one person.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct NewsResponse {
    /// The current message to all members; null without one.
    message: Option<MessageResponse>,
    /// The hand of the caller; null if it is not raised.
    hand: Option<HandResponse>,
    /// True if the caller is a student, who has the button for the hand.
    may_raise: bool,
}

impl NewsResponse {
    fn new(attention: &Attention, access: &ClassAccess, now: Timestamp) -> Self {
        Self {
            message: attention.current_message(now).map(MessageResponse::from),
            hand: attention.hand_of(access.caller().email(), now).map(|hand| HandResponse::new(hand, attention)),
            may_raise: access.allows(ClassAction::RaiseHand),
        }
    }
}
