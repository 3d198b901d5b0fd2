### Extensions: the small page that the bar above a workshop opens, and extensions beyond the maximum lifetime by admins.

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

# Button that extends a workshop beyond its maximum lifetime, for admins, and the title of its confirmation page.
beyond-button = Extend beyond the maximum

# Title and question of the confirmation page.
beyond-title = Extend { $name } beyond the maximum
beyond-question = Extend { $name } beyond its maximum lifetime?

# Text of the confirmation page. $added: time that the extension adds. $longest: the maximum lifetime.
beyond-warning = This adds { $added }. The maximum lifetime of this workshop is { $longest }. The activity log shows who exceeded it, and by how much.

# Link that leads back without the extension.
beyond-cancel = Do not extend

# Question of the confirmation page for several workshops.
bulk-beyond-question = { $count ->
    [one] Extend 1 workshop beyond its maximum lifetime?
   *[other] Extend { $count } workshops beyond their maximum lifetime?
}

# Text of the confirmation for several workshops.
bulk-beyond-warning = The activity log shows who exceeded the maximum lifetime, and by how much.

# Text above the workshops that were not extended as requested, because of their maximum lifetime.
at-maximum = { $count ->
    [one] 1 workshop ends earlier, because it has reached its maximum lifetime.
   *[other] { $count } workshops end earlier, because they have reached their maximum lifetime.
}

# Button that extends these workshops beyond their maximum lifetime, with the time.
beyond-until = Extend beyond the maximum until { $value }

# Title of the page after the maximum lifetime of a template was raised.
maximum-title = Maximum lifetime of { $name }

# Question of the page. $longest: the new maximum lifetime.
maximum-question = { $count ->
    [one] Apply the maximum lifetime of { $longest } to 1 current workshop?
   *[other] Apply the maximum lifetime of { $longest } to { $count } current workshops?
}

# Text below the question. The template is already saved.
maximum-warning = { $name } is saved. New workshops get the new maximum lifetime. Workshops that were launched before keep the shorter one, unless you apply the new one. No workshop ends earlier or later because of this.

# Button that applies the new maximum lifetime, and link that leads on without it.
maximum-button = Apply to current workshops
maximum-cancel = Only new workshops

# Notice after the maximum lifetime was applied.
maximum-raised = { $count ->
    [one] 1 workshop has the new maximum lifetime.
   *[other] { $count } workshops have the new maximum lifetime.
}
maximum-raised-text = They can now be extended up to the new maximum.
