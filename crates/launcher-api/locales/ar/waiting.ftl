### Texts of the waiting page.

steps = خطوات البدء
step-done = اكتملت
step-current = جارية
opens-by-itself = ستُفتح الورشة من هذه الصفحة تلقائيًا عندما تصبح جاهزة.
is-ready = الورشة جاهزة، وستُفتح الآن.
cancel = إلغاء
start-log = سجل البدء

start-step-queue = المرور بقائمة الانتظار
start-step-prepare = إيجاد مكان وتجهيز الورشة
start-step-image = تنزيل صورة الحاوية عند الحاجة
start-step-downloads = تنزيل مواد المقرر، وصورة الحاوية عند الحاجة
start-step-app = بدء التطبيق
wait-queue = { $before ->
    [0] دورك هو التالي.
    [one] قبلك شخص واحد.
    [two] قبلك شخصان.
    [few] قبلك { $before } أشخاص.
   *[other] قبلك { $before } شخصًا.
}
wait-queue-about = { $before ->
    [0] دورك هو التالي. جاهزة خلال { $time } تقريبًا.
    [one] قبلك شخص واحد. جاهزة خلال { $time } تقريبًا.
    [two] قبلك شخصان. جاهزة خلال { $time } تقريبًا.
    [few] قبلك { $before } أشخاص. جاهزة خلال { $time } تقريبًا.
   *[other] قبلك { $before } شخصًا. جاهزة خلال { $time } تقريبًا.
}
wait-room = { $before ->
    [0] كل الأماكن مشغولة. تبدأ ورشتك عند توفر مكان.
    [one] كل الأماكن مشغولة. قبلك شخص واحد.
    [two] كل الأماكن مشغولة. قبلك شخصان.
    [few] كل الأماكن مشغولة. قبلك { $before } أشخاص.
   *[other] كل الأماكن مشغولة. قبلك { $before } شخصًا.
}
wait-about = جاهزة خلال { $time } تقريبًا.
wait-longer = يستغرق هذا وقتًا أطول من المعتاد.
wait-starting = ورشتك قيد البدء.
wait-progress = تقدّم البدء
wait-details = التفاصيل
doing-waiting-for-quota = بانتظار انتهاء ورشة أخرى من ورش الصف.
doing-waiting-for-room = بانتظار مكان شاغر.
doing-preparing = تُجهَّز ورشتك.
doing-pulling-image = يُجلب البرنامج. المرة الأولى تستغرق وقتًا أطول.
doing-loading-material = تُجلب ملفات المقرر.
doing-starting-app = يبدأ التطبيق.
doing-restarting-app = توقّف التطبيق ويُعاد تشغيله.
start-step-material = تنزيل مواد المقرر
material-trouble-failed = لم تُحمَّل ملفات المقرر
material-trouble-conflicts = تغيّرت الملفات نفسها منك ومن معلمك
open-anyway = فتح على أي حال
material-try-again = إعادة المحاولة
material-try-again-about = «إعادة المحاولة» تنهي هذه الورشة وتشغّلها من جديد. { $files }
