//! Actions of the simulated users, and faults. The seed of the run determines both.

use std::time::Duration;

use launcher_domain::InstanceState;
use serde_json::json;
use uuid::Uuid;

use crate::objects::{Objects, text};
use crate::processes::Replica;
use crate::users::{LaunchAttempt, USERS, body};
use crate::world::{LAUNCHERS, OPERATORS, World};

impl World {
    /// Performs one random action.
    pub(crate) async fn act(&mut self) {
        match self.rng.below(100) {
            0..28 => self.somebody_launches().await,
            28..34 => self.somebody_repeats(),
            34..42 => self.somebody_extends(),
            42..54 => self.somebody_ends(),
            54..57 => self.admin_edits(),
            57..65 => self.kill_a_launcher(),
            65..71 => self.start_a_launcher().await,
            71..74 => self.pause_a_launcher().await,
            74..80 => self.kill_an_operator(),
            80..86 => self.start_an_operator().await,
            86..89 => self.pause_an_operator(),
            89..92 => self.set_clock_wrong(),
            92..97 => self.by_hand(),
            97..98 => self.compact_history(),
            _ => self.change_fault_rate(),
        }
    }

    pub(crate) async fn somebody_launches(&mut self) {
        let person = *self.rng.pick(&USERS).unwrap();
        let template = *self.rng.pick(&self.templates).unwrap();
        let key = self.rng.happens(600).then(|| format!("key-{}", self.rng.draw()));
        let attempt = {
            let mut book = self.users.book();
            book.attempts.push(LaunchAttempt { person, template, key, told: None, unanswered: 0 });
            book.attempts.len() - 1
        };
        let twice = self.rng.happens(200) && self.users.book().attempts[attempt].key.is_some();
        for _ in 0..=usize::from(twice) {
            let users = self.users.clone();
            self.with_a_launcher(|launcher| users.launch(launcher, attempt));
            self.settle().await;
        }
    }

    fn somebody_repeats(&mut self) {
        let keyed: Vec<usize> = {
            let book = self.users.book();
            book.attempts
                .iter()
                .enumerate()
                .filter(|(_, attempt)| attempt.key.is_some())
                .map(|(place, _)| place)
                .collect()
        };
        let Some(attempt) = self.rng.pick(&keyed).copied() else { return };
        let users = self.users.clone();
        self.with_a_launcher(|launcher| users.launch(launcher, attempt));
    }

    fn somebody_extends(&mut self) {
        let Some((name, owner)) = self.somebodys(&[InstanceState::Running]) else { return };
        let person = if self.rng.happens(200) { "admin" } else { owner };
        let users = self.users.clone();
        self.with_a_launcher(|launcher| users.extend(launcher, person, &name));
    }

    fn somebody_ends(&mut self) {
        use InstanceState::{Failed, Queued, Running, Starting, Terminating};
        let Some((name, owner)) = self.somebodys(&[Queued, Starting, Running, Failed, Terminating]) else { return };
        if self.rows.all[&name].template_id == self.class_template && self.rng.happens(400) {
            let (users, template) = (self.users.clone(), self.class_template);
            return self.with_a_launcher(|launcher| users.end_as_teacher(launcher, template, &name));
        }
        let person = if self.rng.happens(250) { "admin" } else { owner };
        let users = self.users.clone();
        self.with_a_launcher(|launcher| users.end(launcher, person, &name));
    }

    /// Restarts an outdated workshop, sometimes. A leader of another version makes all running workshops outdated, which
    /// is rare and does not last long.
    pub(crate) fn admin_restarts(&mut self) {
        let outdated: Vec<String> =
            self.rows.all.values().filter(|row| row.outdated).map(|row| row.k8s_name.clone()).collect();
        if !self.rng.happens(100) {
            return;
        }
        let Some(name) = self.rng.pick(&outdated).cloned() else { return };
        let twice = self.rng.happens(300);
        for _ in 0..=usize::from(twice) {
            let users = self.users.clone();
            self.with_a_launcher(|launcher| users.restart(launcher, &name));
        }
    }

    /// Picks an instance in one of these states, with its owner.
    fn somebodys(&mut self, states: &[InstanceState]) -> Option<(String, &'static str)> {
        let some: Vec<_> = self.rows.all.values().filter(|row| states.contains(&row.state)).collect();
        let row = self.rng.pick(&some)?;
        let owner = USERS.into_iter().find(|person| row.owner_email.as_str().starts_with(person))?;
        Some((row.k8s_name.clone(), owner))
    }

    fn with_a_launcher(&mut self, ask: impl FnOnce(&mut Replica)) {
        let place = self.rng.below(LAUNCHERS);
        if let Some(replica) = &mut self.replicas[place] {
            ask(replica);
        }
    }

    fn admin_edits(&mut self) {
        let place = self.rng.below(self.templates.len());
        let template: Uuid = self.templates[place];
        let lifetime = u32::try_from(60 + self.rng.below(120)).unwrap();
        let edit = self.rng.happens(700).then(|| body("edited", lifetime, 300));
        let users = self.users.clone();
        self.with_a_launcher(|launcher| users.edit(launcher, template, edit));
    }

    fn kill_a_launcher(&mut self) {
        let place = self.rng.below(LAUNCHERS);
        self.kill_launcher(place);
    }

    fn kill_launcher(&mut self, place: usize) {
        if self.replicas[place].take().is_some() {
            self.listeners.lose(place);
            self.trace.say(&format!("launcher-{place} is killed"));
        }
    }

    /// Kills all launchers at an arbitrary point. The operators keep running.
    pub(crate) async fn leave(&mut self) {
        (0..LAUNCHERS).for_each(|place| self.kill_launcher(place));
        for place in 0..OPERATORS {
            self.start_operator(place).await;
        }
    }

    async fn start_a_launcher(&mut self) {
        let place = self.rng.below(LAUNCHERS);
        self.start_launcher(place).await;
    }

    /// Pauses a launcher between its calls of the database. A paused call would keep its connection, and [`World::settle`]
    /// would wait for it forever.
    async fn pause_a_launcher(&mut self) {
        let place = self.rng.below(LAUNCHERS);
        self.settle().await;
        if let Some(replica) = &self.replicas[place] {
            self.trace.say(&format!("launcher-{place} is paused"));
            replica.process.pause.begin();
        }
    }

    fn kill_an_operator(&mut self) {
        let place = self.rng.below(OPERATORS);
        if self.operators[place].take().is_some() {
            self.trace.say(&format!("operator-{place} is killed"));
        }
    }

    async fn start_an_operator(&mut self) {
        let place = self.rng.below(OPERATORS);
        self.start_operator(place).await;
    }

    /// Replaces all operators by operators of other versions.
    pub(crate) async fn upgrade_operators(&mut self) {
        self.trace.say("the operators are upgraded");
        self.operators.fill_with(|| None);
        for place in 0..OPERATORS {
            self.start_operator(place).await;
        }
    }

    fn pause_an_operator(&mut self) {
        let place = self.rng.below(OPERATORS);
        if let Some(operator) = &self.operators[place] {
            self.trace.say(&format!("operator-{place} is paused"));
            operator.pause.begin();
        }
    }

    /// Sets the clock of one process wrong: back by some seconds, or forward by a longer time.
    fn set_clock_wrong(&mut self) {
        let millis = i64::try_from(self.rng.below(13_000)).unwrap() - 3_000;
        let place = self.rng.below(LAUNCHERS + OPERATORS);
        let launcher = self.replicas.get(place).and_then(Option::as_ref).map(|replica| &replica.process);
        let operator = place.checked_sub(LAUNCHERS).and_then(|place| self.operators[place].as_ref());
        if let Some(process) = launcher.or(operator) {
            self.trace.say(&format!("the clock of {} is wrong by {millis} ms", process.name));
            process.clock.set_wrong_by(millis);
        }
    }

    /// Deletes or changes an object of the cluster, as a person with access to the cluster could.
    fn by_hand(&mut self) {
        let kind = *self.rng.pick(&["workshops", "workshops", "pods", "pods", "services"]).unwrap();
        let objects = self.server.look().of(kind);
        let Some(object) = self.rng.pick(&objects).cloned() else { return };
        let name = text(&object, "/metadata/name").to_owned();
        let changes = kind == "workshops" && self.rng.happens(500);
        let how = if self.rng.happens(500) { "Background" } else { "Foreground" };
        self.trace.say(&format!("by hand: {kind} {name} is {}", if changes { "changed" } else { "deleted" }));
        let now = self.server.time.now();
        match kind {
            "workshops" if !changes => drop(self.deleted.insert(name.clone())),
            // The operator replaces the pod of a changed Workshop.
            "workshops" | "pods" => drop(self.cluster.disturbed.insert(name.clone())),
            _ => {}
        }
        self.server.change(|objects: &mut Objects| {
            if changes {
                let mut next = (*object).clone();
                next["spec"]["args"] = json!(["by-hand"]);
                objects.change(kind, &object, next);
            } else {
                drop(objects.delete(kind, &name, &json!({"propagationPolicy": how}), now));
            }
        });
    }

    /// Compacts the history of the API server. Watches that resume from an older version must then list again.
    fn compact_history(&mut self) {
        self.trace.say("the API server compacts its history");
        self.server.change(|objects| objects.compacted = objects.version);
    }

    fn change_fault_rate(&mut self) {
        let bad = *self.rng.pick(&[0, 20, 100, 300]).unwrap();
        self.trace.say(&format!("{bad} of 1000 requests go wrong from now on"));
        self.server.faults.set(bad);
    }

    /// Ends all faults: all programs run, and all clocks are correct.
    pub(crate) async fn stop_faults(&mut self) {
        self.trace.say("no more faults");
        self.server.faults.set(0);
        self.start_all().await;
        self.cluster.lazy = false;
        let launchers = self.replicas.iter().flatten().map(|replica| &replica.process);
        launchers.chain(self.operators.iter().flatten()).for_each(|process| process.clock.set_wrong_by(0));
    }

    pub(crate) fn begin(&mut self) {
        let bad = *self.rng.pick(&[0, 20, 100, 300]).unwrap();
        self.trace.say(&format!("{bad} of 1000 requests go wrong"));
        self.server.faults.set(bad);
    }

    pub(crate) fn how_long(&mut self) -> Duration {
        self.rng.millis(60_000, 180_000)
    }
}
