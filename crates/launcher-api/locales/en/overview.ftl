### Texts of the admins' overview.

# Time at which the figures were read.
overview-as-of = As of { $value }

# Name of the numbers of instances by state, for screen readers.
overview-instances-now = Instances now

# Heading of the charts.
overview-last-day = The last 24 hours

# Label at the start of a chart's time axis.
overview-day-ago = 24 h ago

# Label at the end of a chart's time axis.
overview-now = now

# Title of the chart of launches, and column head.
overview-launches = Launches

# Legend entry for all launches, in the chart of launches.
overview-key-launched = launched

# Legend entry for failed launches, in the chart of launches.
overview-key-failed = failed

# Title of the chart of workshops in use.
overview-in-use = In use

# Title of the chart of times from launch to ready.
overview-launch-to-ready = Launch to ready

# Legend of the chart of times to ready: the median.
overview-key-p50 = half of the starts

# Legend of the chart of times to ready: the 95th percentile.
overview-key-p95 = 19 of 20 starts

# Heading of the table of templates.
overview-by-template = By template

# Column head: number of failed launches.
overview-failures = Failed

# Column head: number of ready instances.
overview-ready-now = Ready now

# Column head: median time to ready.
overview-p50-ready = Half ready within

# Column head: 95th percentile of the time to ready.
overview-p95-ready = 19 of 20 ready within

# Label that opens the table of hours, and the name of that table.
overview-by-hour = Hour by hour

# Column head: start of the hour.
overview-hour-from = Start of hour

# Column head: workshops in use at the end of the hour.
overview-in-use-at-end = In use at the end

# Text if no workshop was launched in the last 24 hours.
overview-nothing-launched = No launches in the last 24 hours.

# Explanation of the table of hours.
overview-hours-hint = A failed launch counts in the hour of its launch. The column “In use at the end” counts workshops that were ready or ending. It omits workshops that failed later.

# Placeholder for a missing figure.
overview-none = –

# A time to ready with at most two units. $seconds has one decimal place if it is below ten.
overview-seconds = { $seconds } s
overview-minutes = { $minutes } min
overview-minutes-seconds = { $minutes } min { $seconds } s
overview-hours = { $hours } h
overview-hours-minutes = { $hours } h { $minutes } min

# Note below the number of launches. $percent: a number, or the next message.
overview-none-failed = none failed
overview-failed = { $failures } failed ({ $percent } %)
overview-failed-few = { $failures } failed (less than 1 %)

# Note below the number of workshops in use.
overview-use-note = now, maximum { $most }

# Note below the median time to ready.
overview-ready-note = for half of the starts; { $p95 } for 19 of 20
overview-not-ready-yet = no workshop was ready yet

# Descriptions of the charts for screen readers. $note: the note below the figure. $when: one of the three messages below.
overview-launches-summary = Launches in each of the last 24 hours: { $launches } in total, { $note }.
overview-launches-peak = Maximum in one hour: { $most }, { $when }.
overview-use-summary = Workshops in use at the end of each of the last 24 hours: { $now } now.
overview-use-peak = Maximum: { $most }, { $when }.
overview-ready-summary = Time from launch to ready in each of the last 24 hours: half of the starts within { $p50 }, 19 of 20 within { $p95 }.
overview-ready-peak = Slowest hour: 19 of 20 starts within { $most }, { $when }.
overview-never-ready = No workshop became ready in the last 24 hours.
overview-when = { $hours ->
    [0] in the last hour
    [one] 1 hour ago
   *[other] { $hours } hours ago
}

# Between the whole seconds and the tenths of a second.
overview-decimal-point = .
