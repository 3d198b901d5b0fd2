### Durations and times.

days = { $count ->
    [one] يوم
    [two] يومان
    [few] { $count } أيام
    [many] { $count } يومًا
   *[other] { $count } يوم
}
hours = { $count ->
    [one] ساعة
    [two] ساعتان
    [few] { $count } ساعات
   *[other] { $count } ساعة
}
minutes = { $count ->
    [one] دقيقة
    [two] دقيقتان
    [few] { $count } دقائق
   *[other] { $count } دقيقة
}
seconds = { $count ->
    [one] ثانية
    [two] ثانيتان
    [few] { $count } ثوانٍ
   *[other] { $count } ثانية
}

date-and-time-format = %-d/%-m/%Y، %H:%M UTC
time-of-day-format = %H:%M UTC
duration-joined = { $first } و{ $second }
thousands-separator = ,

size-kilobytes = { $count } كيلوبايت
size-megabytes = { $count } ميغابايت
