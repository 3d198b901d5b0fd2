### The small page that extends a workshop, which the bar above a workshop opens.

# Title of the page.
extend-title = Extend { $name }

# Sentence around the expiry of the workshop.
ends-at = It ends at { $value }.

# Result of an extension, before the sentence "ends-at".
extended = The workshop is extended.

# Reason why a workshop that is not running cannot be extended.
cannot-extend = This workshop does not run, so it cannot be extended.

# Button that closes the window.
close-window = Close this window
