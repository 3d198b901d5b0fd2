### Texts for the owner at the address of a workshop that does not run.

stopped-title = لا توجد ورشة هنا الآن
stopped-owner = لقد أنهيت «{ $name }».
stopped-admin = أنهى أحد المسؤولين «{ $name }».
stopped-teacher = أنهى أحد المدرّسين «{ $name }».
stopped-expired = انتهى وقت «{ $name }».
stopped-failed = فشلت «{ $name }».
stopped-lost = فقد الخادم «{ $name }»، أو أزالها أحد المسؤولين.
stopped-at = انتهت في { $time }.
stopped-paused = «{ $name }» متوقفة مؤقتًا.
stopped-starting-title = الورشة قيد البدء
stopped-starting = لم تستجب «{ $name }» بعد. ستُفتح هنا عندما تصبح جاهزة.
stopped-files-kept = يُحتفظ بملفاتك. ستجدها مجددًا عند التشغيل التالي.
stopped-files-deleted = حُذفت ملفات هذه الورشة.
stopped-saved-work = العمل المحفوظ
stopped-page = فتح صفحتها
