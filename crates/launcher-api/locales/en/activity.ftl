### Texts of the activity log.

# Label of the filter that selects a person.
person = Person

# Name of the list for screen readers.
activity-list = Activity, newest first

# Text below the filter if no entry matches.
no-activity = No activity found.

# Error if the value of the filter is not an e-mail address.
not-a-person = This is not an e-mail address. The list shows everyone's activity.

# An entry with an actor. $subject is the name of the instance or template, as a link.
# $actor: e-mail address, or "service" below. $owner: e-mail address of the instance's owner.
activity-launched = { $actor } launched { $subject }.
activity-launched-for = { $actor } launched { $owner }'s { $subject }.
# $until: the new expiry.
activity-extended = { $actor } extended { $subject } until { $until }.
activity-extended-for = { $actor } extended { $owner }'s { $subject } until { $until }.
# $duration: the time beyond the maximum lifetime.
activity-extended-beyond-maximum = { $actor } extended { $subject } until { $until }, which is { $duration } beyond its maximum lifetime.
activity-extended-beyond-maximum-for = { $actor } extended { $owner }'s { $subject } until { $until }, which is { $duration } beyond its maximum lifetime.
# $duration: the new maximum lifetime.
activity-maximum-raised = { $actor } raised the maximum lifetime of { $subject } to { $duration }.
activity-maximum-raised-for = { $actor } raised the maximum lifetime of { $owner }'s { $subject } to { $duration }.
activity-restarted = { $actor } restarted { $subject }.
activity-restarted-for = { $actor } restarted { $owner }'s { $subject }.
activity-suspended = { $actor } paused { $subject }.
activity-suspended-for = { $actor } paused { $owner }'s { $subject }.
activity-resumed = { $actor } resumed { $subject }.
activity-resumed-for = { $actor } resumed { $owner }'s { $subject }.
activity-ended = { $actor } ended { $subject }.
activity-ended-for = { $actor } ended { $owner }'s { $subject }.
activity-failed = { $actor } marked { $subject } as failed.
activity-failed-for = { $actor } marked { $owner }'s { $subject } as failed.
activity-dismissed = { $actor } dismissed { $subject }, which had failed.
activity-dismissed-for = { $actor } dismissed { $owner }'s { $subject }, which had failed.
activity-template-created = { $actor } created the template { $subject }.
activity-template-changed = { $actor } changed the template { $subject }.
# $fields: list of the labels of the changed fields.
activity-template-changed-fields = { $actor } changed the template { $subject }: { $fields }.
# Joins the labels of the changed fields to a list.
activity-joined = { $first }, { $second }
activity-template-archived = { $actor } archived the template { $subject }.
activity-template-restored = { $actor } restored the template { $subject }.
activity-class-created = { $actor } created the class { $subject }.
activity-class-changed = { $actor } changed the class { $subject }.
activity-join-link-created = { $actor } created a join link of the class { $subject }.
activity-join-link-revoked = { $actor } revoked the join link of the class { $subject }.
activity-class-message-sent = { $actor } sent a message to the class { $subject }.
activity-member-added = { $actor } joined the class { $subject }.
activity-member-added-for = { $actor } added { $owner } to the class { $subject }.
activity-member-changed = { $actor } got another role in the class { $subject }.
activity-member-changed-for = { $actor } gave { $owner } another role in the class { $subject }.
activity-member-removed = { $actor } left the class { $subject }.
activity-member-removed-for = { $actor } removed { $owner } from the class { $subject }.
activity-volume-deleted = { $actor } deleted the saved work of { $subject }.
activity-volume-deleted-for = { $actor } deleted { $owner }'s saved work of { $subject }.
activity-files-downloaded = { $actor } downloaded the saved work of { $subject }.
activity-files-downloaded-for = { $actor } downloaded { $owner }'s saved work of { $subject }.
# Title of the entries on the page Saved work.
downloads-by-others = Downloads of your files by administrators

# Actor of an entry that no person caused.
activity-service = The service

# An instance ended or failed without an action of a person. $reason: a sentence without its full stop.
activity-ended-alone = { $owner }'s { $subject } ended.
activity-ended-alone-why = { $owner }'s { $subject } ended. { $reason }.
activity-suspended-alone = { $owner }'s { $subject } was paused, because its time was up.
activity-failed-alone = { $owner }'s { $subject } failed.
activity-failed-alone-why = { $owner }'s { $subject } failed. { $reason }.
