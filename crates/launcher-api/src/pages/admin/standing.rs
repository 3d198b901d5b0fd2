//! The people of a pasted list by the state of their workshops in a class.

use std::collections::HashMap;

use launcher_domain::{EmailAddress, InstanceState};

use crate::pages::roster::Roster;

/// Returns the people of the list by standing, in the order of [`Standing::ALL`]. `live` has the owner and the state of
/// each instance of the class that is not terminated.
pub(super) fn by_standing<'r>(
    roster: &'r Roster,
    live: &[(EmailAddress, InstanceState)],
) -> Vec<(Standing, Vec<&'r EmailAddress>)> {
    let mut best: HashMap<&EmailAddress, Standing> = HashMap::new();
    for (owner, state) in live {
        let standing = best.entry(owner).or_insert(Standing::NotLaunched);
        *standing = Standing::of(*state).max(*standing);
    }
    let standing = |email: &EmailAddress| best.get(email).copied().unwrap_or(Standing::NotLaunched);
    let emails = || roster.people.iter().map(|person| &person.email);
    let people = |wanted| emails().filter(|email| standing(email) == wanted).collect();
    Standing::ALL.into_iter().map(|wanted| (wanted, people(wanted))).collect()
}

/// State of a person in the class. A later variant wins if the person has several workshops of the template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    NotLaunched,
    Ending,
    Failed,
    Paused,
    Starting,
    Ready,
}

impl Standing {
    /// All variants, in the order in which the page shows them.
    const ALL: [Self; 6] = [Self::NotLaunched, Self::Failed, Self::Starting, Self::Ready, Self::Paused, Self::Ending];

    fn of(state: InstanceState) -> Self {
        match state {
            InstanceState::Queued | InstanceState::Starting => Self::Starting,
            InstanceState::Running => Self::Ready,
            InstanceState::Suspending | InstanceState::Suspended => Self::Paused,
            InstanceState::Failed => Self::Failed,
            InstanceState::Terminating => Self::Ending,
            InstanceState::Terminated => Self::NotLaunched,
        }
    }

    /// Returns the instance state whose name and colour the page uses; `None` for [`Self::NotLaunched`].
    pub(super) fn state(self) -> Option<InstanceState> {
        match self {
            Self::NotLaunched => None,
            Self::Ending => Some(InstanceState::Terminating),
            Self::Paused => Some(InstanceState::Suspended),
            Self::Failed => Some(InstanceState::Failed),
            Self::Starting => Some(InstanceState::Starting),
            Self::Ready => Some(InstanceState::Running),
        }
    }
}
