//! The supervisor task of one Workshop: starts it, waits for it, terminates it, explains its failure.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use launcher_domain::{FailureCode, FailureReason};
use launcher_workshop::{Phase, WorkshopStatus};
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::Context;
use super::exit::ExitWatch;
use super::listener::{Listener, who_listens};
use super::readiness::{Readiness, answers};
use super::shop::{Shop, Wish};
use super::state::Record;
use super::{ending, layout, log, start};

/// Polling interval of the clock and the log. The clock is polled because it may jump, and the machine may be
/// suspended.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Maximum number of ports tried when other programs take them.
const PORT_ATTEMPTS: u32 = 3;

/// Supervises one Workshop.
#[derive(Debug)]
pub(super) struct Supervisor {
    shop: Arc<Shop>,
    context: Arc<Context>,
    /// The exit of the leading process, while one runs.
    exit: Option<ExitWatch>,
}

/// The remainder of a Workshop when its supervisor ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// Its record, or a part of it: the next launcher takes it over or clears it.
    Record,
    /// Nothing remains.
    Nothing,
}

impl Left {
    pub(super) fn is_gone(self) -> bool {
        self == Self::Nothing
    }
}

/// Why a Workshop stops.
#[derive(Debug)]
pub(super) enum End {
    Failed(FailureReason),
    Expired,
    /// The desired state changed during the start.
    Overtaken,
}

/// Why the wait for an app ends.
#[derive(Debug)]
enum Halt {
    End(End),
    /// Another program has its port: it is restarted on another one.
    PortTaken,
}

impl Supervisor {
    /// Creates the supervisor of a Workshop that does not run, or whose process was adopted from an earlier launcher.
    pub(super) fn new(shop: Arc<Shop>, adopted: Option<ExitWatch>) -> Self {
        let context = Arc::clone(shop.context());
        Self { shop, context, exit: adopted }
    }

    /// Follows the desired state until it cannot change any more.
    pub(super) async fn run(mut self) -> Left {
        let mut wishes = self.shop.wishes();
        loop {
            let wish = *wishes.borrow_and_update();
            match wish {
                Wish::Delete => return self.delete().await,
                Wish::Rest => return self.rest().await,
                Wish::Run => {}
            }
            let end = tokio::select! {
                _ = wishes.changed() => continue,
                end = self.keep() => end,
            };
            self.finish(end).await;
        }
    }

    /// Starts the app and supervises it until it stops. Cancel-safe: the started process is in the record.
    async fn keep(&mut self) -> End {
        if matches!(self.shop.phase(), Phase::Failed | Phase::Expired) {
            return std::future::pending().await;
        }
        let mut attempts = 1;
        loop {
            if self.is_over() {
                return End::Expired;
            }
            if self.exit.is_none() {
                self.end_processes().await;
                match start::start(&self.shop).await {
                    Ok(watch) => self.exit = Some(watch),
                    Err(end) => return end,
                }
            }
            let halt = tokio::select! {
                ended = ended(&mut self.exit) => Err(ended),
                halt = bring_up(&self.shop) => Ok(halt),
            };
            let halt = match halt {
                Ok(halt) => halt,
                Err(ended) => self.crashed(&ended).await,
            };
            match halt {
                Halt::End(end) => return end,
                Halt::PortTaken if attempts == PORT_ATTEMPTS => return End::Failed(ports_taken()),
                Halt::PortTaken => {
                    tracing::warn!(workshop = self.shop.name(), "port taken by another program, restarting app");
                    attempts += 1;
                    self.end_processes().await;
                }
            }
        }
    }

    /// Interprets the exit of the leading process: an app whose port is taken exits, each with its own message.
    async fn crashed(&mut self, ended: &str) -> Halt {
        self.exit = None;
        let port = self.shop.record().process.filter(|_| self.shop.phase() != Phase::Running).map(|held| held.port);
        if let Some(port) = port
            && matches!(who_listens(&self.shop, port).await, Ok(Listener::Foreign))
        {
            return Halt::PortTaken;
        }
        Halt::End(End::Failed(FailureReason::new(FailureCode::Crashed, Some(ended))))
    }

    fn is_over(&self) -> bool {
        end_of(&self.shop.record()).is_some_and(|end| end <= self.context.clock.now())
    }

    /// Terminates the processes first, then sets the status: a Workshop with the status Failed or Expired has no
    /// processes.
    async fn finish(&mut self, end: End) {
        let tail = log::tail(&self.context.layout.log(self.shop.name()));
        self.end_processes().await;
        let status = match end {
            End::Overtaken => return,
            End::Expired => WorkshopStatus { phase: Phase::Expired, ..WorkshopStatus::default() },
            End::Failed(reason) => WorkshopStatus::failed(reason, tail),
        };
        tracing::info!(workshop = self.shop.name(), phase = ?status.phase, reason = status.message, "Workshop ended");
        self.shop
            .settle(move |record| {
                let ready_at = record.status().ready_at;
                record.set_status(WorkshopStatus { ready_at, ..status.clone() });
                record.process = None;
            })
            .await;
    }

    async fn rest(&mut self) -> Left {
        self.end_processes().await;
        self.shop.settle(|record| record.process = None).await;
        Left::Record
    }

    /// Terminates the processes and removes the files. The record is removed last, so that a launcher that is killed in
    /// between can resume.
    async fn delete(&mut self) -> Left {
        self.end_processes().await;
        let working = self.context.layout.working(self.shop.name());
        if let Err(error) = tokio::task::spawn_blocking(move || layout::remove(&working)).await.unwrap_or(Ok(())) {
            tracing::warn!(workshop = self.shop.name(), %error, "removing working directory failed");
        }
        if self.shop.remove().await { Left::Nothing } else { Left::Record }
    }

    /// Detaches the proxy, and terminates all processes of this Workshop.
    async fn end_processes(&mut self) {
        self.shop.close_door();
        // Waits for a start in progress. No other start can follow, because the desired state has changed.
        let leader = self.shop.settled_record().await.process.map(|started| started.leader);
        let grace = self.context.settings.stop_grace;
        ending::end(&self.context.census, &self.shop.marker(), leader.as_ref(), grace).await;
        self.shop.release_port();
        self.exit = None;
    }
}

async fn ended(exit: &mut Option<ExitWatch>) -> String {
    match exit {
        Some(exit) => exit.ended().await,
        None => std::future::pending().await,
    }
}

fn ports_taken() -> FailureReason {
    let message =
        format!("Other programs of this machine took each of the {PORT_ATTEMPTS} ports that the workshop was given.");
    let remedy = "Launch it again; if it happens again, its program may listen in a way that hides whose it is.";
    FailureReason { message, ..FailureReason::new(FailureCode::Unschedulable, None) }.with_remedy(remedy)
}

/// Waits until the app answers, sets the status, and then waits for the expiry.
async fn bring_up(shop: &Arc<Shop>) -> Halt {
    let record = shop.record();
    let Some(started) = &record.process else { return std::future::pending().await };
    if record.status().phase != Phase::Running {
        let context = shop.context();
        tokio::select! {
            readiness = answers(shop, started.port) => match readiness {
                Ok(Readiness::Ready) => {}
                Ok(Readiness::Taken) => return Halt::PortTaken,
                Err(error) => return Halt::End(start::broken("it cannot be told who listens on its port", &error)),
            },
            () = time_up(shop) => return Halt::End(End::Expired),
            () = sleep(context.settings.start_timeout) => {
                let detail = format!("It was given {} seconds.", context.settings.start_timeout.as_secs());
                return Halt::End(End::Failed(FailureReason::new(FailureCode::StartTimeout, Some(&detail))));
            }
        }
        shop.open_door(started);
        let (now, url) = (context.clock.now(), context.settings.url(shop.name()));
        shop.settle(move |record| {
            let ready_at = record.status().ready_at.or(Some(now));
            record.set_status(WorkshopStatus {
                phase: Phase::Running,
                url: Some(url.clone()),
                ready_at,
                ..WorkshopStatus::default()
            });
        })
        .await;
        tracing::info!(workshop = shop.name(), "Workshop ready");
    }
    time_up(shop).await;
    Halt::End(End::Expired)
}

/// Waits for the expiry, which each extension changes; meanwhile keeps the log small.
async fn time_up(shop: &Arc<Shop>) {
    let mut looks = interval(LOOK_EVERY);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        looks.tick().await;
        if end_of(&shop.record()).is_some_and(|end| end <= shop.context().clock.now()) {
            return;
        }
        if let Err(error) = log::cap(&shop.context().layout.log(shop.name())) {
            tracing::debug!(workshop = shop.name(), %error, "truncating log failed");
        }
    }
}

fn end_of(record: &Record) -> Option<Timestamp> {
    record.workshop.spec.end(record.status().ready_at)
}
