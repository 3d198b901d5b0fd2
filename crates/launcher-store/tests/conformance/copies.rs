//! Many rows at the cost of one: a statement that copies an instance.

use sqlx::{AnyConnection, AssertSqlSafe, Connection, Executor};

/// Copies an instance `count` times, as if one other user each had launched it: each copy has its own owner, revision
/// and entry in the activity log. Returns the names of the copies, in the order of their launches.
pub(crate) async fn copy_instance(url: &str, k8s_name: &str, count: u32) -> Vec<String> {
    let numbers =
        format!("WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {count})");
    let statements = format!(
        "INSERT INTO launch_gate (owner_email, launches)
            {numbers} SELECT 'copy' || n || '@example.org', 1 FROM numbers;
        INSERT INTO workshop_instances (instance_id, k8s_name, owner_email, template_id, settings_hash, state,
                created_at, ended_at, end_reason, spec_version, applied_version, revision, queue_number)
            {numbers} SELECT substr(instance_id, 1, 24) || '0' || CAST(10000000000 + n AS TEXT), k8s_name || n,
                'copy' || n || '@example.org', template_id, settings_hash, state, created_at, ended_at,
                end_reason, spec_version, applied_version, latest.revision + n, latest.revision + n
            FROM workshop_instances AS original, numbers, change_counter AS latest WHERE k8s_name = '{k8s_name}';
        INSERT INTO activities (activity_id, at, actor_email, action, subject, subject_name, owner_email)
            {numbers} SELECT latest.revision + n, at, 'copy' || n || '@example.org', action, subject || n, subject_name,
                'copy' || n || '@example.org'
            FROM activities, numbers, change_counter AS latest WHERE subject = '{k8s_name}' AND action = 'launched';
        UPDATE change_counter SET revision = revision + {count}"
    );
    let mut connection = AnyConnection::connect(url).await.unwrap();
    connection.execute(AssertSqlSafe(statements)).await.unwrap();
    connection.close().await.unwrap();
    (1..=count).map(|number| format!("{k8s_name}{number}")).collect()
}
