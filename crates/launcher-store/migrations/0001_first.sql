-- Times are milliseconds since the epoch, identifiers are hyphenated lower-case text, JSON is text, truth is 0 or 1:
-- the same on every engine. A line that ends with the name of an engine is for this engine only: see engine.rs.
--
-- COLLATE "C", on PostgreSQL: what is ordered, compared or in an index is compared byte by byte, whatever the database's
-- language, and no index breaks when an operating system changes its rules of sorting. SQLite does so by default.

-- Classes. Only fields that a query compares have a column, computed from the JSON.
CREATE TABLE classes (
    class_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    content TEXT NOT NULL,
    version BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    -- The last change of content, members, hands or message in the one order of all changes. Event streams follow it.
    changed BIGINT NOT NULL DEFAULT 0,
    slug TEXT GENERATED ALWAYS AS (json_extract(content, '$.slug')) -- SQLite
    slug TEXT COLLATE "C" GENERATED ALWAYS AS (content::json ->> 'slug') STORED -- PostgreSQL
);

CREATE UNIQUE INDEX classes_slug ON classes (slug);
CREATE INDEX classes_changed ON classes (changed);
CREATE INDEX classes_creator ON classes (created_by);

-- Members of classes: one row for each source of a membership, so that a source changes only its own rows. A removal sets
-- removed_at.
CREATE TABLE class_members (
    membership_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    class_id TEXT COLLATE "C" NOT NULL REFERENCES classes (class_id),
    email TEXT COLLATE "C" NOT NULL,
    source TEXT COLLATE "C" NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('student', 'assistant', 'teacher')),
    name TEXT NOT NULL,
    joined_at BIGINT NOT NULL,
    removed_at BIGINT
);

CREATE UNIQUE INDEX class_members_source ON class_members (class_id, email, source);
-- The classes of a person.
CREATE INDEX class_members_person ON class_members (email, class_id) WHERE removed_at IS NULL;

-- Join links of classes.
CREATE TABLE class_links (
    link_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    code TEXT COLLATE "C" NOT NULL,
    class_id TEXT COLLATE "C" NOT NULL REFERENCES classes (class_id),
    rules TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    joined BIGINT NOT NULL,
    revoked_at BIGINT
);

CREATE UNIQUE INDEX class_links_code ON class_links (code);
-- A class has one current link.
CREATE UNIQUE INDEX class_links_current ON class_links (class_id) WHERE revoked_at IS NULL;

-- Raised hands. Lowering a hand removes its row.
CREATE TABLE class_hands (
    class_id TEXT COLLATE "C" NOT NULL REFERENCES classes (class_id),
    email TEXT COLLATE "C" NOT NULL,
    raised_at BIGINT NOT NULL,
    taken_by TEXT,
    taken_at BIGINT,
    PRIMARY KEY (class_id, email)
);

CREATE INDEX class_hands_raised ON class_hands (raised_at);

-- The current message of each class to its members.
CREATE TABLE class_messages (
    class_id TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES classes (class_id),
    text TEXT NOT NULL,
    sent_by TEXT NOT NULL,
    sent_at BIGINT NOT NULL
);

CREATE INDEX class_messages_sent ON class_messages (sent_at);

CREATE TABLE workshop_templates (
    template_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    -- Empty: the template is in the shared catalog.
    class_id TEXT COLLATE "C" NOT NULL DEFAULT '',
    settings TEXT NOT NULL,
    active BIGINT NOT NULL CHECK (active IN (0, 1)),
    version BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    -- Presentation in the catalog, and the slug of the link, as JSON. Instances do not copy it. Only fields that a query
    -- compares have a column, computed from the JSON.
    listing TEXT NOT NULL DEFAULT '{}',
    unlisted BIGINT NOT NULL GENERATED ALWAYS AS (coalesce(json_extract(listing, '$.unlisted'), 0)), -- SQLite
    unlisted BIGINT NOT NULL GENERATED ALWAYS AS (CASE listing::json ->> 'unlisted' WHEN 'true' THEN 1 ELSE 0 END) STORED, -- PostgreSQL
    slug TEXT GENERATED ALWAYS AS (json_extract(listing, '$.slug')) -- SQLite
    slug TEXT COLLATE "C" GENERATED ALWAYS AS (listing::json ->> 'slug') STORED -- PostgreSQL
);

-- The lists of admins and of all others, of the shared catalog and of a class.
CREATE INDEX workshop_templates_newest ON workshop_templates (class_id, created_at, template_id);
CREATE INDEX workshop_templates_listed ON workshop_templates (class_id, created_at, template_id)
    WHERE active = 1 AND unlisted = 0;
CREATE UNIQUE INDEX workshop_templates_slug ON workshop_templates (class_id, slug);

-- Settings of templates as they were launched, stored once however many instances were launched with them. A row is named
-- by its content (SHA-256 of settings, in hexadecimal digits) and never changes.
CREATE TABLE template_settings (
    settings_hash TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    settings TEXT NOT NULL
);

-- No cascade: a template that an instance refers to cannot be removed.
CREATE TABLE workshop_instances (
    instance_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    k8s_name TEXT COLLATE "C" NOT NULL UNIQUE,
    owner_email TEXT COLLATE "C" NOT NULL,
    template_id TEXT COLLATE "C" NOT NULL REFERENCES workshop_templates (template_id),
    -- Class of the template, which never changes. Empty: the template is in the shared catalog.
    class_id TEXT COLLATE "C" NOT NULL DEFAULT '',
    -- Kubernetes namespace of the Workshop. NULL: that of the launcher's setting.
    namespace TEXT COLLATE "C",
    settings_hash TEXT COLLATE "C" NOT NULL REFERENCES template_settings (settings_hash),
    -- Maximum lifetime that an admin applied after the launch. NULL: the maximum of the settings.
    raised_max_lifetime_seconds BIGINT,
    -- Name of the volume that the instance uses.
    volume TEXT,
    -- Snapshot whose files the workshop starts with. Empty: none.
    restores TEXT NOT NULL DEFAULT '',
    -- Values of the launch parameters by name, as JSON. A secret value is null.
    parameters TEXT,
    -- Values of the secret launch parameters by name, as JSON. NULL without secrets, and once the end is decided.
    secrets TEXT,
    state TEXT COLLATE "C" NOT NULL CHECK (state IN
        ('queued', 'starting', 'running', 'suspending', 'suspended', 'terminating', 'terminated', 'failed')),
    reason TEXT,
    -- Report of the fleet, as JSON: step of the start, end of the log, last crash, course material, URLs.
    report TEXT NOT NULL DEFAULT '{}',
    start_step TEXT GENERATED ALWAYS AS (json_extract(report, '$.startStep')), -- SQLite
    start_step TEXT COLLATE "C" GENERATED ALWAYS AS (report::json ->> 'startStep') STORED, -- PostgreSQL
    -- JSON with the state of the instance's snapshot; NULL if none is planned.
    snapshot TEXT,
    -- True (1) if the workload of a running instance has an older version of sidecar or settings, and the time of the last
    -- requested restart.
    outdated BIGINT NOT NULL DEFAULT 0 CHECK (outdated IN (0, 1)),
    restarted_at BIGINT,
    created_at BIGINT NOT NULL,
    -- A suspended instance has no Workshop. A resume creates it again.
    suspended_at BIGINT,
    resumed_at BIGINT,
    dispatched_at BIGINT,
    started_at BIGINT,
    expires_at BIGINT,
    ended_at BIGINT,
    end_reason TEXT,
    spec_version BIGINT NOT NULL,
    applied_version BIGINT NOT NULL,
    workshop_uid TEXT,
    -- UID of the Workshop from before the last resume.
    former_uid TEXT,
    -- Time at which the owner last used the app, as the bar above it reported. Not a change with a revision.
    used_at BIGINT,
    -- The change of this row in the one order of all changes.
    revision BIGINT NOT NULL,
    -- Order in the queue: see queue.rs.
    queue_number BIGINT NOT NULL
);

-- Lists, newest first: everybody's, one owner's, one template's; each for all rows, one state, and what has not ended.
CREATE INDEX workshop_instances_state ON workshop_instances (state, instance_id);
CREATE INDEX workshop_instances_live ON workshop_instances (instance_id) WHERE state <> 'terminated';
CREATE INDEX workshop_instances_owner ON workshop_instances (owner_email, instance_id);
CREATE INDEX workshop_instances_owner_state ON workshop_instances (owner_email, state, instance_id);
CREATE INDEX workshop_instances_owner_live ON workshop_instances (owner_email, instance_id)
    WHERE state <> 'terminated';
CREATE INDEX workshop_instances_template ON workshop_instances (template_id, instance_id);
CREATE INDEX workshop_instances_template_state ON workshop_instances (template_id, state, instance_id);
CREATE INDEX workshop_instances_template_live ON workshop_instances (template_id, instance_id)
    WHERE state <> 'terminated';

-- Whether any row refers to some settings, or uses some volume.
CREATE INDEX workshop_instances_settings ON workshop_instances (settings_hash);
CREATE INDEX workshop_instances_volume ON workshop_instances (volume)
    WHERE volume IS NOT NULL AND state IN ('queued', 'starting', 'running', 'suspending', 'suspended', 'terminating');

-- The loops: who is next, what the fleet has not been told, what changed, what is old enough to go. SQLite prefers some
-- indexes to the index of all states only if they have the state as a column. PostgreSQL takes the condition of an index for
-- granted, and could then enter it by its second column only.
CREATE INDEX workshop_instances_queue ON workshop_instances (state, queue_number) WHERE state = 'queued'; -- SQLite
CREATE INDEX workshop_instances_queue ON workshop_instances (queue_number) WHERE state = 'queued'; -- PostgreSQL
CREATE INDEX workshop_instances_pending ON workshop_instances (revision) WHERE applied_version < spec_version;
CREATE UNIQUE INDEX workshop_instances_feed ON workshop_instances (revision);
CREATE INDEX workshop_instances_owner_feed ON workshop_instances (owner_email, revision);
CREATE INDEX workshop_instances_ended ON workshop_instances (state, ended_at) WHERE state = 'terminated'; -- SQLite
CREATE INDEX workshop_instances_ended ON workshop_instances (ended_at) WHERE state = 'terminated'; -- PostgreSQL
-- Who comes to the event stream is told of what has not ended, in the order of the changes, part by part; of the queue
-- apart from that.
CREATE INDEX workshop_instances_live_feed ON workshop_instances (revision)
    WHERE state <> 'terminated' AND state <> 'queued';
-- Instances that ended before they left the queue are purged early.
CREATE INDEX workshop_instances_withdrawn ON workshop_instances (state, ended_at) -- SQLite
CREATE INDEX workshop_instances_withdrawn ON workshop_instances (ended_at) -- PostgreSQL
    WHERE state = 'terminated' AND dispatched_at IS NULL;
-- The list of outdated instances, and the planned snapshots. These indexes have the state as a column, because SQLite
-- otherwise prefers the index of all states.
CREATE INDEX workshop_instances_outdated ON workshop_instances (state, instance_id) WHERE outdated = 1;
CREATE INDEX workshop_instances_snapshot ON workshop_instances (state, expires_at) WHERE snapshot IS NOT NULL;

-- A key is useful only as long as its instance's row exists.
CREATE TABLE idempotency_keys (
    owner_email TEXT COLLATE "C" NOT NULL,
    idempotency_key TEXT COLLATE "C" NOT NULL,
    body_hash TEXT NOT NULL,
    k8s_name TEXT COLLATE "C" NOT NULL REFERENCES workshop_instances (k8s_name) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (owner_email, idempotency_key)
);

CREATE INDEX idempotency_keys_instance ON idempotency_keys (k8s_name);

-- One row an owner: writing it first makes one owner's launches wait for each other, so that limits hold exactly on an
-- engine that locks rows instead of the whole database.
CREATE TABLE launch_gate (
    owner_email TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    launches BIGINT NOT NULL,
    -- The token bucket of the owner's launches: when it will be full again. 0: full. A full bucket needs no row.
    full_at BIGINT NOT NULL DEFAULT 0
);

-- One row: the last revision that was given away.
CREATE TABLE change_counter (
    counter_id BIGINT NOT NULL PRIMARY KEY CHECK (counter_id = 1),
    revision BIGINT NOT NULL
);

INSERT INTO change_counter (counter_id, revision) VALUES (1, 0);

-- One row at most: the fleet that the instances belong to. Another fleet does not have their Workshops.
CREATE TABLE fleet_binding (
    binding_id BIGINT NOT NULL PRIMARY KEY CHECK (binding_id = 1),
    fleet TEXT NOT NULL
);

-- Who launched, extended, ended, changed what. A line holds names as they were then and refers to no other row, because
-- it outlives what it tells of.
CREATE TABLE activities (
    -- The revision that the change took: the change's place in the one order of all changes.
    activity_id BIGINT NOT NULL PRIMARY KEY,
    at BIGINT NOT NULL,
    -- NULL: the service itself.
    actor_email TEXT COLLATE "C",
    action TEXT NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    subject_name TEXT NOT NULL,
    -- NULL: of a template.
    owner_email TEXT COLLATE "C",
    detail TEXT
);

-- Lists, newest first: what one person did, what happened to one person's, what happened to one thing.
CREATE INDEX activities_actor ON activities (actor_email, activity_id);
CREATE INDEX activities_owner ON activities (owner_email, activity_id);
CREATE INDEX activities_subject ON activities (subject, activity_id);
-- Lines are removed by their age. A clock that was wrong has written some that are older or younger than their neighbours.
CREATE INDEX activities_at ON activities (at);

-- Volumes: the kept files of users. The fleet has the files, this table has their owners.
CREATE TABLE volumes (
    volume_id TEXT PRIMARY KEY NOT NULL,
    name TEXT NOT NULL UNIQUE,
    owner_email TEXT NOT NULL,
    -- Empty for a volume that all templates of the kind home share.
    template_id TEXT NOT NULL,
    template_name TEXT,
    -- Kubernetes namespace of the volume. NULL: that of the launcher's setting.
    namespace TEXT,
    size TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL,
    -- Latest announced time of the deletion: a shorter retention deletes nothing earlier. NULL: none is announced.
    kept_until BIGINT,
    -- Set once the deletion is decided. The row is removed when the fleet has deleted the files.
    deleted_at BIGINT
);

-- At most one volume per user and template.
CREATE UNIQUE INDEX volumes_owner ON volumes (owner_email, template_id) WHERE deleted_at IS NULL;
CREATE INDEX volumes_owner_list ON volumes (owner_email, volume_id) WHERE deleted_at IS NULL;
CREATE INDEX volumes_unused ON volumes (last_used_at) WHERE deleted_at IS NULL;
CREATE INDEX volumes_kept ON volumes ((kept_until - last_used_at)) WHERE deleted_at IS NULL;
CREATE INDEX volumes_deleted ON volumes (deleted_at) WHERE deleted_at IS NOT NULL;

-- Snapshots: archives of the files of workshops without a volume, saved at their planned end. The object store has the
-- archives, this table has their owners.
CREATE TABLE snapshots (
    -- Identifier of the instance, and name of the object.
    snapshot_id TEXT PRIMARY KEY NOT NULL,
    owner_email TEXT NOT NULL,
    template_id TEXT NOT NULL,
    template_name TEXT NOT NULL,
    k8s_name TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    -- Latest announced time of the deletion: a shorter retention deletes nothing earlier.
    kept_until BIGINT NOT NULL DEFAULT 0,
    -- Set once the deletion is decided. The row is removed when the object is deleted.
    deleted_at BIGINT
);

CREATE INDEX snapshots_owner ON snapshots (owner_email, snapshot_id) WHERE deleted_at IS NULL;
CREATE INDEX snapshots_old ON snapshots (created_at) WHERE deleted_at IS NULL;
CREATE INDEX snapshots_kept ON snapshots ((kept_until - created_at)) WHERE deleted_at IS NULL;
CREATE INDEX snapshots_deleted ON snapshots (deleted_at) WHERE deleted_at IS NOT NULL;
