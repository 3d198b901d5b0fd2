### Durations and times.

# No space between number and unit, as in Intl.NumberFormat("zh"), which the script uses.
days = { $count }天
hours = { $count }小时
minutes = { $count }分钟
seconds = { $count }秒钟

date-and-time-format = %Y年%-m月%-d日 %H:%M UTC
time-of-day-format = %H:%M UTC
duration-joined = { $first } { $second }
thousands-separator = ,

size-kilobytes = { $count } kB
size-megabytes = { $count } MB
