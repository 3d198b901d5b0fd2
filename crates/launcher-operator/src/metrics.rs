//! The operator's metrics. `docs/metrics.md` has their help texts.

use std::time::Duration;

use launcher_domain::FailureCode;
use launcher_workshop::Phase;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

/// Histogram buckets of the reconcile duration, in seconds.
const SECONDS: [f64; 11] = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0];
const OUTCOMES: [&str; 2] = ["ok", "error"];
const PHASES: [Phase; 5] = [Phase::Pending, Phase::Starting, Phase::Running, Phase::Failed, Phase::Expired];

/// Number of the Workshops of one namespace in each of [`PHASES`].
pub(crate) type WorkshopCounts = [i64; PHASES.len()];

/// Name and value of the only label of a metric.
type Label = [(&'static str, String); 1];

fn of_phase(phase: Phase) -> Label {
    [("phase", format!("{phase:?}"))]
}

fn of_outcome(outcome: &str) -> Label {
    [("outcome", outcome.to_owned())]
}

fn of_reason(reason: &str) -> Label {
    [("reason", reason.to_owned())]
}

/// Counters, gauges and histograms of the operator. Clones share their values.
#[derive(Debug, Clone)]
pub struct Metrics {
    reconciles: Family<Label, Counter>,
    seconds: Histogram,
    workshops: Family<Label, Gauge>,
    transitions: Family<Label, Counter>,
    failures: Family<Label, Counter>,
    leading: Gauge,
}

impl Default for Metrics {
    fn default() -> Self {
        let metrics = Self {
            reconciles: Family::default(),
            seconds: Histogram::new(SECONDS),
            workshops: Family::default(),
            transitions: Family::default(),
            failures: Family::default(),
            leading: Gauge::default(),
        };
        // Create all counters with the value 0. Otherwise Prometheus would not see their first increase.
        for outcome in OUTCOMES {
            drop(metrics.reconciles.get_or_create(&of_outcome(outcome)));
        }
        for phase in PHASES {
            drop(metrics.transitions.get_or_create(&of_phase(phase)));
        }
        for code in FailureCode::ALL {
            drop(metrics.failures.get_or_create(&of_reason(code.as_str())));
        }
        metrics
    }
}

impl Metrics {
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "operator_workshops",
            "Number of Workshops in each phase. The leading operator counts them every 15 seconds",
            self.workshops.clone(),
        );
        registry.register("operator_transitions", "Changes of Workshops to this phase", self.transitions.clone());
        registry.register("operator_failures", "Workshops that failed for this reason", self.failures.clone());
        registry.register("operator_reconciles", "Reconciles with this outcome: ok or error", self.reconciles.clone());
        registry.register_with_unit(
            "operator_reconcile",
            "Duration of a reconcile",
            Unit::Seconds,
            self.seconds.clone(),
        );
        registry.register(
            "operator_leading",
            "1 while this operator holds the Lease, otherwise 0",
            self.leading.clone(),
        );
    }

    pub(crate) fn record_reconcile(&self, outcome: &'static str, took: Duration) {
        self.reconciles.get_or_create(&of_outcome(outcome)).inc();
        self.seconds.observe(took.as_secs_f64());
    }

    pub(crate) fn record_transition(&self, phase: Phase, reason: Option<&str>) {
        self.transitions.get_or_create(&of_phase(phase)).inc();
        if let Some(reason) = reason {
            self.failures.get_or_create(&of_reason(reason)).inc();
        }
    }

    /// Replaces the counts of one namespace in the sums of all namespaces.
    pub(crate) fn set_workshop_counts(&self, counted: &mut WorkshopCounts, phases: impl Iterator<Item = Phase>) {
        let phases: Vec<Phase> = phases.collect();
        for (phase, counted) in PHASES.into_iter().zip(counted) {
            let count = phases.iter().filter(|one| **one == phase).count();
            let count = i64::try_from(count).unwrap_or(i64::MAX);
            self.workshops.get_or_create(&of_phase(phase)).inc_by(count - *counted);
            *counted = count;
        }
    }

    pub(crate) fn set_leading(&self, leads: bool) {
        self.leading.set(i64::from(leads));
        if !leads {
            // The next leader counts the Workshops: this operator must not report its old counts.
            self.workshops.clear();
        }
    }
}

#[cfg(test)]
#[path = "../../launcher-testkit/src/metrics.rs"]
#[expect(unreachable_pub, reason = "others use it as a part of their test kit")]
mod listed;

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::text::encode;

    use super::*;

    fn page(metrics: &Metrics) -> String {
        let (mut registry, mut page) = (Registry::default(), String::new());
        metrics.register(&mut registry);
        encode(&mut page, &registry).unwrap();
        page
    }

    #[test]
    fn former_leader_reports_no_workshop_counts() {
        let metrics = Metrics::default();
        metrics.set_leading(true);
        let mut counted = WorkshopCounts::default();
        metrics.set_workshop_counts(&mut WorkshopCounts::default(), [Phase::Failed].into_iter());
        for phases in [[Phase::Running, Phase::Failed], [Phase::Running, Phase::Expired]] {
            metrics.set_workshop_counts(&mut counted, phases.into_iter());
        }
        assert!(page(&metrics).contains("operator_workshops{phase=\"Failed\"} 1\n"));
        assert!(page(&metrics).contains("operator_workshops{phase=\"Running\"} 1\n"));
        metrics.set_leading(false);
        assert!(!page(&metrics).contains("operator_workshops{"));
    }

    #[test]
    fn exposed_operator_metrics_match_documented_metrics() {
        let metrics = Metrics::default();
        // Set the gauge, because a metric with labels is exposed only after its first use.
        metrics.set_workshop_counts(&mut WorkshopCounts::default(), [].into_iter());
        listed::assert_documented("operator", &page(&metrics));
    }
}
