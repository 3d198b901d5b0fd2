### Texts of the frame around every page, and of the script.

# Name of the product in the page header and in titles.
product = Workshop Launcher

# First link of a page: keyboard users skip the navigation with it.
skip = Skip to the content

# Name of the navigation for screen readers.
pages = Pages

# Navigation link to the start page.
workshops = Workshops

# Navigation link to the page of ended workshops.
history = History

# Navigation link to the admins' overview.
overview = Overview

# Navigation link to the admins' list of all instances.
all-instances = All instances

# Navigation link to the list of templates.
templates = Templates

# Navigation link to the activity log.
activity = Activity

# Badge beside an administrator's name.
admin = Admin

# Link to sign out.
sign-out = Sign out

# Link to the address at which users get help.
help = Help

# Link to the guide for students, and the title of its page.
students-guide = Guide for students

# Link to the guide for teachers, and the title of its page.
teachers-guide = Guide for teachers

# Link to the documentation of the API.
api-docs = API documentation

# Notice while the event stream is disconnected, because the page may be out of date.
offline = Connection lost. This page may be out of date. It reconnects automatically.

# Banner for admins if all workshops run as one OS user.
shares-one-user = Workshops are not isolated from each other here.

# Advice that opens below this banner.
shares-one-user-advice = If people do not trust each other, run workshops in containers or on Kubernetes.

# Name of this banner, for screen readers.
isolation = Isolation of workshops

# Menu of the signed-in person, for screen readers. The e-mail address follows.
account = Account

# Button that asks the browser for permission to show notifications.
notify = Notify me

# Button text after the user has permitted notifications.
notify-on = You will be notified

# Button text after the user has refused notifications.
notify-off = Notifications are off

# Text that the script announces shortly before expiry, also as a notification. The script inserts name and remaining
# time.
spoken-end = { $name }: ends in { $left }

# Second line of the notification shortly before expiry.
spoken-advice = Save your work, or extend the workshop.

# Name and version of the product, in the footer.
product-version = Workshop Launcher { $version }

# Banner while authentication is off: the identity that every caller has.
no-authentication = Authentication is off. Use this for development only: every visitor is { $email }.

# Name of the list of languages, for screen readers.
languages = Language
# Name of this language, in this language.
language-name = English

# Link to the older entries of a list.
older = Older

# Name of a filter for screen readers.
filter = Filter

# Button that applies a filter.
filter-show = Show

# Link that clears a filter.
filter-reset = Reset

# Placeholder of the input field for an e-mail address.
address-example = name@example.org
