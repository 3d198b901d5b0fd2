//! Use cases of join links: a teacher creates and revokes the link of a class, and a person joins the class by its code.

use jiff::SignedDuration;
use launcher_domain::join::read_join_code;
use launcher_domain::{Caller, ClassAccess, ClassAction, Invitation, JoinLink, JoinRules, JsonObject};
use launcher_store::JoinOutcome;

use crate::attempts::Attempts;
use crate::error::{ServiceError, require_in};
use crate::launcher::Launcher;

/// Codes that do not exist, which one person may try in [`WINDOW`]. A code has 50 random bits: with 1,000 links, a person finds
/// one in 30,000 years on average.
const MAX_WRONG: u32 = 20;
/// Time after which a person may try further codes.
const WINDOW: SignedDuration = SignedDuration::from_mins(10);

/// Returns the limit of wrong codes.
pub(crate) fn wrong_codes() -> Attempts {
    Attempts::new(MAX_WRONG, WINDOW)
}

impl Launcher {
    /// Returns the current join link of a class; `None` if it has none. An expired or full link is current, too.
    ///
    /// # Errors
    /// ClassRole, Unavailable.
    pub async fn join_link(&self, access: &ClassAccess) -> Result<Option<JoinLink>, ServiceError> {
        require_in(access, ClassAction::ManageMembers)?;
        Ok(self.0.store.join_link(access.class()).await?)
    }

    /// Creates the join link of a class, and revokes the former one. Body: see [`JoinRules::read`].
    ///
    /// # Errors
    /// ClassRole, Invalid, Unavailable.
    pub async fn create_join_link(&self, access: &ClassAccess, body: &JsonObject) -> Result<JoinLink, ServiceError> {
        require_in(access, ClassAction::ManageMembers)?;
        let rules = JoinRules::read(body).map_err(ServiceError::Invalid)?;
        let (class, caller) = (access.class(), access.caller());
        let link = JoinLink::new(class, rules, caller.email().clone(), &*self.0.clock, &*self.0.entropy);
        self.replace_join_link(access, Some(&link)).await?;
        Ok(link)
    }

    /// Revokes the join link of a class. Its members stay. Idempotent.
    ///
    /// # Errors
    /// ClassRole, Unavailable.
    pub async fn revoke_join_link(&self, access: &ClassAccess) -> Result<(), ServiceError> {
        require_in(access, ClassAction::ManageMembers)?;
        self.replace_join_link(access, None).await
    }

    async fn replace_join_link(&self, access: &ClassAccess, new: Option<&JoinLink>) -> Result<(), ServiceError> {
        let (class, caller) = (access.class(), access.caller());
        if !self.0.store.replace_join_link(class, new, caller, self.0.clock.now()).await? {
            return Err(ServiceError::ClassRole);
        }
        let is_new = new.is_some();
        tracing::info!(class = %class.content.slug, by = %caller.email(), is_new, "join link changed");
        Ok(())
    }

    /// Returns the link with this code as the caller finds it, also if it no longer works.
    ///
    /// # Errors
    /// UnknownJoinCode, TooManyJoinCodes, Unavailable.
    pub async fn invitation(&self, caller: &Caller, code: &str) -> Result<Invitation, ServiceError> {
        let (email, now) = (caller.email(), self.0.clock.now());
        // Each code counts until it is found, so that requests at the same time do not exceed the limit.
        let counted = self.0.wrong_codes.take(email, now);
        counted.map_err(|retry_after| ServiceError::TooManyJoinCodes { retry_after })?;
        let found = match read_join_code(code) {
            Some(code) => self.0.store.invitation(&code, email).await?,
            None => None,
        };
        let invitation = found.ok_or(ServiceError::UnknownJoinCode)?;
        self.0.wrong_codes.give_back(email);
        Ok(invitation)
    }

    /// Makes the caller a student of the class whose link has this code. A member stays as before. Returns the caller's access to
    /// the class.
    ///
    /// # Errors
    /// UnknownJoinCode, TooManyJoinCodes, JoinRefused, Unavailable.
    pub async fn join(&self, caller: &Caller, code: &str) -> Result<ClassAccess, ServiceError> {
        let invitation = self.invitation(caller, code).await?;
        let (code, now) = (invitation.link.code, self.0.clock.now());
        let class = match self.0.store.join(&code, caller, self.draw_id(), now).await? {
            JoinOutcome::Joined(class) => class,
            JoinOutcome::Refused(refusal) => return Err(ServiceError::JoinRefused(refusal)),
            JoinOutcome::Unknown => return Err(ServiceError::UnknownJoinCode),
        };
        self.0.changed.notify_one();
        tracing::info!(class = %class.content.slug, by = %caller.email(), "joined");
        self.class(caller, &class.class_id.to_string()).await
    }
}
