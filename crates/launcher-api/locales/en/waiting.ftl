### Texts of the waiting page.

# Name of the list of steps for screen readers.
steps = Steps of the start

# Mark of a finished step, for screen readers.
step-done = done

# Mark of the current step, for screen readers.
step-current = in progress

# Note that the browser opens the workshop without a click.
opens-by-itself = This page opens the workshop when it is ready.

# Note while the browser opens the workshop, before the link "open".
is-ready = The workshop is ready and opens now.

# Button that ends a workshop that is not ready yet.
cancel = Cancel

# Label that opens the log of the start.
start-log = Log of the start

# The steps of a start, in order. The page marks the current one.
start-step-queue = Wait in the queue
start-step-prepare = Wait for free capacity and prepare the workshop
start-step-image = Download the image if needed
start-step-downloads = Download the course material, and the image if needed
start-step-app = Start the app

# What the owner waits for. $before: workshops that start before. $time: expected time until the workshop is ready.
wait-queue = { $before ->
    [0] You are next.
    [one] 1 person is ahead of you.
   *[other] { $before } people are ahead of you.
}
wait-queue-about = { $before ->
    [0] You are next. Ready in about { $time }.
    [one] 1 person is ahead of you. Ready in about { $time }.
   *[other] { $before } people are ahead of you. Ready in about { $time }.
}
wait-room = { $before ->
    [0] All places are taken. Your workshop starts as soon as one is free.
    [one] All places are taken. 1 person is ahead of you.
   *[other] All places are taken. { $before } people are ahead of you.
}
wait-about = Ready in about { $time }.
wait-longer = This takes longer than usual.
wait-starting = Your workshop is starting.

# Name of the progress bar for screen readers.
wait-progress = Progress of the start

# Label that opens the steps of the start.
wait-details = Details

# The current step of the start, in the words of a student.
doing-waiting-for-quota = Waiting until another workshop of the class ends.
doing-waiting-for-room = Waiting for a free place.
doing-preparing = Preparing your workshop.
doing-pulling-image = Getting the software. The first time takes longer.
doing-loading-material = Getting the course files.
doing-starting-app = Starting the app.
doing-restarting-app = The app stopped and starts again.

# Step of the start on a server without images.
start-step-material = Download the course material

# Headings of the page of a ready workshop whose course material has a problem. The workshop does not open by itself.
material-trouble-failed = The course files did not load
material-trouble-conflicts = You and your teacher changed the same files

# Link that opens this workshop.
open-anyway = Open anyway

# Button that ends this workshop and launches it again.
material-try-again = Try again

# Explains this button. $files: sentence about the files of the workshop.
material-try-again-about = “Try again” ends this workshop and launches it again. { $files }
