use launcher_domain::access::{Action, Verdict, decide};
use launcher_domain::{AdminList, Caller, ClassCreators, Scope};

use crate::{caller, email};

#[test]
fn each_role_and_action_gets_expected_access_decision() {
    let alice = email("alice@example.org");
    let (owner, other, admin) = (caller("alice@example.org"), caller("bob@example.org"), caller("admin@example.org"));
    use Verdict::{Forbidden, Granted, Hidden};
    for (action, of_owner, of_other, of_admin) in [
        (Action::Instance { owner: &alice }, Granted, Hidden, Granted),
        (Action::ListAllInstances, Forbidden, Forbidden, Granted),
        (Action::ReadTemplate, Granted, Granted, Granted),
        (Action::LaunchActive, Granted, Granted, Granted),
        (Action::LaunchInactive, Forbidden, Forbidden, Granted),
        (Action::ListInactiveTemplates, Forbidden, Forbidden, Granted),
        (Action::ManageTemplates, Forbidden, Forbidden, Granted),
        (Action::CreateClasses, Forbidden, Forbidden, Granted),
        (Action::ManageWorkshops, Forbidden, Forbidden, Granted),
        (Action::RestartInstances, Forbidden, Forbidden, Granted),
        (Action::ReadActivities, Forbidden, Forbidden, Granted),
    ] {
        assert_eq!(decide(&owner, action), of_owner, "owner: {action:?}");
        assert_eq!(decide(&other, action), of_other, "other: {action:?}");
        assert_eq!(decide(&admin, action), of_admin, "admin: {action:?}");
    }
}

#[test]
fn only_admins_have_scope_everyone() {
    let bob = email("bob@example.org");
    assert_eq!(caller("admin@example.org").scope(), Scope::Everyone);
    let alice = caller("alice@example.org");
    assert!(alice.scope().includes(alice.email()) && !alice.scope().includes(&bob));
}

#[test]
fn admin_list_ignores_case() {
    let list = AdminList::parse(" Admin@Example.org, second@example.org ,").unwrap();
    let is_admin = |text: &str| Caller::is_admin(&list.caller(email(text)));
    assert!(is_admin("ADMIN@example.org") && is_admin("second@example.org"));
    assert!(!is_admin("alice@example.org") && !is_admin("admin@example.org.evil.com"));
    assert!(AdminList::parse("").unwrap().is_empty());
}

#[test]
fn invalid_admin_list_entry_is_named() {
    let error = AdminList::parse("admin@example.org,admin.example.org").unwrap_err();
    assert_eq!((error.position, error.entry.as_str()), (2, "admin.example.org"));
    assert_eq!(
        error.to_string(),
        "entry 2 (\"admin.example.org\") is not an e-mail address: an e-mail address has exactly one @"
    );
}

#[test]
fn scope_everyone_includes_every_owner() {
    assert!(Scope::Everyone.includes(&email("alice@example.org")));
}

#[test]
fn length_of_admin_list_is_number_of_distinct_addresses() {
    let list = AdminList::parse("b@example.org,,a@example.org, B@EXAMPLE.org ").unwrap();
    assert_eq!((list.len(), list.is_empty()), (2, false));
    assert_eq!(list.first(), Some(&email("a@example.org")));
    let empty = AdminList::parse(" , ,").unwrap();
    assert_eq!((empty.len(), empty.is_empty(), empty.first()), (0, true, None));
}

#[test]
fn position_of_invalid_admin_list_entry_includes_empty_entries() {
    let error = AdminList::parse("admin@example.org,, oops ,also wrong").unwrap_err();
    assert_eq!((error.position, error.entry.as_str()), (3, "oops"));
}

#[test]
fn listed_people_and_domains_create_classes() {
    let creators = ClassCreators::parse("Ada@example.org, @Staff.example.org,").unwrap();
    for (who, creates) in [
        ("ada@example.org", true),
        ("bea@staff.example.org", true),
        ("bea@sub.staff.example.org", false),
        ("bea@example.org", false),
        ("staff.example.org@example.net", false),
    ] {
        let caller = creators.grant(AdminList::default().caller(email(who)));
        assert_eq!(decide(&caller, Action::CreateClasses) == Verdict::Granted, creates, "{who}");
        assert_eq!(decide(&caller, Action::ManageTemplates), Verdict::Forbidden, "{who}");
    }
    for wrong in ["ada", "@", "@exa mple.org", "@a@b"] {
        assert_eq!(ClassCreators::parse(&format!("ada@example.org,{wrong}")).unwrap_err().position, 2, "{wrong}");
    }
}
