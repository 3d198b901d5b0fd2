### States, reasons, app types and security profiles.

# States of an instance, for its owner.
state-queued = Queued
state-starting = Starting
state-running = Ready
state-suspending = Pausing
state-suspended = Paused
state-terminating = Ending
state-terminated = Ended
state-failed = Failed

# A queued instance with its position in the queue. $state: name of the state.
state-next = { $state }: next to start
state-position = { $state }: position { $position }
# A starting instance with its step.
state-step = { $state }: { $step }

# Steps that a starting workshop waits for.
step-waiting-for-quota = waiting until another workshop of the class ends
step-waiting-for-room = waiting for free capacity
step-waiting-for-room-progress = waiting for free capacity, position { $position }
step-preparing = preparing the workshop
step-pulling-image = downloading the image, which takes longer the first time
step-pulling-image-progress = downloading the image: { $percent } %
step-pulling-image-unpacking = unpacking the downloaded image
step-loading-material = loading the course material
step-starting-app = waiting for the app to answer
step-restarting-app = the app stopped and restarts

# Reasons of a workshop's end, for its owner. A full stop is added where a sentence needs it.
end-owner = Ended by its owner
end-admin = Ended by an administrator
end-teacher = Ended by a teacher
end-expired = Its time was up
end-failed = It failed
end-lost = The server lost it, or an administrator removed it

# App types.
app-rstudio = RStudio
app-notebook = Jupyter notebook
app-custom = Web app

# Security profiles of a template.
profile-restricted = restricted: not root (recommended)
profile-baseline = baseline: root in the container (standard RStudio images need it)
# Choices of the field for kept files.
storage-none = Delete the files
storage-workshop = Delete the files at the end, but keep them after a crash of the app
storage-kept = Keep the files of each person
storage-home = Keep the files of each person, shared with other templates

# Choices of the field for the effect of the expiry.
at-expiry-end = The workshop ends
at-expiry-suspend = The workshop is paused

# Icons of a template.
icon-of-app = As the app
icon-notebook = Notebook
icon-statistics = Statistics
icon-code = Code
icon-terminal = Terminal
icon-web = Web page
icon-database = Database
icon-chart = Chart
icon-globe = Globe
icon-book = Book
icon-flask = Flask

# Colours of a template.
color-of-name = From the name
color-rose = Rose
color-red = Red
color-orange = Orange
color-yellow = Yellow
color-lime = Lime
color-green = Green
color-teal = Teal
color-cyan = Cyan
color-blue = Blue
color-indigo = Indigo
color-purple = Purple
color-pink = Pink
