//! The task that looks after one Workshop: starts it, waits for it, ends it, explains it.

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

/// How often the clock and the log are looked at. The clock is asked rather than slept on: it may jump, and the machine
/// may have been asleep.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How many ports an app is given, one after the other, when other programs take them.
const PORT_ATTEMPTS: u32 = 3;

/// Looks after one Workshop.
#[derive(Debug)]
pub(super) struct Supervisor {
    shop: Arc<Shop>,
    context: Arc<Context>,
    /// The leading process, while one runs.
    exit: Option<ExitWatch>,
}

/// What is left of a Workshop when its supervisor is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// Its record, or a part of it: the next start of the launcher takes it up, or clears it.
    Record,
    /// Nothing.
    Nothing,
}

impl Left {
    pub(super) fn is_gone(self) -> bool {
        self == Self::Nothing
    }
}

/// Why a Workshop does not go on.
#[derive(Debug)]
pub(super) enum End {
    Failed(FailureReason),
    Expired,
    /// Something else was wished while it started.
    Overtaken,
}

/// Why an app is not waited for any more.
#[derive(Debug)]
enum Halt {
    End(End),
    /// Another program has its port: it is to start again, on another one.
    PortTaken,
}

impl Supervisor {
    /// For a Workshop that nothing runs for, or whose process was taken over from an earlier launcher.
    pub(super) fn new(shop: Arc<Shop>, adopted: Option<ExitWatch>) -> Self {
        let context = Arc::clone(shop.context());
        Self { shop, context, exit: adopted }
    }

    /// Does what is wished until nothing more can be wished.
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

    /// Brings the app up and stays with it until it does not go on. May be dropped at any point: what was started is in
    /// the record.
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
                    tracing::warn!(workshop = self.shop.name(), "another program took the port of a Workshop");
                    attempts += 1;
                    self.end_processes().await;
                }
            }
        }
    }

    /// What the end of the leading process means: an app that finds its port taken ends, each with words of its own.
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

    /// Ends what runs, then says why: nothing of a Workshop runs once it is said to have failed or expired.
    async fn finish(&mut self, end: End) {
        let tail = log::tail(&self.context.layout.log(self.shop.name()));
        self.end_processes().await;
        let status = match end {
            End::Overtaken => return,
            End::Expired => WorkshopStatus { phase: Phase::Expired, ..WorkshopStatus::default() },
            End::Failed(reason) => WorkshopStatus::failed(reason, tail),
        };
        tracing::info!(workshop = self.shop.name(), phase = ?status.phase, reason = status.message, "a Workshop has ended");
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

    /// Ends the processes and removes the files; the record last, so that a launcher that is killed in between goes on
    /// with it.
    async fn delete(&mut self) -> Left {
        self.end_processes().await;
        let working = self.context.layout.working(self.shop.name());
        if let Err(error) = tokio::task::spawn_blocking(move || layout::remove(&working)).await.unwrap_or(Ok(())) {
            tracing::warn!(workshop = self.shop.name(), %error, "the working directory could not be removed and is left");
        }
        if self.shop.remove().await { Left::Nothing } else { Left::Record }
    }

    /// Lets nobody in any more, and ends everything that was started for this Workshop.
    async fn end_processes(&mut self) {
        self.shop.close_door();
        // Waits for a start that is under way; none begins behind it, since the wish has changed.
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

/// Waits until the app answers, says so, and stays until its time is up.
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
        tracing::info!(workshop = shop.name(), "a Workshop is ready");
    }
    time_up(shop).await;
    Halt::End(End::Expired)
}

/// Waits for the end of a Workshop's time, which each extension moves; keeps its log small meanwhile.
async fn time_up(shop: &Arc<Shop>) {
    let mut looks = interval(LOOK_EVERY);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        looks.tick().await;
        if end_of(&shop.record()).is_some_and(|end| end <= shop.context().clock.now()) {
            return;
        }
        if let Err(error) = log::cap(&shop.context().layout.log(shop.name())) {
            tracing::debug!(workshop = shop.name(), %error, "a log could not be cut");
        }
    }
}

fn end_of(record: &Record) -> Option<Timestamp> {
    record.workshop.spec.end(record.status().ready_at)
}
