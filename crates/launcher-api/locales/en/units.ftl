### Durations and times.

# Parts of a duration in words, joined by spaces: "2 hours 5 minutes".
days = { $count ->
    [one] 1 day
   *[other] { $count } days
}
hours = { $count ->
    [one] 1 hour
   *[other] { $count } hours
}
minutes = { $count ->
    [one] 1 minute
   *[other] { $count } minutes
}
seconds = { $count ->
    [one] 1 second
   *[other] { $count } seconds
}

# Formats of times, which the script replaces by local time. Directives as in strftime: %-d day, %-m month, %b English
# name of the month, %Y year, %H:%M time of day.
date-and-time-format = %-d %b %Y, %H:%M UTC
time-of-day-format = %H:%M UTC

# Joins two parts of a duration.
duration-joined = { $first } { $second }

# Separates groups of three digits in a number.
thousands-separator = ,

# Sizes of files.
size-kilobytes = { $count } kB
size-megabytes = { $count } MB
