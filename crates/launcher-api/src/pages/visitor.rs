//! The request for a page.

use std::borrow::Borrow;
use std::ops::Deref;

use axum::extract::FromRequestParts;
use http::request::Parts;
use launcher_domain::Caller;
use launcher_service::{InstanceFilter, StateFilter};

use crate::pages::Language;
use crate::problem::Problem;
use crate::state::{AppState, Call};

/// The request for a page, with the language of its reader.
#[derive(Debug, Clone)]
pub(crate) struct Visitor {
    call: Call,
    pub(crate) t: Language,
    /// The language that the reader chose earlier. Links to a workshop pass it on: its origin has other cookies.
    pub(crate) chosen: Option<Language>,
    /// True if htmx sent the request, and so expects only a part of the page.
    pub(crate) is_htmx: bool,
}

impl Visitor {
    /// Returns the request with another language.
    pub(crate) fn in_language(self, t: Language) -> Self {
        Self { t, ..self }
    }

    /// Returns the filter of the reader's own instances. It matters to admins, who have access to all instances.
    pub(crate) fn own(&self, state: StateFilter) -> InstanceFilter {
        InstanceFilter { state, owner_email: Some(self.caller.email().clone()), ..InstanceFilter::default() }
    }
}

impl Deref for Visitor {
    type Target = Call;

    fn deref(&self) -> &Call {
        &self.call
    }
}

impl Borrow<Caller> for Visitor {
    fn borrow(&self) -> &Caller {
        &self.caller
    }
}

impl FromRequestParts<AppState> for Visitor {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        let call = Call::from_request_parts(parts, state).await?;
        let is_htmx = parts.headers.get("hx-request").is_some_and(|value| value == "true");
        let (t, chosen) = (Language::of(&parts.headers), Language::chosen(&parts.headers));
        Ok(Self { call, t, chosen, is_htmx })
    }
}
