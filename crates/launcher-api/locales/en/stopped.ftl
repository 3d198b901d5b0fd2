### Texts for the owner at the address of a workshop that does not run.

# Heading of the notice.
stopped-title = No workshop here now

# What happened: the reader ended the workshop. $name: name of its template.
stopped-owner = You ended “{ $name }”.

# An admin ended the workshop.
stopped-admin = An admin ended “{ $name }”.
stopped-teacher = A teacher ended “{ $name }”.

# The lifetime of the workshop is over.
stopped-expired = The time of “{ $name }” is over.

# The workshop has failed. The reason follows.
stopped-failed = “{ $name }” has failed.

# The Workshop was deleted by another program or person.
stopped-lost = The server lost “{ $name }”, or an administrator removed it.

# Time of the end.
stopped-at = It ended at { $time }.

# The workshop is paused.
stopped-paused = “{ $name }” is paused.

# Heading of the notice while the workshop starts.
stopped-starting-title = The workshop is starting

# Text of this notice. The page reloads.
stopped-starting = “{ $name }” does not answer yet. It opens here when it is ready.

# Where the files of an ended workshop are: the next launch has them.
stopped-files-kept = Your files are kept. Your next launch has them again.

# The files of the workshop are deleted.
stopped-files-deleted = The files of this workshop are deleted.

# Link to the list of saved files.
stopped-saved-work = Saved work

# Link to the page of the workshop.
stopped-page = Open its page
