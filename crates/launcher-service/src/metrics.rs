//! Metrics of the service. `docs/metrics.md` has their help texts.

use launcher_domain::{Instance, InstanceState};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

/// Upper bounds of the time-to-ready buckets, in seconds.
const TIME_TO_READY: [f64; 11] = [0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 600.0];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StateLabel {
    state: &'static str,
}

/// Counters, gauges and histograms of the service.
#[derive(Debug)]
pub(crate) struct Metrics {
    instances: Family<StateLabel, Gauge>,
    transitions: Family<StateLabel, Counter>,
    pub(crate) ready: Gauge,
    pub(crate) launches: Counter,
    pub(crate) launches_refused: Counter,
    pub(crate) dispatch_failures: Counter,
    time_to_ready: Histogram,
}

impl Default for Metrics {
    fn default() -> Self {
        let transitions = Family::default();
        for state in InstanceState::ALL {
            // Create each series with the value 0. Prometheus does not count the first value of a new series as an
            // increase.
            drop(transitions.get_or_create(&StateLabel { state: state.as_str() }));
        }
        Self {
            instances: Family::default(),
            transitions,
            ready: Gauge::default(),
            launches: Counter::default(),
            launches_refused: Counter::default(),
            dispatch_failures: Counter::default(),
            time_to_ready: Histogram::new(TIME_TO_READY),
        }
    }
}

impl Metrics {
    /// Records the change of a row.
    pub(crate) fn record_change(&self, before: &Instance, after: &Instance) {
        if before.state != after.state {
            self.count_transition(after.state);
        }
        if before.started_at.is_none()
            && let (Some(from), Some(ready)) = (after.dispatched_at, after.started_at)
        {
            self.time_to_ready.observe(ready.duration_since(from).as_secs_f64().max(0.0));
        }
    }

    /// Counts a transition into a state.
    pub(crate) fn count_transition(&self, state: InstanceState) {
        self.transitions.get_or_create(&StateLabel { state: state.as_str() }).inc();
    }

    /// Clears the counts when the database cannot be read, because stale counts would look current.
    pub(crate) fn clear_states(&self) {
        self.instances.clear();
    }

    /// Sets the number of rows by state.
    pub(crate) fn set_states(&self, counts: &[(InstanceState, u64)]) {
        for (state, count) in counts {
            let gauge = self.instances.get_or_create(&StateLabel { state: state.as_str() });
            gauge.set(i64::try_from(*count).unwrap_or(i64::MAX));
        }
    }

    pub(crate) fn register(&self, registry: &mut Registry) {
        registry.register(
            "launcher_instances",
            "Number of instances in each state. The launcher counts them every 30 seconds",
            self.instances.clone(),
        );
        registry.register(
            "launcher_transitions",
            "Changes of instances to this state. Each replica counts its own changes",
            self.transitions.clone(),
        );
        registry.register(
            "launcher_ready",
            "1 if the database answered at the last check of /readyz, otherwise 0",
            self.ready.clone(),
        );
        registry.register("launcher_launches", "Launches that the launcher accepted", self.launches.clone());
        registry.register(
            "launcher_launches_refused",
            "Launches that the launcher refused because of the launch rate",
            self.launches_refused.clone(),
        );
        registry.register(
            "launcher_dispatch_failures",
            "Failed attempts to apply or delete a Workshop in the fleet. The launcher retries each attempt",
            self.dispatch_failures.clone(),
        );
        registry.register_with_unit(
            "launcher_time_to_ready",
            "Time from the end of the wait in the queue to the moment when the workshop is ready",
            Unit::Seconds,
            self.time_to_ready.clone(),
        );
    }
}
