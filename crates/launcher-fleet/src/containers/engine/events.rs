//! Events of the containers.

use std::collections::HashMap;

use bollard::models::EventMessage;
use bollard::query_parameters::EventsOptions;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;

use super::{Engine, EngineError};
use crate::containers::names::{FLEET_LABEL, WORKSHOP_LABEL};

/// Actions that change the state of a container: Docker Engine's names, then Podman's other names.
const ACTIONS: [&str; 7] = ["start", "die", "oom", "destroy", "died", "remove", "cleanup"];

/// A container of this Workshop has started, ended, run out of memory, or disappeared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContainerEvent {
    /// Name of the Workshop.
    pub workshop: String,
}

impl Engine {
    /// Streams the events of a fleet's containers. The stream subscribes when it is polled first. It ends when the
    /// engine closes the connection, or after an error.
    pub fn events(&self, fleet_id: &str) -> BoxStream<'static, Result<ContainerEvent, EngineError>> {
        let filters = [("type", "container".to_owned()), ("label", format!("{FLEET_LABEL}={fleet_id}"))];
        let filters: HashMap<_, _> = filters.map(|(name, value)| (name.to_owned(), vec![value])).into();
        let options = EventsOptions { filters: Some(filters), ..EventsOptions::default() };
        let engine = self.clone();
        let messages = self.docker.events(Some(options));
        let events = messages.filter_map(move |message| {
            let event = match message {
                Ok(message) => event(message).map(Ok),
                Err(error) => Some(Err(engine.error(error))),
            };
            std::future::ready(event)
        });
        events.boxed()
    }
}

fn event(message: EventMessage) -> Option<ContainerEvent> {
    message.action.filter(|action| ACTIONS.contains(&action.as_str()))?;
    let workshop = message.actor?.attributes?.remove(WORKSHOP_LABEL)?;
    Some(ContainerEvent { workshop })
}
