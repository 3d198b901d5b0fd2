### Texts of the frame page and of the notices, which the sidecar serves. No text may contain <, >, & or ".

# Title of the frame page until the app has a title.
workshop = Workshop
# Name of the bar for screen readers.
bar = Workshop launcher
# Name of the app's frame for screen readers.
app = App
# Time left, in the bar. $left is for example 10 minutes.
left = { $left } left
# Expiry, in the bar of a browser without scripts. $time is a point in time.
ends = Ends: { $time }
# Warning ten minutes and one minute before the expiry.
warning = This workshop ends in { $left }. Save your work.
# Note in the bar after the expiry.
over = This workshop has ended.
# Note in the bar after the end of the session.
signed-out = You are signed out. Reload this page to sign in again.
# Note in the bar after a crash of the app, which was started again.
crashed = The app crashed and was started again. Saved files are still there. Reload this page.
# The same note, if the app exceeded its memory.
out-of-memory = The app ran out of memory and was started again. Saved files are still there. Reload this page.
# The same note, if the restart lost files.
files-lost = The app crashed and was started again. Files that were not saved elsewhere are lost. Reload this page.
# Sentence below the name of the workshop, until the app has painted.
loading = The app is loading.
# Note in the bar while the app refuses connections.
down = The app does not answer. If it crashed, it starts again soon.
# Note in the bar: a source of the course material was not placed completely.
material-failed = The course files did not load completely. The page of the workshop shows the reason.
# Note in the bar: the student and the teacher changed the same files of the course material.
material-conflicts = You and the course changed the same files. The page of the workshop shows which.
# Note in the bar: the app answered its first page with an error. $status is a code such as 404.
app-answered = The app answered { $status }.
# The same note, if the app refused the host of the workshop.
app-refuses = The app does not accept the address of this workshop.
# Note in the bar: the first page of the app is its login.
app-asks = The app asks for a password.
# Sentence after these notes. $line is the missing setting of the template, such as --auth=none.
app-needs = The template needs: { $line }
# Note in the bar: the app led to a page of another site, which the frame does not show. $link is a link with the name of the site.
other-site = A page of another site opens only in a tab of its own: { $link }
# Cover over the app of a workshop that has stopped, if the launcher gives no reason.
stopped = This workshop has stopped
    .text = Its page shows the reason, and where your files are.
# Link of this cover, and of notices, to the launcher's page of the workshop.
its-page = Open its page
# Button in the bar of a workshop of a class: asks the teacher for help.
raise-hand = Raise hand
# The same button while the hand is raised.
lower-hand = Lower hand
# Note beside the button while the hand is raised.
hand-raised = Your hand is raised.
# The same note after somebody took the hand. $who is a name or an address.
help-comes = { $who } comes to help you.
# The same note if the hand could not be raised or lowered.
hand-failed = That did not work. Try again.
# Before a message of the teacher to all.
class-message = Message to the class:
# Button that hides this message.
dismiss-message = Dismiss
# Link that extends the workshop.
extend = Extend
# Addition to the link of `extend` for screen readers.
extend-hint = the time of this workshop (in a small window)
# Link to the launcher's page of the workshop.
home = Home
# Link of a notice to the launcher.
launcher = Back to the launcher
# Notice for a caller who is not the owner. It must not tell whether the workshop exists.
not-yours = No workshop of yours here now
    .text = No workshop of yours runs at this address. It may be paused or have ended, or belong to another user. If you launched it, sign in with the same account and open its page.
# Notice for a request without an identity.
not-signed-in = Not signed in
    .text = The request carries no identity. Open the workshop from the launcher, and sign in there.
# Notice for a missing workshop. Used only if callers may know which workshops exist.
unknown = No workshop here now
    .text = No workshop runs at this address. It may be paused or have ended. If you launched it, open its page.
# Notice while the app does not accept connections. The page reloads itself.
starting = The workshop is starting
    .text = The workshop does not answer yet. This page reloads every 2 seconds until it does.
# Notice for an invalid response of the app.
no-answer = The workshop does not answer
    .text = The connection to the app was lost, or the app sent an invalid response. Reload this page.
# Notice for a workshop that has failed, if no cause is known.
failed = Your workshop has failed
    .text = The cause is unknown.
# Notice for a workshop that a user has ended.
terminated = Your workshop has ended
    .text = It was ended before its time was up.
# Notice for a workshop whose lifetime is over.
expired = Your workshop has ended
    .text = Its time was up.
