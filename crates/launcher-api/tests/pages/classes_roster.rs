//! The roster of a class: lists of people with a preview, one member, and the export.

use http::{Method, StatusCode};
use launcher_domain::ClassRole;
use launcher_service::MemberDraft;

use crate::classes::{TEACHER, add, class};
use crate::support::{ADMIN, ALICE, Answer, App, BOB, Browser, borrowed, with};

/// Sends a file as a browser sends a form with a chosen file.
async fn upload(teacher: &Browser, path: &str, file: &[u8]) -> Answer {
    let mut body = b"--x\r\nContent-Disposition: form-data; name=\"addresses\"\r\n\r\n\r\n--x\r\nContent-Disposition: \
        form-data; name=\"file\"; filename=\"list.csv\"\r\nContent-Type: text/csv\r\n\r\n"
        .to_vec();
    body.extend(file);
    body.extend(b"\r\n--x--\r\n");
    let request = teacher.request(Method::POST, path).header("content-type", "multipart/form-data; boundary=x");
    Answer::of(request.body(body)).await
}

/// Returns the members as `email name role`, by address.
async fn members(app: &App, room: &str) -> Vec<String> {
    let access = app.test.launcher.class(&app.admin(), room.strip_prefix("/classes/").unwrap()).await.unwrap();
    let members = app.test.launcher.members(&access).await.unwrap();
    members.iter().map(|member| format!("{} {} {}", member.email, member.name, member.role.as_str())).collect()
}

/// Returns the entries of a group of the preview, as their text without elements.
fn group(page: &Answer, title: &str) -> Vec<String> {
    let Some((_, rest)) = page.body.split_once(&format!("</span>{title}</span>")) else { return Vec::new() };
    let list = rest.split("</ul>").next().unwrap();
    let text = |item: &str| {
        let pieces: Vec<&str> =
            item.split('<').skip(1).filter_map(|piece| piece.split_once('>')).map(|(_, text)| text.trim()).collect();
        pieces.into_iter().filter(|piece| !piece.is_empty()).collect::<Vec<_>>().join(" ")
    };
    list.split("<li>").skip(1).map(text).collect()
}

#[tokio::test]
async fn uploaded_table_is_previewed_and_then_written_as_shown() {
    let app = App::start().await;
    let (room, _) = class(&app).await;
    let teacher = app.browser(TEACHER);
    add(
        &teacher,
        &room,
        &format!("Alice Old <{ALICE}>\nGone Person <gone@example.org>\nStay <stay@example.org>"),
        "student",
    )
    .await;
    let before = members(&app, &room).await;
    let table = format!(
        "\u{feff}Vorname;Nachname;E-Mail-Adresse;Rollen\nAlice;New;{ALICE};Trainer/in ohne Bearbeitungsrecht\n\
         Bob;Brown;{BOB};Teilnehmer/in\n;Tina;{TEACHER};\nStay;;stay@example.org;\nNo;Address;nowhere;\n"
    );
    let preview = upload(&teacher, &format!("{room}/members"), table.as_bytes()).await;
    assert_eq!(preview.status, StatusCode::OK, "{}", preview.body);
    assert_eq!(group(&preview, "Added"), [format!("Bob Brown {BOB} Student")]);
    assert_eq!(group(&preview, "Role changes"), [format!("Alice New {ALICE} Student → Assistant")]);
    assert_eq!(group(&preview, "Name changes"), [format!("Tina {TEACHER}")], "a teacher stays a teacher");
    assert_eq!(group(&preview, "Unchanged"), ["Stay stay@example.org"]);
    assert_eq!(group(&preview, "Not an e-mail address"), ["nowhere Line 6"]);
    assert!(preview.body.contains("name=\"remove\" value=\"gone@example.org\""), "{}", preview.body);
    assert_eq!(members(&app, &room).await, before, "a preview writes nothing");

    let action = format!("{room}/members/apply");
    let form = preview.form(&action);
    assert!(form.iter().all(|(name, _)| name != "remove"), "nobody is removed unless ticked");
    assert_eq!(teacher.post(&action, &borrowed(&form)).await.location(), room);
    let kept = [
        format!("{ALICE} Alice New assistant"),
        format!("{BOB} Bob Brown student"),
        "gone@example.org Gone Person student".to_owned(),
        "stay@example.org Stay student".to_owned(),
        format!("{TEACHER} Tina teacher"),
    ];
    assert_eq!(members(&app, &room).await, kept);
    let ticked = with(&form, "remove", "gone@example.org");
    assert_eq!(teacher.post(&action, &ticked).await.location(), room, "a repeated form");
    assert_eq!(members(&app, &room).await, [&kept[..2], &kept[3..]].concat());
    app.finish().await;
}

#[tokio::test]
async fn preview_offers_to_remove_missing_members_of_the_roster_but_not_the_reader() {
    let app = App::start().await;
    let (room, _) = class(&app).await;
    let teacher = app.browser(TEACHER);
    add(&teacher, &room, "gone@example.org", "student").await;
    let access = app.test.launcher.class(&app.admin(), room.strip_prefix("/classes/").unwrap()).await.unwrap();
    let link = app.test.launcher.create_join_link(&access, &Default::default()).await.unwrap();
    assert_eq!(app.browser(ALICE).post(&format!("/join/{}", link.code), &[]).await.location(), room);

    let preview = upload(&teacher, &format!("{room}/members"), format!("Email\n{BOB}\n").as_bytes()).await;
    let offered = preview.body.split("name=\"remove\" value=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
    assert_eq!(offered.collect::<Vec<_>>(), ["gone@example.org"], "Alice is no member of the roster");
    app.finish().await;
}

#[tokio::test]
async fn teacher_who_leaves_the_class_returns_to_the_list_of_classes() {
    let app = App::start().await;
    let (room, _) = class(&app).await;
    let teacher = app.browser(TEACHER);
    add(&teacher, &room, ALICE, "teacher").await;
    let leave = format!("{room}/members/{}/remove", TEACHER.replace('@', "%40"));
    assert_eq!(teacher.post(&leave, &[]).await.location(), "/classes");
    assert_eq!(members(&app, &room).await, [format!("{ALICE}  teacher")]);
    app.finish().await;
}

#[tokio::test]
async fn unusable_list_returns_to_the_class_with_its_error() {
    let app = App::start().await;
    let (room, _) = class(&app).await;
    let (teacher, path) = (app.browser(TEACHER), format!("{room}/members"));
    for (file, error) in [
        (&b"Student,ID,SIS Login ID\nAda,1,al12\n"[..], "Student, ID, SIS Login ID"),
        (b"PK\x03\x04\x14\x00\x06\x00", "not a text"),
        (b"Email\n", "no people"),
    ] {
        let refused = upload(&teacher, &path, file).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(refused.body.contains(error), "{error}: {}", refused.body);
    }
    let large = upload(&teacher, &path, &b"a@example.org\n".repeat(40_000)).await;
    assert_eq!(large.status, StatusCode::PAYLOAD_TOO_LARGE);
    let apply = format!("{path}/apply");
    let demoted = format!("[{{\"email\":\"{TEACHER}\",\"name\":\"\",\"role\":\"student\"}}]");
    for (rows, error) in
        [(demoted.as_str(), "make another member a teacher first"), ("[{}]", "The form was not accepted")]
    {
        let refused = teacher.post(&apply, &[("rows", rows)]).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(refused.body.contains(error), "{}", refused.body);
    }
    assert_eq!(members(&app, &room).await, [format!("{TEACHER}  teacher")]);
    app.finish().await;
}

#[tokio::test]
async fn member_is_edited_on_a_page() {
    let app = App::start().await;
    let (room, _) = class(&app).await;
    let teacher = app.browser(TEACHER);
    add(&teacher, &room, ALICE, "student").await;
    let path = format!("{room}/members/{}/edit", ALICE.replace('@', "%40"));
    assert!(teacher.get(&room).await.body.contains(&path));
    let form = teacher.get(&path).await.form(&path);
    assert_eq!(form, [("name".to_owned(), String::new()), ("role".to_owned(), "student".to_owned())]);
    assert_eq!(teacher.post(&path, &[("name", "Alice"), ("role", "assistant")]).await.location(), room);
    assert_eq!(members(&app, &room).await[0], format!("{ALICE} Alice assistant"));
    let wrong = teacher.post(&path, &[("name", &"x".repeat(81)), ("role", "assistant")]).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    let stranger = format!("{room}/members/{}/edit", BOB.replace('@', "%40"));
    assert_eq!(teacher.post(&stranger, &[("role", "student")]).await.status, StatusCode::NOT_FOUND);
    app.finish().await;
}

#[tokio::test]
async fn exported_members_are_read_as_unchanged() {
    let app = App::start().await;
    let (room, _) = class(&app).await;
    let (teacher, admin) = (app.browser(TEACHER), app.browser(ADMIN));
    let access = app.test.launcher.class(&app.admin(), room.strip_prefix("/classes/").unwrap()).await.unwrap();
    let member = |email: String, name: &str| MemberDraft {
        email: email.parse().unwrap(),
        role: ClassRole::Student,
        name: name.to_owned(),
    };
    let mut drafts: Vec<_> =
        (0..990).map(|number| member(format!("p{number}@example.org"), "Ünï \"Q\" Name")).collect();
    drafts.push(member("=a@example.org".to_owned(), "=HYPERLINK(\"http://evil\")"));
    app.test.launcher.set_members(&access, drafts).await.unwrap();

    let export = teacher.get(&format!("{room}/members/export")).await;
    assert_eq!(export.header("content-type"), "text/csv");
    assert_eq!(export.header("content-disposition"), "attachment; filename=\"statistics-101-members.csv\"");
    let (header, rest) = export.body.split_once('\n').unwrap();
    assert_eq!(header, "\u{feff}email,name,role,joined,source");
    assert!(rest.starts_with("'=a@example.org,\"'=HYPERLINK(\"\"http://evil\"\")\",student,"), "{rest:.200}");
    let preview = upload(&teacher, &format!("{room}/members"), export.body.as_bytes()).await;
    assert_eq!(group(&preview, "Unchanged").len(), 992);
    assert!(preview.body.contains("adds and changes no member") && !preview.body.contains("name=\"remove\""));
    assert_eq!(admin.get(&format!("{room}/members/export")).await.status, StatusCode::OK);
    app.finish().await;
}

#[tokio::test]
async fn class_is_exported_and_imported_as_a_file() {
    let app = App::start().await;
    let (room, _) = class(&app).await;
    let (teacher, admin) = (app.browser(TEACHER), app.browser(ADMIN));
    assert!(teacher.get(&room).await.body.contains(&format!("href=\"{room}/export\"")));
    let export = teacher.get(&format!("{room}/export")).await;
    assert_eq!(export.header("content-type"), "application/yaml");
    assert_eq!(export.header("content-disposition"), "attachment; filename=\"statistics-101.yaml\"");

    let copy = upload(&admin, "/import/class", export.body.as_bytes()).await.location().to_owned();
    assert!(copy.starts_with(&format!("{room}-")), "{copy}");
    assert!(admin.get(&copy).await.body.contains("Exercise 1"));
    assert_eq!(members(&app, &copy).await, [format!("{ADMIN}  teacher")]);
    let wrong = upload(&admin, "/import/class", b"name: x\ntemplates: [{ name: y }]\nnmae: z\n").await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    for pointer in ["<li>/nmae: ", "<li>/templates/0/image: "] {
        assert!(wrong.body.contains(pointer), "{pointer}: {}", wrong.body);
    }
    assert_eq!(upload(&teacher, "/import/class", export.body.as_bytes()).await.status, StatusCode::FORBIDDEN);
    app.finish().await;
}
