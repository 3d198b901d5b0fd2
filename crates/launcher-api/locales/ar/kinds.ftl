### States, reasons, app types and security profiles.

state-queued = في الانتظار
state-starting = جارٍ البدء
state-running = جاهزة
state-suspending = جارٍ الإيقاف المؤقت
state-suspended = متوقفة مؤقتًا
state-terminating = جارٍ الإنهاء
state-terminated = انتهت
state-failed = فشلت

state-next = { $state }: التالية في الدور
state-position = { $state }: الترتيب { $position }
state-step = { $state }: { $step }

step-waiting-for-quota = بانتظار انتهاء ورشة أخرى من ورش الصف
step-waiting-for-room = بانتظار توفّر متسع
step-waiting-for-room-progress = بانتظار توفّر متسع، الموضع { $position }
step-preparing = تجهيز الورشة
step-pulling-image = تنزيل صورة الحاوية، ويستغرق ذلك وقتًا أطول في المرة الأولى
step-pulling-image-progress = تنزيل صورة الحاوية: { $percent }٪
step-pulling-image-unpacking = فك ضغط صورة الحاوية بعد تنزيلها
step-loading-material = تحميل مواد المقرر
step-starting-app = بانتظار استجابة التطبيق
step-restarting-app = توقّف التطبيق ويُعاد تشغيله

end-owner = أنهاها مالكها
end-admin = أنهاها أحد المسؤولين
end-teacher = أنهاها أحد المدرّسين
end-expired = انتهى وقتها
end-failed = فشلت
end-lost = فقدها الخادم، أو أزالها أحد المسؤولين

app-rstudio = RStudio
app-notebook = دفتر Jupyter
app-custom = تطبيق ويب

profile-restricted = restricted: دون صلاحيات root (مستحسن)
profile-baseline = baseline: صلاحيات root داخل الحاوية (تحتاج إليها صور RStudio القياسية)
storage-none = حذف الملفات
storage-workshop = حذف الملفات عند الانتهاء، مع إبقائها بعد تعطّل التطبيق
storage-kept = حفظ ملفات كل شخص
storage-home = حفظ ملفات كل شخص، مشتركة مع قوالب أخرى
at-expiry-end = تنتهي الورشة
at-expiry-suspend = تتوقف الورشة مؤقتًا

icon-of-app = حسب التطبيق
icon-notebook = دفتر
icon-statistics = إحصاء
icon-code = شيفرة برمجية
icon-terminal = طرفية
icon-web = صفحة ويب
icon-database = قاعدة بيانات
icon-chart = مخطط بياني
icon-globe = كرة أرضية
icon-book = كتاب
icon-flask = دورق

color-of-name = حسب الاسم
color-rose = زهري
color-red = أحمر
color-orange = برتقالي
color-yellow = أصفر
color-lime = ليموني
color-green = أخضر
color-teal = أخضر مزرق
color-cyan = سماوي
color-blue = أزرق
color-indigo = نيلي
color-purple = بنفسجي
color-pink = وردي
