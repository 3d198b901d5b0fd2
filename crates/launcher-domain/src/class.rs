//! Classes: the templates of a course and the people who use them, with a role each. This module decides what a role may
//! do. Everything of a class is hidden from people without a role in it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::Offset;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::access::{Caller, Scope, Verdict};
use crate::class_policy::{ImagePatterns, SizeNames};
use crate::email::EmailAddress;
use crate::template::codecs::{Description, Name, integer_codec};
use crate::template::field::{Audience, Codec, Errors, FieldError, JsonObject, json_object, text};
use crate::template::listing::{MAX_SLUG, Slug, slug_of};
use crate::template::rule::FieldRule;
use crate::text_enum::text_enum;

/// Limits of a class: at least one workshop, at most as many as a large installation has.
const WORKSHOPS: std::ops::RangeInclusive<i64> = 1..=10_000;
/// Maximum number of members of a class. A change of members reads all of them.
pub const MAX_MEMBERS: usize = 1000;
/// Weights of classes in the queue.
const WEIGHTS: std::ops::RangeInclusive<i64> = 1..=10;

text_enum! {
    /// Role of a person in a class. A later variant may do everything that an earlier one may.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum ClassRole {
        /// Launches the templates of the class.
        Student = "student",
        /// Sees the workshops of all members, and extends them.
        Assistant = "assistant",
        /// Edits templates and members, and ends workshops. A class always has a teacher.
        Teacher = "teacher",
    }
}

text_enum! {
    /// Origin of a membership. A person has one membership per origin.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum MemberSource {
        /// A teacher or an admin added the person.
        Roster = "roster",
        /// The person used a join link.
        Link = "link",
    }
}

json_object! {
    /// Editable content of a class.
    pub struct ClassContent {
        /// Name of the class, one line.
        name: String = required(Name),
        /// Name of the class in paths, unique among all classes.
        slug: String = filled(Slug, "Default: the current one; for a new class, derived from the name."),
        /// Description in Markdown.
        description: String = defaulted(Description, "".into()),
        /// Maximum number of workshops of the class at a time. null: only the limits of the launcher.
        max_workshops: Option<u32> = optional(WorkshopCount),
        /// Maximum number of workshops of one student in the class at a time. null: only the limits of the launcher.
        max_workshops_per_member: Option<u32> = optional(WorkshopCount),
        /// Weight of the class in the queue: with twice the weight, twice as many workshops of the class start at a time. The
        /// shared catalog has weight 1.
        queue_weight: u32 = defaulted(QueueWeight, 1.into()),
        /// Kubernetes namespace of its workshops, one of the launcher's setting SERVICE_CLASS_NAMESPACES. Only admins change it. A
        /// change applies to later launches without kept files. null: the namespace of all other workshops.
        namespace: Option<String> = optional_text(Namespace),
        /// First day on which students can launch its templates, in every time zone. null: from its creation.
        starts_on: Option<Date> = optional_text(Day),
        /// Last day on which students can launch its templates, in every time zone. null: without end.
        ends_on: Option<Date> = optional_text(Day),
        /// Images that its templates may use: with or without tag, or the beginning of images with a final `*`, as in
        /// quay.io/jupyter/*. Empty: all images.
        allowed_images: Vec<String> = defaulted(ImagePatterns, json!([])),
        /// Names of the sizes that its templates may have, as the setting SERVICE_SIZES names them. Empty: all resources.
        allowed_sizes: Vec<String> = defaulted(SizeNames, json!([])),
        /// True if its teachers may set the profile `baseline`, which allows root in the container.
        allows_baseline: bool = defaulted(bool, false.into()),
        /// True if the start page of its members shows the shared catalog folded.
        folds_catalog: bool = defaulted(bool, false.into()),
        /// True if students can no longer launch its templates.
        archived: bool = defaulted(bool, false.into()),
    }
}

integer_codec! {
    WorkshopCount in WORKSHOPS, WorkshopCount, 40
}

integer_codec! {
    QueueWeight in WEIGHTS, QueueWeight, 1
}

/// A namespace. The service knows which ones exist.
pub(crate) enum Namespace {}

impl Codec for Namespace {
    type Value = String;

    fn read(json: &Value, at: &str, errors: &mut Errors) -> Option<String> {
        text(json, at, errors).map(str::to_owned)
    }

    fn schema(_: Audience) -> Value {
        json!({
            "type": "string", "maxLength": 63, "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$",
            "examples": ["class-statistics"],
        })
    }
}

/// A day, as in 2026-09-30.
pub(crate) enum Day {}

impl Codec for Day {
    type Value = Date;

    fn read(json: &Value, at: &str, errors: &mut Errors) -> Option<Date> {
        let text = text(json, at, errors)?;
        // Only the form with hyphens: `Date` also reads others.
        let day = text.parse().ok().filter(|day: &Date| day.to_string() == text);
        errors.check(day.is_some(), at, FieldRule::Day);
        Some(day.unwrap_or_default())
    }

    fn schema(_: Audience) -> Value {
        json!({ "type": "string", "format": "date", "examples": ["2026-09-30"] })
    }
}

/// Reason why students cannot launch the templates of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClassClosure {
    /// Its first day is in the future.
    NotBegun,
    /// It is archived, or its last day is over.
    Over,
}

impl ClassContent {
    /// Returns why students cannot launch now; `None` if they can.
    #[must_use]
    pub fn closure(&self, now: Timestamp) -> Option<ClassClosure> {
        // A day begins first at UTC+14, and ends last at UTC-12.
        let today_first = Offset::constant(14).to_datetime(now).date();
        let today_last = Offset::constant(-12).to_datetime(now).date();
        if self.archived || self.ends_on.is_some_and(|last| today_last > last) {
            Some(ClassClosure::Over)
        } else if self.starts_on.is_some_and(|first| today_first < first) {
            Some(ClassClosure::NotBegun)
        } else {
            None
        }
    }

    /// Reads the content of a class from the body of a request or from a form. Absent fields get their defaults. The default of
    /// the slug is that of the class as it was before, or for a new class derived from the name.
    ///
    /// # Errors
    /// All errors, each with its location; never empty.
    pub fn read(body: &JsonObject, before: Option<&Self>) -> Result<Self, Vec<FieldError>> {
        let mut body = body.clone();
        if !Self::has_slug(&body) {
            let name = body.get("name").and_then(Value::as_str).unwrap_or_default();
            let slug = before
                .map_or_else(|| slug_of(name).unwrap_or_else(|| "class".to_owned()), |before| before.slug.clone());
            body.insert("slug".to_owned(), slug.into());
        }
        let mut errors = Errors::default();
        let content = <Self as Codec>::read(&body.into(), "", &mut errors);
        // A path names a class by its slug or its identifier.
        let is_identifier = content.as_ref().is_some_and(|content| Uuid::try_parse(&content.slug).is_ok());
        errors.check(!is_identifier, "/slug", FieldRule::Slug);
        let dates = content.as_ref().and_then(|content| content.starts_on.zip(content.ends_on));
        errors.check(dates.is_none_or(|(first, last)| first <= last), "/ends_on", FieldRule::DayBeforeFirst);
        errors.outcome(content)
    }

    /// True if the body names a slug.
    #[must_use]
    pub fn has_slug(body: &JsonObject) -> bool {
        body.get("slug").is_some_and(|slug| !slug.is_null())
    }

    /// Returns the errors of fields that the caller may not change so: only admins change the name in paths, the namespace and
    /// the policy, and raise or end a limit.
    #[must_use]
    pub fn change_errors(&self, caller: &Caller, before: &Self) -> Vec<FieldError> {
        let is_raised = |new: Option<u32>, old: Option<u32>| old.is_some_and(|old| new.is_none_or(|new| new > old));
        let changes = [
            ("/slug", self.slug != before.slug),
            ("/max_workshops", is_raised(self.max_workshops, before.max_workshops)),
            ("/max_workshops_per_member", is_raised(self.max_workshops_per_member, before.max_workshops_per_member)),
            ("/queue_weight", self.queue_weight > before.queue_weight),
            ("/namespace", self.namespace != before.namespace),
            ("/allowed_images", self.allowed_images != before.allowed_images),
            ("/allowed_sizes", self.allowed_sizes != before.allowed_sizes),
            ("/allows_baseline", self.allows_baseline != before.allows_baseline),
        ];
        only_admins(caller, &changes)
    }

    /// Limits the new class of a creator who is no admin, and returns the errors of fields that only admins set. The creator may
    /// narrow the policy.
    #[must_use]
    pub fn creation_errors(&mut self, caller: &Caller, max_workshops: u32) -> Vec<FieldError> {
        if !caller.is_admin() {
            self.max_workshops.get_or_insert(max_workshops);
        }
        let changes = [
            ("/max_workshops", self.max_workshops.is_some_and(|count| count > max_workshops)),
            ("/queue_weight", self.queue_weight > 1),
            ("/namespace", self.namespace.is_some()),
            ("/allows_baseline", self.allows_baseline),
        ];
        only_admins(caller, &changes)
    }

    /// Returns the slug with a suffix.
    #[must_use]
    pub fn slug_with(&self, suffix: &str) -> String {
        let most = MAX_SLUG.saturating_sub(suffix.len() + 1);
        let start: String = self.slug.chars().take(most).collect();
        format!("{}-{suffix}", start.trim_end_matches('-'))
    }

    /// Returns the JSON schema (2020-12) of the content.
    #[must_use]
    pub fn schema(audience: Audience) -> Value {
        <Self as Codec>::schema(audience)
    }
}

/// Returns an error for each change, unless the caller is an admin.
fn only_admins(caller: &Caller, changes: &[(&str, bool)]) -> Vec<FieldError> {
    let refused = changes.iter().filter(|(_, is_made)| *is_made && !caller.is_admin());
    refused.map(|(pointer, _)| FieldError::new(*pointer, FieldRule::OnlyAdmins)).collect()
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Class {
    /// Identifier that sorts by creation time (UUID version 7).
    pub class_id: Uuid,
    pub content: ClassContent,
    /// Version of the class: 1 at creation, incremented at each change of its content.
    pub version: i64,
    /// The person who created the class. Informational: it grants no rights.
    pub created_by: EmailAddress,
    pub created_at: Timestamp,
    /// Time of the last change of the content.
    pub updated_at: Timestamp,
}

/// Limits of a class for one launch in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassLimits {
    pub class_id: Uuid,
    /// Maximum number of workshops of the class at a time.
    pub max_workshops: Option<u32>,
    /// Maximum number of workshops of the owner in the class at a time.
    pub max_of_owner: Option<u32>,
    /// True if the owner must be a member at the moment of the launch.
    pub needs_member: bool,
    /// Weight of the class in the queue, at least 1.
    pub queue_weight: u32,
}

/// True for a name of a member: empty, or the name of a template.
#[must_use]
pub fn is_member_name(name: &str) -> bool {
    let mut errors = Errors::default();
    let read = Name::read(&name.into(), "", &mut errors);
    name.is_empty() || errors.outcome(read).is_ok()
}

/// Membership of a person in a class, from one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    pub membership_id: Uuid,
    pub class_id: Uuid,
    pub email: EmailAddress,
    pub source: MemberSource,
    pub role: ClassRole,
    /// Name of the person, from the roster; empty if unknown.
    pub name: String,
    /// Time of joining, or of the last return after a removal.
    pub joined_at: Timestamp,
    /// Time of the removal; `None` for a current membership.
    pub removed_at: Option<Timestamp>,
}

/// A current member of a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    pub email: EmailAddress,
    /// Name of the person, from the roster; empty if unknown.
    pub name: String,
    /// Highest role of the person's memberships.
    pub role: ClassRole,
    /// Origin of each current membership of the person.
    pub sources: Vec<MemberSource>,
    /// Time of the first current membership.
    pub joined_at: Timestamp,
}

impl Member {
    /// Returns the current members of one class by address. Omits removed memberships.
    #[must_use]
    pub fn of(memberships: Vec<Membership>) -> Vec<Self> {
        let mut members: BTreeMap<EmailAddress, Self> = BTreeMap::new();
        for Membership { email, source, role, name, joined_at, removed_at, .. } in memberships {
            if removed_at.is_some() {
                continue;
            }
            let member = members.entry(email.clone()).or_insert_with(|| Self {
                email,
                name: String::new(),
                role,
                sources: Vec::new(),
                joined_at,
            });
            member.role = member.role.max(role);
            member.joined_at = member.joined_at.min(joined_at);
            member.sources.push(source);
            if member.name.is_empty() {
                member.name = name;
            }
        }
        members.into_values().collect()
    }
}

/// An operation on a class that a person with a role in it can request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClassAction {
    /// Read the class and its templates.
    Read,
    /// Launch a template of the class, and see the own workshops in it.
    Launch,
    /// See the members and their workshops.
    Watch,
    /// Raise and lower the own hand.
    RaiseHand,
    /// Take and lower the hands of the members.
    AnswerHands,
    /// Extend workshops of the members.
    Extend,
    /// Pause and end workshops of the members.
    End,
    /// Launch a template of the class for members, who own the workshops.
    LaunchForMembers,
    /// Create, change and archive templates of the class.
    ManageTemplates,
    /// Add and remove members, and change their roles.
    ManageMembers,
    /// Send a message to all members, and remove it.
    SendMessage,
    /// Change the content of the class.
    Edit,
}

impl ClassAction {
    /// Least role that may perform the action.
    fn least_role(self) -> ClassRole {
        match self {
            Self::Read | Self::Launch | Self::RaiseHand => ClassRole::Student,
            Self::Watch | Self::AnswerHands | Self::Extend => ClassRole::Assistant,
            Self::End
            | Self::LaunchForMembers
            | Self::ManageTemplates
            | Self::ManageMembers
            | Self::SendMessage
            | Self::Edit => ClassRole::Teacher,
        }
    }
}

/// A class that a caller may see, with the caller's rights in it: the only way to the templates, members and instances of a
/// class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassAccess {
    class: Class,
    caller: Caller,
    role: Option<ClassRole>,
}

impl ClassAccess {
    /// Returns the access of a caller with this role. An admin has the rights of a teacher in each class. `None`: the class
    /// is hidden from the caller.
    #[must_use]
    pub fn new(class: Class, caller: &Caller, role: Option<ClassRole>) -> Option<Self> {
        (caller.is_admin() || role.is_some()).then(|| Self { class, caller: caller.clone(), role })
    }

    #[must_use]
    pub fn class(&self) -> &Class {
        &self.class
    }

    #[must_use]
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Role of the caller as a member; `None` for an admin who is no member.
    #[must_use]
    pub fn role(&self) -> Option<ClassRole> {
        self.role
    }

    /// Limits of the caller's launches in the class. Only students have a limit of their own.
    #[must_use]
    pub fn limits(&self) -> ClassLimits {
        let is_student = !self.allows(ClassAction::Watch);
        let limits = self.limits_of_student();
        let max_of_owner = limits.max_of_owner.filter(|_| is_student);
        ClassLimits { max_of_owner, needs_member: !self.caller.is_admin(), ..limits }
    }

    /// Limits of the launches of a student in the class.
    #[must_use]
    pub fn limits_of_student(&self) -> ClassLimits {
        let Class { class_id, content, .. } = &self.class;
        ClassLimits {
            class_id: *class_id,
            max_workshops: content.max_workshops,
            max_of_owner: content.max_workshops_per_member,
            needs_member: true,
            queue_weight: content.queue_weight,
        }
    }

    /// Decides whether the caller may perform an action. A member knows the class, so nothing is hidden.
    #[must_use]
    pub fn decide(&self, action: ClassAction) -> Verdict {
        let is_granted = match action {
            // Only those who get help ask for it.
            ClassAction::RaiseHand => self.role == Some(ClassRole::Student),
            _ => self.caller.is_admin() || self.role >= Some(action.least_role()),
        };
        if is_granted { Verdict::Granted } else { Verdict::Forbidden }
    }

    /// Returns the action that lowers the hand of this person: students lower their own.
    #[must_use]
    pub fn lowering_of(&self, email: &EmailAddress) -> ClassAction {
        let is_own = self.caller.email() == email && self.allows(ClassAction::RaiseHand);
        if is_own { ClassAction::RaiseHand } else { ClassAction::AnswerHands }
    }

    /// True if the caller may perform an action.
    #[must_use]
    pub fn allows(&self, action: ClassAction) -> bool {
        self.decide(action) == Verdict::Granted
    }

    /// Returns why the caller cannot launch templates of the class now. Teachers always can.
    #[must_use]
    pub fn closure(&self, now: Timestamp) -> Option<ClassClosure> {
        self.class.content.closure(now).filter(|_| !self.allows(ClassAction::ManageTemplates))
    }

    /// True if the caller may launch a template of the class now, which is `active` or not.
    #[must_use]
    pub fn launches(&self, active: bool, now: Timestamp) -> bool {
        self.allows(ClassAction::ManageTemplates) || (active && self.closure(now).is_none())
    }

    /// Instances of the class that the caller may see: all of them with the permission to watch, else the caller's own.
    #[must_use]
    pub fn scope(&self) -> Scope<'_> {
        let owner = (!self.allows(ClassAction::Watch)).then(|| self.caller.email());
        Scope::Class { class_id: self.class.class_id, owner }
    }
}
