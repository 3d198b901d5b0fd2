//! The people of a pasted list by the state of their workshops in a class.

use std::collections::HashMap;

use launcher_domain::EmailAddress;
use launcher_domain::InstanceState::{
    self, Failed, Queued, Running, Starting, Suspended, Suspending, Terminated, Terminating,
};

use crate::pages::roster::Roster;

/// The states of people, in the order of the page; `None`: not launched.
const SHOWN: [Option<InstanceState>; 6] =
    [None, Some(Failed), Some(Starting), Some(Running), Some(Suspended), Some(Terminating)];
/// The same states. A later one wins if a person has several workshops of the template.
const RANKED: [Option<InstanceState>; 6] =
    [None, Some(Terminating), Some(Failed), Some(Suspended), Some(Starting), Some(Running)];

/// Returns the people of the list by state. `live` has the owner and the state of each instance of the class that is not
/// terminated.
pub(super) fn by_standing<'r>(
    roster: &'r Roster,
    live: &[(EmailAddress, InstanceState)],
) -> Vec<(Option<InstanceState>, Vec<&'r EmailAddress>)> {
    let mut best: HashMap<&EmailAddress, usize> = HashMap::new();
    for (owner, state) in live {
        let rank = RANKED.iter().position(|ranked| *ranked == shown(*state)).unwrap_or_default();
        best.entry(owner).and_modify(|best| *best = rank.max(*best)).or_insert(rank);
    }
    let standing = |email: &EmailAddress| best.get(email).and_then(|rank| RANKED[*rank]);
    let emails = || roster.people.iter().map(|person| &person.email);
    SHOWN.map(|wanted| (wanted, emails().filter(|email| standing(email) == wanted).collect())).into()
}

/// Returns the state whose name and colour the page uses for a workshop.
fn shown(state: InstanceState) -> Option<InstanceState> {
    match state {
        Queued | Starting => Some(Starting),
        Suspending | Suspended => Some(Suspended),
        Running | Failed | Terminating => Some(state),
        Terminated => None,
    }
}
