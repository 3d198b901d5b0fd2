//! Requests of the simulated users, and the answers of the launchers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

use launcher_domain::lifetime::Bound;
use launcher_domain::{AdminList, Caller, EmailAddress, JsonObject};
use launcher_service::{Catalog, LaunchRequest, ServiceError, TemplateUpdate};
use uuid::Uuid;

use crate::processes::Replica;
use crate::trace::Trace;

/// Names of all people.
pub(crate) const USERS: [&str; 4] = ["alice", "bob", "carol", "admin"];

/// Teacher of the class.
pub(crate) const TEACHER: &str = "alice";
/// Maximum number of workshops of the class.
pub(crate) const CLASS_LIMIT: u32 = 3;

pub(crate) fn caller(name: &str) -> Caller {
    let email = EmailAddress::parse(&format!("{name}@example.org")).unwrap();
    AdminList::parse("admin@example.org").unwrap().caller(email)
}

pub(crate) fn body(name: &str, lifetime: u32, longest: u32) -> JsonObject {
    let body = serde_json::json!({
        "name": name, "app_type": "custom", "image": "x", "port": 8000, "lifetime_seconds": lifetime,
        "extension_seconds": 60, "max_lifetime_seconds": longest,
        "parameters": [{ "name": "TOKEN", "label": "Token", "kind": "secret" }],
    });
    body.as_object().cloned().unwrap()
}

/// One launch of a user. With an idempotency key, the user may send the request several times, and the launch still
/// creates only one instance.
#[derive(Debug, Clone)]
pub(crate) struct LaunchAttempt {
    pub(crate) person: &'static str,
    pub(crate) template: Uuid,
    pub(crate) key: Option<String>,
    /// Name of the launched instance; `None` until an answer contained it.
    pub(crate) told: Option<String>,
    /// Number of requests with an unknown outcome: without an answer, or with an ambiguous error.
    pub(crate) unanswered: usize,
}

/// All requests and answers.
#[derive(Debug, Default)]
pub(crate) struct Book {
    pub(crate) attempts: Vec<LaunchAttempt>,
    /// Users who requested the termination of each instance.
    pub(crate) ends_asked: BTreeMap<String, BTreeSet<&'static str>>,
    /// Instances whose termination the API confirmed.
    pub(crate) ends_promised: BTreeSet<String>,
    /// Number of extensions by instance name: those that a response confirmed, and those with an unknown outcome.
    pub(crate) extended: BTreeMap<String, (usize, usize)>,
    /// Number of restarts by instance name: those that a response confirmed, and those with an unknown outcome.
    pub(crate) restarted: BTreeMap<String, (usize, usize)>,
    /// Violations found in answers: two instances for one launch, or an internal error. Must stay empty.
    pub(crate) contradictions: Vec<String>,
}

/// Value of the secret parameter of all launches.
pub(crate) const TOKEN: &str = "hunter2-unique";

/// The simulated users. Clones share one state.
#[derive(Debug, Clone)]
pub(crate) struct Users {
    book: Arc<Mutex<Book>>,
    trace: Trace,
}

impl Users {
    pub(crate) fn new(trace: &Trace) -> Self {
        Self { book: Arc::default(), trace: trace.clone() }
    }

    pub(crate) fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap()
    }

    /// Sends a launch request. The launcher answers unless it is killed before.
    pub(crate) fn launch(&self, replica: &mut Replica, attempt: usize) {
        let (launcher, users) = (replica.launcher.clone(), self.clone());
        let asked = {
            let mut book = self.book();
            book.attempts[attempt].unanswered += 1;
            book.attempts[attempt].clone()
        };
        self.trace.say(&format!("{} asks {} to launch, attempt {attempt}", asked.person, replica.process.name));
        replica.process.spawn(async move {
            let parameters = [("TOKEN".to_owned(), TOKEN.to_owned())].into_iter().collect();
            let request = LaunchRequest { idempotency_key: asked.key, parameters, ..LaunchRequest::default() };
            let who = caller(asked.person);
            let launched = async {
                let class = launcher.class_of_template(&who, asked.template).await?;
                launcher.launch(Catalog::of(&who, class.as_ref()), asked.template, &request).await
            };
            users.launched(attempt, launched.await.map(|launched| launched.listed.instance.k8s_name));
        });
    }

    fn launched(&self, attempt: usize, answer: Result<String, ServiceError>) {
        self.trace.say(&format!("attempt {attempt}: {answer:?}"));
        let mut book = self.book();
        match answer {
            Ok(name) => {
                book.attempts[attempt].unanswered -= 1;
                let told = book.attempts[attempt].told.replace(name.clone());
                if told.as_ref().is_some_and(|told| *told != name) {
                    book.contradictions.push(format!("attempt {attempt} was {told:?} and is {name} now"));
                }
            }
            Err(ServiceError::Unavailable(_)) => {}
            Err(ServiceError::Internal(error)) => {
                book.contradictions.push(format!("attempt {attempt}: internal error: {error:?}"));
            }
            Err(_) => book.attempts[attempt].unanswered -= 1,
        }
    }

    /// Lets the teacher of the class of this template end a workshop of it.
    pub(crate) fn end_as_teacher(&self, replica: &mut Replica, template: Uuid, name: &str) {
        let (launcher, users, name) = (replica.launcher.clone(), self.clone(), name.to_owned());
        self.trace.say(&format!("the teacher asks {} to end {name}", replica.process.name));
        self.book().ends_asked.entry(name.clone()).or_default().insert(TEACHER);
        replica.process.spawn(async move {
            let ended = async {
                let class = launcher.class_of_template(&caller(TEACHER), template).await?;
                launcher.end_in_class(&class.ok_or(ServiceError::NotFound)?, &name).await
            };
            match ended.await {
                Ok(_) => drop(users.book().ends_promised.insert(name)),
                Err(error) => users.refused(&name, &error),
            }
        });
    }

    pub(crate) fn end(&self, replica: &mut Replica, person: &'static str, name: &str) {
        let (launcher, users, name) = (replica.launcher.clone(), self.clone(), name.to_owned());
        self.trace.say(&format!("{person} asks {} to end {name}", replica.process.name));
        self.book().ends_asked.entry(name.clone()).or_default().insert(person);
        replica.process.spawn(async move {
            let answer = launcher.terminate(&caller(person), &name).await;
            users.trace.say(&format!("end of {name}: {:?}", answer.as_ref().map(|listed| listed.instance.state)));
            match answer {
                Ok(_) => drop(users.book().ends_promised.insert(name)),
                Err(error) => users.refused(&name, &error),
            }
        });
    }

    pub(crate) fn extend(&self, replica: &mut Replica, person: &'static str, name: &str) {
        let (launcher, users, name) = (replica.launcher.clone(), self.clone(), name.to_owned());
        self.trace.say(&format!("{person} asks {} to extend {name}", replica.process.name));
        self.book().extended.entry(name.clone()).or_default().1 += 1;
        replica.process.spawn(async move {
            let answer = launcher.extend(&caller(person), &name, None, Bound::Maximum).await;
            users.trace.say(&format!("extension of {name}: {:?}", answer.as_ref().map(|it| it.instance.expires_at)));
            let sure = !matches!(answer, Err(ServiceError::Unavailable(_)));
            if let Some(counts) = users.book().extended.get_mut(&name) {
                counts.0 += usize::from(answer.is_ok());
                counts.1 -= usize::from(sure);
            }
            if let Err(error) = answer {
                users.refused(&name, &error);
            }
        });
    }

    pub(crate) fn restart(&self, replica: &mut Replica, name: &str) {
        let (launcher, users, name) = (replica.launcher.clone(), self.clone(), name.to_owned());
        self.trace.say(&format!("admin asks {} to restart {name}", replica.process.name));
        self.book().restarted.entry(name.clone()).or_default().1 += 1;
        replica.process.spawn(async move {
            let answer = launcher.restart(&caller("admin"), &name).await;
            users.trace.say(&format!("restart of {name}: {:?}", answer.as_ref().map(|it| it.instance.restarted_at)));
            let sure = !matches!(answer, Err(ServiceError::Unavailable(_)));
            if let Some(counts) = users.book().restarted.get_mut(&name) {
                counts.0 += usize::from(answer.is_ok());
                counts.1 -= usize::from(sure);
            }
            if let Err(error) = answer {
                users.refused(&name, &error);
            }
        });
    }

    /// Changes a template, or archives it.
    pub(crate) fn edit(&self, replica: &mut Replica, template: Uuid, body: Option<JsonObject>) {
        let launcher = replica.launcher.clone();
        self.trace.say(&format!("admin edits the template {template}: {}", body.is_some()));
        replica.process.spawn(async move {
            let admin = caller("admin");
            drop(match body {
                Some(body) => {
                    let update = TemplateUpdate { body, expected_version: None };
                    launcher.update_template(&admin, template, update).await
                }
                None => launcher.archive_template(&admin, template, None).await,
            });
        });
    }

    fn refused(&self, name: &str, error: &ServiceError) {
        if let ServiceError::Internal(error) = error {
            self.book().contradictions.push(format!("{name}: internal error: {error:?}"));
        }
    }
}
