//! Isolation of classes: random classes, people and requests, compared with a model of what each person may see.
//!
//! Each secret has a unique text. No answer may have the text of a secret that the model hides from the caller, on any route.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use http::Method;
use launcher_service::Limits;
use launcher_testkit::{Client, EventStream, Options, Reply, TestApp, Users, eventually};
use proptest::prelude::*;
use serde_json::json;
use tokio::runtime::Runtime;

/// People of the test. The first one is the administrator.
const PEOPLE: usize = 6;
const ADMIN: usize = 0;
const ROLES: [&str; 3] = ["student", "assistant", "teacher"];

#[derive(Debug, Clone)]
enum Step {
    CreateClass {
        teacher: usize,
    },
    SetMember {
        class: usize,
        person: usize,
        role: usize,
    },
    RemoveMember {
        class: usize,
        person: usize,
    },
    AddTemplate {
        class: usize,
    },
    Launch {
        person: usize,
        template: usize,
    },
    SendMessage {
        class: usize,
    },
    RaiseHand {
        class: usize,
        person: usize,
    },
    /// Requests every route, with objects that the number chooses.
    Look {
        person: usize,
        choice: usize,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // An index stands for an element of a list, modulo its length.
    let (index, person) = (0..12_usize, 1..PEOPLE);
    let step = prop_oneof![
        1 => person.clone().prop_map(|teacher| Step::CreateClass { teacher }),
        4 => (index.clone(), person.clone(), 0..ROLES.len())
            .prop_map(|(class, person, role)| Step::SetMember { class, person, role }),
        1 => (index.clone(), person.clone()).prop_map(|(class, person)| Step::RemoveMember { class, person }),
        2 => index.clone().prop_map(|class| Step::AddTemplate { class }),
        3 => (0..PEOPLE, index.clone()).prop_map(|(person, template)| Step::Launch { person, template }),
        1 => index.clone().prop_map(|class| Step::SendMessage { class }),
        1 => (index.clone(), person).prop_map(|(class, person)| Step::RaiseHand { class, person }),
        3 => (0..PEOPLE, index).prop_map(|(person, choice)| Step::Look { person, choice }),
    ];
    proptest::collection::vec(step, 40)
}

#[derive(Debug, Default)]
struct Class {
    slug: String,
    name: String,
    /// Role and name of each current member.
    members: BTreeMap<usize, (usize, String)>,
    messages: Vec<String>,
    templates: Vec<Template>,
}

#[derive(Debug)]
struct Template {
    id: String,
    name: String,
}

#[derive(Debug)]
struct Instance {
    name: String,
    owner: usize,
    class: usize,
    template: String,
    /// True until the owner leaves the class, which ends the instance.
    is_live: bool,
}

/// An object that a path names.
struct Object {
    placeholder: &'static str,
    /// Its identifier; `None` if there is no such object yet.
    id: Option<String>,
    /// An identifier of no object.
    nothing: &'static str,
    is_visible: bool,
}

/// What one person received by event streams.
type Received = Arc<Mutex<String>>;

struct World {
    app: TestApp,
    people: Vec<Client>,
    shared: String,
    classes: Vec<Class>,
    instances: Vec<Instance>,
    secrets: usize,
    /// Secrets that each person was ever permitted to see.
    permitted: Vec<BTreeSet<String>>,
    received: Vec<Received>,
    streams: BTreeSet<(usize, usize)>,
}

fn address(person: usize) -> String {
    if person == ADMIN { launcher_testkit::ADMIN.to_owned() } else { format!("secret-person-{person}@example.org") }
}

fn collect(mut events: EventStream, received: Received) {
    tokio::spawn(async move {
        while let Some(event) = events.next().await {
            received.lock().unwrap().push_str(&event.data.to_string());
        }
    });
}

impl World {
    async fn start() -> Self {
        let limits =
            Limits { max_instances_per_user: 1000, launch_rate: 60_000, launch_burst: 1000, ..Limits::default() };
        let Users { app, admin, .. } = TestApp::start_with(Options { limits, ..Options::default() }).await;
        let people: Vec<_> = (0..PEOPLE).map(|person| admin.as_identity(Some(&address(person)))).collect();
        let received: Vec<Received> = (0..PEOPLE).map(|_| Received::default()).collect();
        for (person, received) in people.iter().zip(&received) {
            collect(person.events(None).await, Arc::clone(received));
        }
        let shared = app.template(&admin).await;
        let permitted = vec![BTreeSet::new(); PEOPLE];
        Self {
            app,
            people,
            shared,
            classes: Vec::new(),
            instances: Vec::new(),
            secrets: 0,
            permitted,
            received,
            streams: BTreeSet::new(),
        }
    }

    /// Returns the text of a new secret.
    fn secret(&mut self, kind: &str) -> String {
        self.secrets += 1;
        format!("secret-{kind}-{:03}", self.secrets)
    }

    /// Returns all secrets.
    fn secrets(&self) -> BTreeSet<String> {
        self.visible(ADMIN)
    }

    fn role(&self, person: usize, class: usize) -> Option<usize> {
        self.classes[class].members.get(&person).map(|(role, _)| *role)
    }

    fn sees_class(&self, person: usize, class: usize) -> bool {
        person == ADMIN || self.role(person, class).is_some()
    }

    fn sees_members(&self, person: usize, class: usize) -> bool {
        person == ADMIN || self.role(person, class).is_some_and(|role| role > 0)
    }

    fn sees_instance(&self, person: usize, instance: &Instance) -> bool {
        instance.owner == person || self.sees_members(person, instance.class)
    }

    /// Returns the secrets that a person may see now.
    fn visible(&self, person: usize) -> BTreeSet<String> {
        // The shared catalog names the administrator who created a template.
        let mut visible = BTreeSet::from([address(person), address(ADMIN)]);
        if person == ADMIN {
            visible.extend((0..PEOPLE).map(address));
        }
        for (index, class) in self.classes.iter().enumerate().filter(|(index, _)| self.sees_class(person, *index)) {
            visible.insert(class.name.clone());
            visible.extend(class.messages.iter().cloned());
            visible.extend(class.templates.iter().map(|template| template.name.clone()));
            for (member, (_, name)) in &class.members {
                if *member == person || self.sees_members(person, index) {
                    visible.extend([address(*member), name.clone()]);
                }
            }
        }
        for instance in self.instances.iter().filter(|instance| self.sees_instance(person, instance)) {
            visible.extend([instance.name.clone(), instance.template.clone(), address(instance.owner)]);
        }
        visible
    }

    fn hidden(&self, person: usize) -> BTreeSet<String> {
        &self.secrets() - &self.visible(person)
    }

    async fn run(&mut self, step: &Step) {
        match *step {
            Step::CreateClass { teacher } => self.create_class(teacher).await,
            Step::Look { person, choice } => self.look(person, choice).await,
            Step::Launch { person, template } => self.launch(person, template).await,
            _ if self.classes.is_empty() => {}
            Step::SetMember { class, person, role } => self.set_member(class % self.classes.len(), person, role).await,
            Step::RemoveMember { class, person } => self.remove_member(class % self.classes.len(), person).await,
            Step::AddTemplate { class } => self.add_template(class % self.classes.len()).await,
            Step::SendMessage { class } => self.send_message(class % self.classes.len()).await,
            Step::RaiseHand { class, person } => {
                let class = class % self.classes.len();
                let path = self.people[person].api(&format!("/classes/{}/hand", self.classes[class].slug));
                let reply = Reply::of(self.people[person].request(Method::PUT, &path)).await;
                let wanted = self.role(person, class).map_or(404, |role| if role == 0 { 200 } else { 403 });
                assert_eq!(reply.status, wanted);
            }
        }
        for person in 0..PEOPLE {
            let visible = self.visible(person);
            self.permitted[person].extend(visible);
        }
    }

    async fn create_class(&mut self, teacher: usize) {
        let name = self.secret("class");
        let body = json!({ "name": name, "description": name, "teachers": [address(teacher)] });
        let reply = self.people[ADMIN].post_json("/classes/", &body).await.expect(201).json();
        let slug = reply["slug"].as_str().unwrap().to_owned();
        self.classes.push(Class { slug, name, ..Class::default() });
        self.set_member(self.classes.len() - 1, teacher, 2).await;
    }

    async fn set_member(&mut self, class: usize, person: usize, role: usize) {
        let name = self.secret("name");
        let path = format!("/classes/{}/members/{}", self.classes[class].slug, address(person));
        let reply = self.people[ADMIN].put_json(&path, &json!({ "role": ROLES[role], "name": name })).await;
        if reply.status != 200 {
            assert_eq!(reply.code(), "invalid-fields", "{}", reply.text());
            return;
        }
        self.classes[class].members.insert(person, (role, name));
        if self.streams.insert((class, person)) {
            let news = self.people[person].stream(&format!("/classes/{}/news/events", self.classes[class].slug)).await;
            assert_eq!(news.status, 200);
            collect(news, Arc::clone(&self.received[person]));
        }
    }

    async fn remove_member(&mut self, class: usize, person: usize) {
        let path = format!("/classes/{}/members/{}", self.classes[class].slug, address(person));
        let reply = self.people[ADMIN].delete(&path).await;
        if self.role(person, class).is_none() {
            // A repeated removal changes nothing.
            assert!(reply.status == 404 || reply.status == 204, "{}", reply.text());
        } else if reply.status != 204 {
            assert_eq!(reply.code(), "invalid-fields", "{}", reply.text());
        } else {
            self.classes[class].members.remove(&person);
            self.streams.remove(&(class, person));
            let owned = |instance: &&mut Instance| instance.owner == person && instance.class == class;
            self.instances.iter_mut().filter(owned).for_each(|instance| instance.is_live = false);
        }
    }

    async fn add_template(&mut self, class: usize) {
        let name = self.secret("template");
        let path = format!("/classes/{}/templates/", self.classes[class].slug);
        let body = json!({ "name": name, "app_type": "notebook", "image": "example.org/image" });
        let reply = self.people[ADMIN].post_json(&path, &body).await.expect(201).json();
        let id = reply["template_id"].as_str().unwrap().to_owned();
        self.classes[class].templates.push(Template { id, name });
    }

    async fn launch(&mut self, person: usize, template: usize) {
        let all = self.classes.iter().enumerate();
        let all: Vec<_> =
            all.flat_map(|(class, one)| one.templates.iter().map(move |template| (class, template))).collect();
        let Some((class, template)) = all.get(template % all.len().max(1)) else { return };
        let path = format!("/classes/{}/templates/{}/launch", self.classes[*class].slug, template.id);
        let reply = self.people[person].post(&path).await;
        if !self.sees_class(person, *class) {
            assert_eq!(reply.status, 404, "{}", reply.text());
            return;
        }
        let name = reply.expect(201).json()["k8s_name"].as_str().unwrap().to_owned();
        let (class, template) = (*class, template.name.clone());
        self.instances.push(Instance { name, owner: person, class, template, is_live: true });
    }

    async fn send_message(&mut self, class: usize) {
        let text = self.secret("message");
        let path = format!("/classes/{}/message", self.classes[class].slug);
        self.people[ADMIN].put_json(&path, &json!({ "text": text })).await.expect(200);
        self.classes[class].messages.push(text);
    }

    /// Requests every route once as this person.
    async fn look(&self, person: usize, choice: usize) {
        for (method, route) in crate::routes() {
            let is_static =
                ["/docs", "/assets", "/openapi.json", "/problems", "/guide"].iter().any(|part| route.contains(part));
            if method == "GET" && !is_static {
                self.request(person, &route, choice).await;
            }
        }
        self.compare_lists(person).await;
    }

    /// Requests a route. `choice` selects the objects of its path.
    async fn request(&self, person: usize, route: &str, choice: usize) {
        let class = choice.checked_rem(self.classes.len());
        // Also objects of another class than the path names: they are hidden there from all.
        let other = (choice / 3).checked_rem(self.classes.len());
        let template = other.and_then(|class| Some((class, self.classes[class].templates.get(choice % 2)?)));
        let (instance, member) = (self.instances.get(choice), address(1 + choice % (PEOPLE - 1)));
        let is_of_path = |of: usize| !route.contains("{class}") || Some(of) == class;
        let sees_class = class.is_some_and(|class| self.sees_class(person, class));
        let sees_template = template.is_some_and(|(of, _)| self.sees_class(person, of) && is_of_path(of));
        let sees_instance = instance.is_some_and(|one| self.sees_instance(person, one) && is_of_path(one.class));
        let object = |placeholder, id: Option<&str>, nothing, is_visible| Object {
            placeholder,
            id: id.map(str::to_owned),
            nothing,
            is_visible,
        };
        let objects = [
            object("{class}", class.map(|class| &*self.classes[class].slug), "nothing-here", sees_class),
            object(
                "{template_id}",
                template.map(|(_, one)| &*one.id),
                "00000000-0000-4000-8000-000000000000",
                sees_template,
            ),
            object("{k8s_name}", instance.map(|one| &*one.name), "nothing-here", sees_instance),
            object("{email}", Some(&member), "nobody@example.org", true),
        ];
        let named: Vec<_> = objects.into_iter().filter(|object| route.contains(object.placeholder)).collect();
        let fill = |path: String, object: &Object| match &object.id {
            Some(id) => path.replace(object.placeholder, id),
            None => path,
        };
        let path = named.iter().fold(route.to_owned(), fill);
        let is_visible = named.iter().all(|object| object.is_visible);
        if path.contains('{') || (route.ends_with("events") && is_visible) {
            return;
        }
        let caller = &self.people[person];
        let found = caller.page(&path).await;
        let text = found.text();
        // The caller already knows what the path names.
        for secret in self.hidden(person).into_iter().filter(|secret| !path.contains(secret)) {
            assert!(!text.contains(&secret), "GET {path} shows {secret} to person {person}: {text}");
        }
        if !is_visible {
            let hide = |path: String, object: &Object| match object.is_visible {
                true => fill(path, object),
                false => path.replace(object.placeholder, object.nothing),
            };
            let nothing = named.iter().fold(route.to_owned(), hide);
            let missing = caller.page(&nothing).await;
            // A page may repeat what its path names.
            let plain = |reply: &Reply, id: fn(&Object) -> &str| {
                let text = named.iter().fold(reply.text(), |text, object| text.replace(id(object), object.placeholder));
                without_request_id(&text)
            };
            assert_eq!(found.status, missing.status, "GET {path} as person {person}");
            assert_eq!(
                plain(&found, |object| object.id.as_deref().unwrap_or_default()),
                plain(&missing, |object| if object.is_visible {
                    object.id.as_deref().unwrap_or_default()
                } else {
                    object.nothing
                }),
                "GET {path} as person {person}"
            );
        }
    }

    /// Compares the lists of the API with the model.
    async fn compare_lists(&self, person: usize) {
        let caller = &self.people[person];
        let listed = async |path: &str, field: &str| -> BTreeSet<String> {
            let reply = caller.get(path).await.expect(200).json();
            reply.as_array().unwrap().iter().map(|one| one[field].as_str().unwrap().to_owned()).collect()
        };
        let visible = |class: &usize| self.sees_class(person, *class);
        let classes: Vec<usize> = (0..self.classes.len()).filter(visible).collect();
        let slugs = classes.iter().map(|class| self.classes[*class].slug.clone()).collect();
        assert_eq!(listed("/classes/", "slug").await, slugs);
        assert_eq!(listed("/templates/", "template_id").await, BTreeSet::from([self.shared.clone()]));
        for index in classes {
            let class = &self.classes[index];
            let path = |list: &str| format!("/classes/{}/{list}/", class.slug);
            let templates = class.templates.iter().map(|template| template.id.clone()).collect();
            assert_eq!(listed(&path("templates"), "template_id").await, templates);
            let seen = self.instances.iter().filter(|one| one.class == index && one.is_live);
            let seen: BTreeSet<_> =
                seen.filter(|one| self.sees_instance(person, one)).map(|one| one.name.clone()).collect();
            let found = listed(&path("instances"), "k8s_name").await;
            assert!(found.is_superset(&seen), "person {person}, class {}: {found:?} {seen:?}", class.slug);
            if self.sees_members(person, index) {
                let members = class.members.keys().map(|member| address(*member)).collect();
                assert_eq!(listed(&path("members"), "email").await, members);
            }
        }
    }

    /// Waits for the last events, and checks what the event streams have sent.
    async fn finish(mut self) {
        for person in 0..PEOPLE {
            self.look(person, person).await;
            let name = self.app.launched(&self.people[person], &self.shared, "running").await;
            self.received(person, &name).await;
        }
        for class in 0..self.classes.len() {
            self.run(&Step::SendMessage { class }).await;
            for person in self.classes[class].members.keys() {
                self.received(*person, self.classes[class].messages.last().unwrap()).await;
            }
        }
        for (person, received) in self.received.iter().enumerate() {
            let text = received.lock().unwrap().clone();
            for secret in &self.secrets() - &self.permitted[person] {
                assert!(!text.contains(&secret), "an event shows {secret} to person {person}: {text}");
            }
        }
        self.app.finish().await;
    }

    async fn received(&self, person: usize, text: &str) {
        eventually(async || self.received[person].lock().unwrap().contains(text).then_some(())).await;
    }
}

/// Replaces the request's identifier: 24 hexadecimal digits.
fn without_request_id(text: &str) -> String {
    let parts = text.split(|c: char| !c.is_ascii_alphanumeric());
    let id = parts.into_iter().find(|part| part.len() == 24 && part.bytes().all(|byte| byte.is_ascii_hexdigit()));
    id.map_or_else(|| text.to_owned(), |id| text.replace(id, "REQUEST"))
}

#[test]
fn no_answer_shows_a_secret_of_a_class_to_others() {
    proptest!(ProptestConfig::with_cases(8), |(steps in steps())| {
        let runtime = Runtime::new().unwrap();
        runtime.block_on(async {
            let mut world = World::start().await;
            for step in &steps {
                world.run(step).await;
            }
            world.finish().await;
        });
    });
}
