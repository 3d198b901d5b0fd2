//! One simulation run with launchers, operators, a cluster and users. Time advances only when all of them wait.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

use launcher_domain::{ClassRole, Scope};
use launcher_service::{Limits, MemberDraft, NewClass};
use launcher_store::Store;
use launcher_testkit::memory_folder;
use tempfile::TempDir;
use uuid::Uuid;

use crate::cluster::Cluster;
use crate::late_extensions::LateExtensions;
use crate::listeners::Listeners;
use crate::processes::{Pause, Process, Replica, start_operator};
use crate::rows::{Facts, Rows, Violation, ensure};
use crate::seeded::{SeededEntropy, SeededRng, Time};
use crate::server::Server;
use crate::trace::Trace;
use crate::users::{CLASS_LIMIT, Users, body, caller};

pub(crate) const LIMITS: Limits = Limits {
    max_classes_per_creator: 20,
    max_workshops_per_created_class: 100,
    max_instances_per_user: 2,
    launch_rate: 2,
    launch_burst: 2,
    max_concurrent_starts: 3,
    max_queued: 4,
    max_material_checks: 0,
    start_timeout: crate::processes::START_TIMEOUT,
    history: Duration::from_secs(30 * 24 * 3600),
    volume_retention: None,
    max_storage_gib_per_user: None,
};
/// Number of launchers, when all are running.
pub(crate) const LAUNCHERS: usize = 2;
/// Number of operators, when all are running.
pub(crate) const OPERATORS: usize = 2;

thread_local! {
    /// The waiting [`World::settle`] of this thread's runtime, and the database.
    static SETTLING: RefCell<Option<(Waker, Store)>> = const { RefCell::new(None) };
}

/// Continues [`World::settle`] before the runtime would wait, unless the database is busy: it uses real threads, and the
/// runtime then waits for them.
pub(crate) fn wake_settled() {
    SETTLING.with(|slot| {
        if let Some((waker, store)) = &*slot.borrow()
            && store.is_at_rest()
        {
            waker.wake_by_ref();
        }
    });
}

/// The run of one seed.
pub(crate) struct World {
    pub(crate) rng: SeededRng,
    pub(crate) late_extensions: LateExtensions,
    pub(crate) trace: Trace,
    pub(crate) server: Server,
    pub(crate) cluster: Cluster,
    pub(crate) store: Store,
    entropy: Arc<SeededEntropy>,
    pub(crate) replicas: Vec<Option<Replica>>,
    pub(crate) operators: Vec<Option<Process>>,
    /// Version of the operator that starts next.
    operator_version: u32,
    pub(crate) users: Users,
    pub(crate) listeners: Listeners,
    pub(crate) rows: Rows,
    /// Workshops that were deleted by hand.
    pub(crate) deleted: BTreeSet<String>,
    pub(crate) templates: Vec<Uuid>,
    /// Template of a class: alice teaches, bob is a student, and carol is no member.
    pub(crate) class_template: Uuid,
    /// Keeps a blocking task of tokio alive: while it runs, tokio does not advance the paused clock on its own.
    _blocker: std::sync::mpsc::Sender<()>,
    _directory: TempDir,
}

impl World {
    pub(crate) async fn new(seed: u64, aloud: bool) -> Self {
        let directory = memory_folder();
        let url = format!("sqlite:{}", directory.path().join("launcher.db").display());
        let store = Store::open(&url).await.unwrap();
        tokio::time::pause();
        let (blocker, blocked) = std::sync::mpsc::channel();
        tokio::task::spawn_blocking(move || blocked.recv().is_ok());
        let time = Time::begins();
        let trace = Trace::new(time, aloud);
        let server = Server::new(seed, time, trace.clone());
        let cluster = Cluster::new(seed, &server, &trace);
        let mut world = Self {
            rng: SeededRng::about(seed, "actions"),
            late_extensions: LateExtensions::new(seed),
            users: Users::new(&trace),
            trace,
            server,
            cluster,
            store,
            entropy: Arc::new(SeededEntropy::new(seed)),
            replicas: Vec::new(),
            operators: Vec::new(),
            operator_version: 1,
            listeners: Listeners::new(),
            rows: Rows::default(),
            deleted: BTreeSet::new(),
            templates: Vec::new(),
            class_template: Uuid::nil(),
            _blocker: blocker,
            _directory: directory,
        };
        world.replicas.resize_with(LAUNCHERS, || None);
        world.operators.resize_with(OPERATORS, || None);
        world.start_all().await;
        world.make_templates().await;
        world
    }

    async fn make_templates(&mut self) {
        let launcher = self.replicas[0].as_ref().unwrap().launcher.clone();
        for (name, lifetime, longest) in [("short", 60, 180), ("middle", 90, 120), ("long", 7200, 28_800)] {
            let body = body(name, lifetime, longest);
            let template = launcher.create_template(&caller("admin"), &body).await.unwrap();
            self.templates.push(template.template_id);
        }
        let content = serde_json::json!({ "name": "class", "max_workshops": CLASS_LIMIT });
        let [alice, bob] = ["alice", "bob"].map(|name| caller(name).email().clone());
        let new = NewClass { body: content.as_object().cloned().unwrap(), teachers: vec![alice] };
        let class = launcher.create_class(&caller("admin"), &new).await.unwrap();
        let student = MemberDraft { email: bob, role: ClassRole::Student, name: String::new() };
        launcher.set_members(&class, vec![student]).await.unwrap();
        let template = launcher.create_template(&class, &body("exercise", 60, 180)).await.unwrap();
        self.class_template = template.template_id;
        self.templates.push(template.template_id);
    }

    /// Starts every stopped program, and resumes every paused one.
    pub(crate) async fn start_all(&mut self) {
        for place in 0..LAUNCHERS {
            self.start_launcher(place).await;
        }
        for place in 0..OPERATORS {
            self.start_operator(place).await;
        }
    }

    /// Starts a launcher, or resumes it.
    pub(crate) async fn start_launcher(&mut self, place: usize) {
        if let Some(replica) = &self.replicas[place] {
            let pause = replica.process.pause.clone();
            return self.wake(&pause).await;
        }
        let name = format!("launcher-{place}");
        self.trace.say(&format!("{name} starts"));
        let entropy = self.entropy.clone();
        self.replicas[place] = Some(Replica::start(name, &self.store, &self.server, entropy, LIMITS));
        self.settle().await;
    }

    /// Starts an operator, or resumes it.
    pub(crate) async fn start_operator(&mut self, place: usize) {
        if let Some(operator) = &self.operators[place] {
            let pause = operator.pause.clone();
            return self.wake(&pause).await;
        }
        let name = format!("operator-{place}");
        self.trace.say(&format!("{name} starts"));
        self.operators[place] = Some(start_operator(name, self.operator_version, &self.server, &*self.entropy));
        self.operator_version += 1;
        self.settle().await;
    }

    async fn wake(&self, pause: &Pause) {
        while pause.end() {
            self.settle().await;
        }
    }

    /// Lets all tasks proceed as far as they can without time passing. The runtime continues with this function when no
    /// other task can proceed. It then fires due timers, whose tasks proceed in the next round.
    pub(crate) async fn settle(&self) {
        for _ in 0..3 {
            let mut waits = false;
            poll_fn(|context| {
                waits = !waits;
                let settling = waits.then(|| (context.waker().clone(), self.store.clone()));
                SETTLING.with(|slot| *slot.borrow_mut() = settling);
                if waits { Poll::Pending } else { Poll::Ready(()) }
            })
            .await;
        }
    }

    /// Advances time, then checks all permanent invariants.
    pub(crate) async fn pass(&mut self, time: Duration) -> Result<(), Violation> {
        tokio::time::advance(time).await;
        self.settle().await;
        if self.cluster.work() {
            self.settle().await;
        }
        self.look().await
    }

    async fn look(&mut self) -> Result<(), Violation> {
        let changed = self.store.feed_since(Scope::Everyone, self.rows.revision, 1000).await.unwrap().listed;
        let book = self.users.book();
        ensure(book.contradictions.is_empty(), || format!("{:?}", book.contradictions))?;
        let now = self.server.time.now();
        let facts = Facts { server: &self.server, cluster: &self.cluster, book: &book, deleted: &self.deleted, now };
        let has_changed = !changed.is_empty();
        for listed in changed {
            if let Some(said) = self.rows.see(listed.instance, &facts)? {
                self.trace.say(&said);
            }
        }
        drop(book);
        if has_changed {
            self.rows.within(&LIMITS, self.class_template)?;
        }
        self.one_pod_each()?;
        let alive: Vec<_> = self
            .replicas
            .iter()
            .enumerate()
            .filter_map(|(place, replica)| Some((place, replica.as_ref()?.launcher.clone())))
            .collect();
        self.listeners.listen(&alive, &self.rows)?;
        let launchers = self.replicas.iter_mut().flatten().map(|replica| &mut replica.process);
        for process in launchers.chain(self.operators.iter_mut().flatten()) {
            if let Some(fault) = process.fault() {
                return Err(fault);
            }
        }
        Ok(())
    }

    /// Checks that no Workshop or workload was created twice, except after a disturbance. Each restart may create one
    /// more pod. After the end of an instance, a late call may create another Workshop with its name: the launcher
    /// deletes it, but an operator may create its pod before.
    fn one_pod_each(&self) -> Result<(), Violation> {
        let book = self.users.book();
        for (name, by_workshop) in &self.cluster.pods {
            let all: usize = by_workshop.values().sum();
            if all <= 1 {
                continue;
            }
            let has_ended = self.rows.all.get(name).is_some_and(|row| !row.state.wants_workshop());
            let most_of_one = by_workshop.values().max().copied().unwrap_or_default();
            let pods = if has_ended { most_of_one } else { all };
            let touched = self.cluster.disturbed.contains(name) || self.deleted.contains(name);
            let (promised, open) = book.restarted.get(name).copied().unwrap_or_default();
            ensure(pods <= 1 + promised + open || touched, || {
                format!("{name} had {pods} pods without a manual change, and {promised} restarts")
            })?;
        }
        Ok(())
    }
}
