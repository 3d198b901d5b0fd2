### Texts of the admins' list of all instances, and of the bulk actions.

# Name of the table for screen readers.
instances = Instances

# Column head: the name of an instance.
instance = Instance

# Label of the template filter, and column head.
template = Template

# Choice of the template filter: all templates.
every-template = All

# Label of the state filter, and column head.
state = State

# Choice of the state filter: all instances that are not terminated.
not-ended = Not ended

# Choice of the state filter: terminated instances.
everything-ended = Ended

# Choice of the state filter: all states.
every-state = All

# Column head: the buttons of an instance.
action = Action

# Text below the filter if no instance matches.
no-instances = No instance matches the filter.

# Error if the owner in the address of the page is not an e-mail address.
not-an-email = This is not an e-mail address. The list shows everyone's instances.

# Link to the next page of a list that is not sorted by time.
more = More

# Label of the checkbox that selects all rows.
tick-all = Select all

# Name of the form with the bulk actions, for screen readers.
bulk-form = Selected instances

# Text before the buttons of the bulk actions. The script adds the number of selected instances.
bulk-form-title = Selected instances:

# Button that extends the selected instances.
extend = Extend

# Title of the confirmation page for ending several workshops.
bulk-end-title = End workshops

# Button that ends the selected workshops.
bulk-end-now = End now

# Link that leaves the confirmation page without ending the workshops.
bulk-keep = Keep running

# Link from the results back to the list.
back-to-list = Back to the list

# Name of the table of results, for screen readers.
bulk-results = Results

# Column head: the result for each instance.
result = Result

# Result of an extension: the new expiry.
bulk-until = It runs until { $value }

# Text before the reason why the action failed for an instance.
not-done = Not done:

# Reason of a failed action: a temporary failure of the service.
try-again = The service cannot answer right now. Try again in a minute.

# Error if the form selects no instance.
nothing-ticked = No instance was selected.

# Error if the form has an unknown action. No page of this service sends such a form.
bulk-what = The form has an unknown action.

# Heads of the sortable columns.
sorted-by-template = Template
sorted-by-owner = Owner
sorted-by-state = State
sorted-by-launch = Launched
sorted-by-end = Ends

# Label of the checkbox that selects one row.
tick = Select { $name }

# Question on the confirmation page for ending several workshops.
bulk-end-question = { $count ->
    [one] End 1 workshop?
   *[other] End { $count } workshops?
}

# Headings of the results after ending or extending several workshops.
bulk-ended = Ended { $done } of { $all }
bulk-ended-none = Ended
bulk-extended = Extended { $done } of { $all }
bulk-extended-none = Extended

# Error if the form selects more instances than any list shows.
bulk-too-many = Select at most { $most } instances at a time.

# Label of the search field.
instance-search = Search

# Placeholder of the search field: the texts that it searches.
instance-search-hint = Owner, template or instance

# Note above the list if its address selects the instances of one owner.
only-owner = Only instances of { $owner }.

# Number of instances that match the filter.
instance-count = { $count ->
    [one] 1 instance
   *[other] { $count } instances
}

# Number of instances, if there are more than the service counts.
instance-count-more = More than { $limit } instances

# Number of instances that match a search, if the service searched only the newest.
instance-count-newest = { $count } among the newest { $limit } instances

# Note below the list if the service did not search all instances.
instance-search-newest = The search includes only the newest { $limit } instances. To search older ones, choose a template.

# Note above the list: running workshops with an older version of the sidecar or of the settings. Its link restarts them.
outdated-count = { $count ->
    [one] 1 workshop runs with an older version of the sidecar or of the settings.
   *[other] { $count } workshops run with an older version of the sidecar or of the settings.
}

# Link from this note to the confirmation page.
restart = Restart

# Title of the confirmation page for restarting workshops with an older version.
restart-title = Restart workshops

# Question on this confirmation page.
restart-question = { $count ->
    [one] Restart 1 workshop?
   *[other] Restart { $count } workshops?
}

# Warning on this confirmation page.
restart-warning = Unsaved work in these workshops is lost. Each workshop starts again with the current version. The end times do not change.
# Sentences after it: what happens to the files.
restart-keeps-files = The files are kept: the workshop has them again after the restart.
restart-deletes-files = The restart deletes the files in a workshop. Its owner can download them first.

# Note on this confirmation page if there are more workshops than it lists.
restart-first = This page lists { $listed } of { $all } workshops. Open it again later to restart the others.

# Button that restarts the listed workshops.
restart-now = Restart now

# Text of this page if no workshop has an older version.
restart-none = No workshop runs with an older version.

# Headings of the results after restarting several workshops.
bulk-restarted = Restarted { $done } of { $all }
bulk-restarted-none = Restarted

# Result of a restart.
restart-requested = The workshop restarts.

# Warning before workshops are ended or restarted whose files have different fates. $files: sentence about the files of $count of them.
files-of-some = { $count ->
    [one] 1 workshop: { $files }
   *[other] { $count } workshops: { $files }
}
