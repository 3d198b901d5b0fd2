### Texts of the admins' overview.

overview-as-of = آخر تحديث: { $value }
overview-instances-now = المثيلات الآن
overview-last-day = آخر 24 ساعة
overview-day-ago = قبل 24 ساعة
overview-now = الآن
overview-launches = مرات التشغيل
overview-key-launched = شُغّلت
overview-key-failed = فشلت
overview-in-use = قيد الاستخدام
overview-launch-to-ready = من التشغيل إلى الجاهزية
overview-key-p50 = نصف مرات التشغيل
overview-key-p95 = 19 من كل 20 مرة تشغيل
overview-by-template = حسب القالب
overview-failures = فشلت
overview-ready-now = جاهزة الآن
overview-p50-ready = النصف جاهز خلال
overview-p95-ready = 19 من 20 جاهزة خلال
overview-by-hour = ساعة بساعة
overview-hour-from = بداية الساعة
overview-in-use-at-end = قيد الاستخدام في نهايتها
overview-nothing-launched = لم تُشغَّل أي ورشة في آخر 24 ساعة.
overview-hours-hint = التشغيل الذي فشل يُحتسب في الساعة التي بدأ فيها. يشمل العمود «قيد الاستخدام في نهايتها» الورشات التي كانت جاهزة أو قيد الإنهاء. ولا يشمل الورشات التي فشلت لاحقًا.
overview-none = –

overview-seconds = { $seconds } ث
overview-minutes = { $minutes } د
overview-minutes-seconds = { $minutes } د { $seconds } ث
overview-hours = { $hours } س
overview-hours-minutes = { $hours } س { $minutes } د

overview-none-failed = لم تفشل أي منها
overview-failed = فشل منها { $failures } ({ $percent }%)
overview-failed-few = فشل منها { $failures } (أقل من 1%)

overview-use-note = الآن، والحد الأقصى { $most }

overview-ready-note = لنصف مرات التشغيل؛ و{ $p95 } لـ 19 من كل 20
overview-not-ready-yet = لم تصبح أي ورشة جاهزة بعد

overview-launches-summary = مرات التشغيل في كل ساعة من آخر 24 ساعة: المجموع { $launches }، { $note }.
overview-launches-peak = الحد الأقصى في ساعة واحدة: { $most }، { $when }.
overview-use-summary = الورشات قيد الاستخدام في نهاية كل ساعة من آخر 24 ساعة: { $now } الآن.
overview-use-peak = الحد الأقصى: { $most }، { $when }.
overview-ready-summary = الوقت من التشغيل إلى الجاهزية في كل ساعة من آخر 24 ساعة: نصف مرات التشغيل خلال { $p50 }، و19 من كل 20 خلال { $p95 }.
overview-ready-peak = أبطأ ساعة: 19 من كل 20 مرة تشغيل خلال { $most }، { $when }.
overview-never-ready = لم تصبح أي ورشة جاهزة في آخر 24 ساعة.
overview-when = { $hours ->
    [0] في الساعة الأخيرة
    [one] قبل ساعة واحدة
    [two] قبل ساعتين
    [few] قبل { $hours } ساعات
   *[other] قبل { $hours } ساعة
}
overview-decimal-point = .
