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

# States how long the start usually takes.
usual-start = Usually ready after { $duration }.
