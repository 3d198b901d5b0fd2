### Notices about refused actions.

# Title of the notice that the caller has reached the instance limit.
limit-title = You have reached your limit.

# Title of the notice about a refused launch.
not-launched = The workshop was not launched.

# Text of the notice if the queue is full.
at-capacity = Too many workshops are waiting to start. Try again in a minute.

# Title of the notice if another workshop uses the same saved files.
volume-in-use-title = Another workshop uses these files.

# Text of this notice. $workshop: name of that workshop.
volume-in-use = Your workshop { $workshop } uses them. Continue there, or end it first and try again when it is gone.

# The same text if that workshop is paused.
volume-in-use-suspended = Your paused workshop { $workshop } uses these files. Resume it to continue, or end it first.

# Title of the notice if the launch needs a new place for files, and the user has reached the limit of saved work.
storage-limit-title = Your saved work has reached its limit.

# Text of this notice. $gib: maximum total size of the user's saved work, a whole number.
storage-limit = Your saved work may use at most { $gib } GiB in total. This workshop would exceed it. Delete saved work that you no longer need, then launch again.

# Title of the notice if saved files cannot be downloaded.
no-download-title = The files were not downloaded.

# Text of this notice if the fleet cannot read saved files.
no-download = Open a workshop of this template, and download the files there.

# Text of this notice if too many downloads are in progress.
too-many-downloads = You already have a download in progress, or too many other downloads are in progress. Try again in a minute.

# Text of this notice if no program on the cluster could open the saved files in time.
download-not-ready = The files could not be opened in time. Try again in a minute, or launch a workshop and download them there.
snapshots-unavailable = The saved files cannot be read now. Try again in a minute.

# Text of the notice if the form's idempotency key was already used for another launch.
key-reused = The page was out of date. It is up to date now. Launch again below.

# Title of the notice about a refused extension.
not-extended = The workshop was not extended.

# Text of the notice if the expiry has changed after the page was loaded, for example by a double click.
expiry-changed = The end time changed after you loaded the page. The current end time is below. Extend again if you need more time.

# Title of the notice if the workshop no longer exists.
gone-title = This workshop does not exist any more.

# Text of the notice if the workshop no longer exists.
gone = The list below is up to date.

# Notice for an admin on the page of an archived template.
inactive-admin = This template is archived. Only administrators can launch it, to test it.

# A limit of the class refuses a launch. $limit: number of workshops.
class-limit = This class already has { $limit } { $limit ->
    [one] workshop
   *[other] workshops
}, which is its limit. Wait until one ends, or ask your teacher.
class-limit-own = You already have { $limit } { $limit ->
    [one] workshop
   *[other] workshops
} in this class, which is the limit. End one of them first.
# The class is archived: students cannot launch.
class-over = This class is over: you can no longer launch its workshops.
class-not-begun = This class has not begun. You can launch its workshops from its first day on.

# Notice for other users on the page of an archived template.
inactive-user = This workshop is no longer offered. Ask your teacher for the current one.

# Text of the notice if the class does not allow a template any more. $reasons: sentences.
not-allowed-in-class = The class no longer allows this workshop. { $reasons } A teacher can change it.

# Title of the notice after a fault of the service. It is unknown if the action took effect.
fault-title = The service did not answer.

# Text of the notice after a fault of the service.
fault = It is unknown whether the action took effect. Check the list below in a moment. If nothing changed, try again. Running workshops are not affected.

# The caller's limit and number of workshops, with the remedy. $held: the caller's workshops. $ending: how many of them
# are terminating.
limit-reached = You have { $held ->
        [one] 1 workshop
       *[other] { $held } workshops
    }. The limit is { $limit }. { $ending ->
        [0] End one of them, then launch again.
        [one] One of them is still ending and counts until it has ended. Launch again in a moment.
       *[other] { $ending } of them are still ending and count until they have ended. Launch again in a moment.
    }

# The caller exceeds the launch rate limit.
too-many-launches = You launched too many workshops in a short time. Launch again in { $seconds ->
        [one] 1 second
       *[other] { $seconds } seconds
    }.

# Reasons why a running workshop has no button "Extend".
no-extension-not-running = Its time is up.
# Reasons why a workshop was not extended.
not-extended-not-running = Only a running workshop can be extended.
not-extended-lifetime-limit-reached = It has reached its maximum lifetime.
not-extended-expiry-changed = Its end time has changed.

# Title of the notice about a refused restart.
not-restarted = The workshop was not restarted.

# Reasons why a workshop was not restarted.
not-restarted-not-running = Only a running workshop can be restarted.
not-restarted-not-outdated = It already runs with the current version.

# Title of the notice about a workshop that was not paused.
not-paused = The workshop was not paused.

# Reasons why a workshop was not paused.
not-paused-not-running = Only a running workshop can be paused.
not-paused-files-not-kept = Its files are not kept. End it instead.

# Title of the notice about a workshop that was not resumed.
not-resumed = The workshop was not resumed.

# Reasons why a workshop was not resumed.
not-resumed-still-pausing = It is still being paused. Try again in a few seconds.
not-resumed-not-paused = Only a paused workshop can be resumed. Launch it again.
