### Texts of the start page, the pages of a workshop and of a template, and the history.

# Heading of the list of workshops that have not ended.
my-workshops = My workshops

# Text if the caller has no workshops.
no-workshops = You have no workshops. Launch one below.

# Note above the list of workshops: the caller's newest workshop has ended. The reason and the time follow.
has-ended = “{ $name }” has ended.

# Note below a list that shows only the newest workshops.
only-the-newest = This list shows only your newest workshops.

# Link to the list of all workshops of the caller.
show-all-mine = Show all my workshops

# Sentence about the files of a paused workshop.
files-of-paused = A paused workshop has your saved files. Resume it to continue, or end it.

# Text around the time for which the owner has waited.
waits-for = for { $value }

# Text around the time until expiry.
ends-in = Ends in { $value }

# Warning before the remaining time of a workshop that expires soon.
ends-warning = Save your work!

# Link that opens a workshop.
open = Open

# Name of the menu with the other actions on a workshop or a template.
more-actions = More actions: { $name }

# Link to the page of a workshop.
details = Details

# Chip on the card of a template whose files are kept.
keeps-files = keeps files

# Button that extends a workshop, with the new expiry.
extend-until = Extend until { $value }

# Button that ends a workshop.
end = End

# Button that pauses a workshop whose files are kept.
pause = Pause

# Question of the browser dialog before a workshop is paused.
confirm-pause = Pause this workshop? Its programs stop. The files that you saved are there again when you resume it.

# Button that resumes a paused workshop.
resume = Resume

# Text around the time at which a workshop was paused. It follows the state.
paused-since = since { $value }

# Button that launches the template of a failed or ended workshop again. Also the link to the template in the history.
launch-again = Launch again

# Label of a field of the launch form that may stay empty.
parameter-optional = { $label } (optional)

# First option of a list in the launch form: nothing is chosen yet.
parameter-choose = Choose…

# Text in place of a secret value that was given at the launch.
parameter-secret = (secret)

# Help text of a field for a secret value.
parameter-secret-hint = This value is not shown again.

# Help text of a field for a secret value, after the help text of the template.
parameter-secret-help = { $help } This value is not shown again.

# Heading of the list of fields with errors, above the launch form.
parameters-wrong = Nothing was launched. Correct these fields:

# Notice above the launch form: the link has values for secret fields, or for fields that do not exist.
parameters-ignored = These values of the link were ignored: { $names }. Fill in these fields yourself, if the form has them.

# Button that dismisses a failed workshop.
dismiss = Dismiss

# Label that opens the last output of a failed workshop.
last-output = Last lines of the output

# Text around the time at which the app of a running workshop crashed. The fleet started it again at once.
crash-crashed = The app stopped unexpectedly and was started again at { $value }.

# The same, if the app used more memory than its limit.
crash-out-of-memory = The app ran out of memory and was started again at { $value }.

# Text around the time at which the cluster stopped the server of a running workshop, for example for maintenance.
crash-moved = The server of the workshop stopped at { $value }. The workshop was started again.

# Sentence after it, if the files of the workshop are kept.
crash-files-kept = Saved files are still there.

# Sentence after it, if the files of the workshop are lost.
crash-files-lost = Files that were not saved elsewhere are lost.

# Advice after it.
crash-advice-crashed = If it happens again, tell your teacher what you did before.

# Advice after it, if the app used more memory than its limit.
crash-advice-out-of-memory = Load less data at once, or ask for a template with more memory.

# Advice after crash-moved.
crash-advice-moved = Open your files again. Programs that were running have ended.

# Label: the course material of a workshop, and its state.
material = Course material

# State of a folder with course material.
material-placed = { $target }: loaded

# State of a folder whose course material is newer than before.
material-updated = { $target }: updated

# State of a folder whose course material did not change.
material-unchanged = { $target }: up to date

# State of a folder whose course material could not be loaded.
material-failed = { $target }: not loaded

# Notice if the course material of a folder could not be loaded.
material-not-loaded = The course material for the folder { $target } could not be loaded.

# Advice after it.
material-not-loaded-advice = The workshop started anyway. If it keeps your files, the folder has the files of your last launch. Tell your teacher, or launch the workshop again later.

# Notice if both the user and the teacher changed files. A list of the files follows.
material-conflicts = { $count ->
    [one] You and your teacher both changed one file in the folder { $target }.
   *[other] You and your teacher both changed { $count } files in the folder { $target }.
}

# Explanation after the list of files.
material-conflicts-advice = Your files are unchanged. The files of your teacher are beside them, under another name.

# Heading of the catalog on the start page.
catalog = Launch a workshop

# Heading of the folded shared catalog, below the templates of the reader’s classes. $count: number of its templates.
shared-catalog = { $count ->
    [one] One more workshop
   *[other] { $count } more workshops
}

# The search field's name for screen readers.
search-catalog = Search the catalog

# Placeholder of the search field.
search-hint = Search

# Button that starts the search.
search = Search

# Text if the catalog is empty.
no-templates = There are no workshops to launch yet.

# Link to the template editor for admins, if the catalog is empty.
create-first = Create the first template

# Text if no catalog entry matches the search.
nothing-found = No workshop matches your search.

# Button that launches a template.
launch = Launch

# Note on a template's card if the reader already has a workshop of this template.
have-one-short = You have one

# Note on a template's page if the reader already has a workshop of this template.
have-one = You already have this workshop:

# Note on a template's page before the address of a git repository that the link names.
repository-added = The workshop gets the files of this repository:

# Label before the branch of this repository.
repository-reference = Branch, tag or commit:

# Label before the folder inside of this repository.
repository-folder = Only the folder:

# Text of the error page if the link names a repository that the template does not allow.
repository-refused = The link names a repository that cannot be used: { $wrong }.

# Note on a template's page if the reader's newest workshop of this template has failed.
last-one-failed = Your last workshop of this template failed.

# Link from this note to the page of the failed workshop.
show-it = Show it

# Button that launches another workshop of a template.
launch-another = Launch another

# Link from a template's page to the editor, for admins. Also the heading of the editor.
edit-template = Edit template

# Link to the start page.
all-workshops = All workshops

# Label: the name of a workshop in URLs.
instance-name = Name

# Label: the owner of a workshop.
owner = Owner

# Label: the app type of a workshop.
app = App

# Label: the time of a workshop's launch.
launched-at = Launched

# Label: the time when a workshop became ready.
ready-since = Ready since

# Label: the latest possible expiry of a workshop.
latest-end = Can be extended to

# Label: the time of a workshop's end.
ended-at = Ended

# Label: the time from a workshop's launch to its end.
lasted = Lasted

# Label: the reason of a workshop's end.
why-ended = Why it ended

# Sentence with the owner, on an admin's confirmation page.
belongs-to = It belongs to { $value }.

# Button that ends the workshop, on the confirmation page.
end-workshop = End workshop

# Link that leaves the confirmation page without ending the workshop.
keep-it = Keep it

# Title of the confirmation page before a workshop is paused.
pause-title = Pause { $name }

# Question of this page.
pause-question = Pause “{ $name }”?

# Warning of this page.
pause-warning = All programs in the workshop stop, and work that is not saved is lost. The files that you saved are there again when you resume the workshop. You can resume it at any time.

# Button that pauses the workshop, on this page.
pause-workshop = Pause workshop

# Link that leaves this page without pausing the workshop.
pause-cancel = Let it run

# Name of the history for screen readers.
ended-workshops = Ended workshops

# Column head of the history: the name of the workshop.
workshop = Workshop

# Text if the history is empty.
no-history = None of your workshops has ended yet.

# Name of the page with the kept files.
saved-work = Saved work

# Name of the page with the kept files of all users, for admins.
saved-work-all = Saved work of all users

# Text below the heading of this page.
saved-work-about = Some workshops keep their files. The next launch of such a workshop has them again.

# Text above the list of saved files of ended workshops. $time: retention, for example “7 days”.
snapshots-about = Some workshops save their files here when they end, for { $time }. The page of a workshop says if its files will be saved.

# Text if there are neither kept files nor saved files of ended workshops.
no-saved-work = There is no saved work yet.

# Name of the files that several templates share.
saved-work-shared = Shared by several workshops

# Heading of a column: the maximum size of the files.
saved-work-size = Space

# Heading of a column: the time of the last use.
saved-work-last-used = Last used

# Heading of a column: the time at which unused files are deleted.
saved-work-deleted-after = Deleted if not used until

# Link to the workshop that uses the files now.
saved-work-in-use = In use

# Heading of a column: the size of the saved files of an ended workshop.
snapshot-size = Size

# Heading of a column: the time when these files were saved.
snapshot-saved-at = Saved

# Heading of a column: the time when these files are deleted.
snapshot-deleted-on = Deleted on

# Link to the page that deletes the files.
saved-work-delete = Delete

# Link that downloads the files.
saved-work-download = Download

# Question of this page. $name: name of the template.
saved-work-question = Delete the saved work of “{ $name }”?

# Warning of this page.
saved-work-warning = All files are deleted. They cannot be restored. The next launch begins without files.

# The same warning for the saved files of an ended workshop.
snapshot-warning = All files are deleted. They cannot be restored.

# Button that deletes the files.
saved-work-delete-now = Delete all files

# Link that leaves this page without a change.
saved-work-keep = Keep the files

# Notice while the end of a workshop waits until its files are saved.
snapshot-pending = Saving your files before the workshop ends.

# Notice on an ended workshop: its files are saved. A link to the list follows.
snapshot-saved = Your files are saved.

# The same notice around the time when the files are deleted.
snapshot-saved-until = Your files are saved until { $value }.

# The same notice after the files were deleted.
snapshot-deleted = The saved files of this workshop were deleted.

# Notice on an ended workshop whose files were not saved. $reason: one of the sentences below.
snapshot-failed = Your files could not be saved. { $reason }

# Reasons why files were not saved.
snapshot-failure-time-limit = They were not saved in time.
snapshot-failure-too-large = They have more than 2 GiB.
snapshot-failure-limit-reached = The files of 20 workshops are already saved. Delete some of them first.
snapshot-failure-files-unavailable = The service could not read them.
snapshot-failure-store-unavailable = The service could not store them.
snapshot-failure-workshop-gone = The workshop had already stopped.

# Addition to the link "Open", for screen readers.
in-new-tab = { $name } (in a new tab)

# Link from the search results back to the whole catalog.
show-all = Show all { $offered }

# States how many catalog entries match the search.
found = { $found } of { $offered } found

# States the lifetime of a template's workshops, and how far they can be extended.
lasts = Lasts { $lifetime }
lasts-extensible = Lasts { $lifetime }, can be extended to { $longest }

# Title of the confirmation page before a workshop is ended.
end-title = End { $name }

# Question on the confirmation page before a workshop is ended.
end-question = End “{ $name }”?

# Note for admins on the page of a workshop. A link follows.
outdated = This workshop runs with an older version of the sidecar or of the settings.

# Link from this note to the page that restarts all workshops with an older version.
outdated-restart = Restart outdated workshops

# Fate of a workshop's files at its end. All pages and questions have these sentences.
files-are-deleted = The files in a workshop are deleted when it ends. Download what you want to keep.
# The files are kept for the next launch. $time: retention without use, for example “180 days”.
files-are-kept = The files are kept when the workshop ends: the next launch has them again.
files-are-kept-for = The files are kept when the workshop ends: the next launch has them again. They are deleted after { $time } without use.
# The end saves the files. $time: retention, for example “7 days”.
files-are-saved = The files are saved for { $time } when the workshop ends.
# The workshop was never ready.
files-none-yet = The workshop has no files yet.

# The same in some words, on the card of a template.
saves-files = saves files for { $time }
deletes-files = deletes files at the end

# Question of the browser dialog before a workshop is ended. $files: sentence about its files.
confirm-end = End this workshop? { $files }

# Warning on the confirmation page before a workshop is ended. $files: sentence about its files.
end-warning = The workshop stops. { $files }

# Trouble with the course material of a workshop, in a table.
material-short-failed = Not loaded
material-short-conflicts = Conflicts

# Text that a student sends to the teacher. $line: the decisive line of the output.
failure-report =
    { $template } ({ $workshop })
    Launched: { $time }
    { $failure }
    { $line }

# Button that copies this text.
copy-report = Copy for my teacher

# Text of this button after the copy.
copied-report = Copied

# Button that launches a workshop with the saved files of an earlier one.
launch-with-files = Launch with these files

# Note on the page of a template, before the name of the workshop and the time at which its files were saved.
files-launch-note = The workshop starts with your saved files:

# Link after the link “Download”, to the same files as a zip archive.
saved-work-download-zip = Download as .zip
