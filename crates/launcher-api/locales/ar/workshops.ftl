### Texts of the start page, the pages of a workshop and of a template, and the history.

my-workshops = ورشاتي
no-workshops = ليست لديك ورشات. يمكنك تشغيل ورشة أدناه.
has-ended = انتهت «{ $name }».
only-the-newest = تعرض هذه القائمة أحدث ورشاتك فقط.
show-all-mine = عرض كل ورشاتي
files-of-paused = الورشة المتوقفة مؤقتًا تحتفظ بملفاتك المحفوظة. استأنفها لمتابعة العمل، أو أنهِها.
waits-for = مدة الانتظار: { $value }
ends-in = الوقت المتبقي: { $value }
ends-warning = يُرجى حفظ عملك!
open = فتح
more-actions = المزيد من الإجراءات: { $name }
details = التفاصيل
keeps-files = تحتفظ بالملفات
extend-until = تمديد حتى { $value }
end = إنهاء
pause = إيقاف مؤقت
confirm-pause = هل تريد إيقاف هذه الورشة مؤقتًا؟ ستتوقف برامجها. ستجد الملفات التي حفظتها عندما تستأنفها.
resume = استئناف
paused-since = منذ { $value }
launch-again = تشغيل من جديد
parameter-optional = { $label } (اختياري)

parameter-choose = اختر…

parameter-secret = (سري)

parameter-secret-hint = لن تُعرض هذه القيمة مرة أخرى.

parameter-secret-help = { $help } لن تُعرض هذه القيمة مرة أخرى.

parameters-wrong = لم يُشغَّل أي شيء. صحّح هذه الحقول:

parameters-ignored = في الرابط قيم لا يستطيع ملأها. املأ هذه الحقول بنفسك، إذا كانت في النموذج: { $names }

dismiss = إخفاء
last-output = آخر أسطر المخرجات
crash-crashed = توقّف التطبيق بشكل غير متوقع وأُعيد تشغيله في: { $value }.
crash-out-of-memory = نفدت ذاكرة التطبيق وأُعيد تشغيله في: { $value }.
crash-moved = توقّف خادم الورشة في: { $value }. أُعيد تشغيل الورشة.
crash-files-kept = الملفات المحفوظة ما زالت موجودة.
crash-files-lost = فُقدت الملفات غير المحفوظة في مكان آخر.
crash-advice-crashed = إذا تكرر ذلك، يُرجى إخبار المدرّس بما حدث قبله.
crash-advice-out-of-memory = يُرجى تحميل بيانات أقل في المرة الواحدة، أو طلب قالب بذاكرة أكبر.
crash-advice-moved = يُرجى فتح الملفات من جديد. انتهت البرامج التي كانت قيد التشغيل.
material = مواد المقرر
material-placed = { "\u2066" }{ $target }{ "\u2069" }: تم التحميل
material-updated = { "\u2066" }{ $target }{ "\u2069" }: تم التحديث
material-unchanged = { "\u2066" }{ $target }{ "\u2069" }: محدَّثة
material-failed = { "\u2066" }{ $target }{ "\u2069" }: لم تُحمَّل
material-not-loaded = تعذّر تحميل مواد المقرر للمجلد { "\u2066" }{ $target }{ "\u2069" }.
material-not-loaded-advice = بدأت الورشة رغم ذلك. إذا كانت تحتفظ بملفاتك، ففي المجلد ملفات تشغيلك السابق. يُرجى إخبار المدرّس أو تشغيل الورشة من جديد لاحقًا.
material-conflicts = { $count ->
    [one] غيّرت أنت والمدرّس ملفًا واحدًا في المجلد { "\u2066" }{ $target }{ "\u2069" }.
    [two] غيّرت أنت والمدرّس ملفين في المجلد { "\u2066" }{ $target }{ "\u2069" }.
    [few] غيّرت أنت والمدرّس { $count } ملفات في المجلد { "\u2066" }{ $target }{ "\u2069" }.
   *[other] غيّرت أنت والمدرّس { $count } ملفًا في المجلد { "\u2066" }{ $target }{ "\u2069" }.
}
material-conflicts-advice = لم تتغيّر ملفاتك. توجد ملفات المدرّس بجانبها باسم آخر.
catalog = تشغيل ورشة

shared-catalog = { $count ->
    [one] ورشة أخرى
    [two] ورشتان أخريان
    [few] { $count } ورش أخرى
   *[other] { $count } ورشة أخرى
}
search-catalog = البحث في الكتالوج
search-hint = بحث
search = بحث
no-templates = لا توجد ورشات متاحة بعد.
create-first = إنشاء القالب الأول
nothing-found = لا توجد ورشة مطابقة لبحثك.
launch = تشغيل
have-one-short = لديك واحدة
have-one = لديك هذه الورشة بالفعل:
repository-added = تحصل الورشة على ملفات هذا المستودع:
repository-reference = الفرع أو الوسم أو الإيداع:
repository-folder = المجلد فقط:
repository-refused = يحدد الرابط مستودعًا لا يمكن استخدامه: { $wrong }.
last-one-failed = فشلت آخر ورشة لك من هذا القالب.
show-it = عرضها
launch-another = تشغيل ورشة أخرى
edit-template = تعديل القالب
all-workshops = كل الورشات
instance-name = الاسم
owner = المالك
app = التطبيق
launched-at = وقت التشغيل
ready-since = جاهزة منذ
latest-end = يمكن تمديدها حتى
ended-at = وقت الانتهاء
lasted = المدة
why-ended = سبب الانتهاء
belongs-to = المالك: { $value }
end-workshop = إنهاء الورشة
keep-it = الإبقاء عليها
pause-title = إيقاف { $name } مؤقتًا
pause-question = هل تريد إيقاف «{ $name }» مؤقتًا؟
pause-warning = تتوقف كل البرامج في الورشة، ويُفقد العمل غير المحفوظ. ستجد الملفات التي حفظتها عندما تستأنف الورشة. يمكنك استئنافها في أي وقت.
pause-workshop = إيقاف الورشة مؤقتًا
pause-cancel = دعها تعمل
ended-workshops = الورشات المنتهية
workshop = الورشة
no-history = لم تنتهِ أي من ورشاتك بعد.
saved-work = العمل المحفوظ
saved-work-all = العمل المحفوظ للجميع
saved-work-about = تحتفظ بعض الورشات بملفاتها. ستجدها عند تشغيل الورشة نفسها في المرة التالية.
snapshots-about = تحفظ بعض الورشات ملفاتها هنا عند انتهائها لمدة { $time }. تذكر صفحة الورشة ذلك.
no-saved-work = لا يوجد عمل محفوظ بعد.
saved-work-shared = مشترك بين عدة ورشات
saved-work-size = المساحة
saved-work-last-used = آخر استخدام
saved-work-deleted-after = يُحذف إن لم يُستخدم حتى
saved-work-in-use = قيد الاستخدام
snapshot-size = الحجم
snapshot-saved-at = وقت الحفظ
snapshot-deleted-on = وقت الحذف
saved-work-delete = حذف
saved-work-download = تنزيل
saved-work-question = حذف العمل المحفوظ في «{ $name }»؟
saved-work-warning = تُحذف جميع الملفات ولا يمكن لأحد استعادتها. يبدأ التشغيل التالي دون ملفات.
snapshot-warning = تُحذف جميع الملفات ولا يمكن لأحد استعادتها.
saved-work-delete-now = حذف جميع الملفات
saved-work-keep = الاحتفاظ بالملفات
snapshot-pending = يجري حفظ ملفاتك قبل انتهاء الورشة.
snapshot-saved = ملفاتك محفوظة.
snapshot-saved-until = ملفاتك محفوظة حتى { $value }.
snapshot-deleted = حُذفت الملفات المحفوظة لهذه الورشة.
snapshot-failed = تعذّر حفظ ملفاتك. { $reason }
snapshot-failure-time-limit = لم تُحفظ في الوقت المحدد.
snapshot-failure-too-large = حجمها أكبر من 2 غيبيبايت.
snapshot-failure-limit-reached = ملفات 20 ورشة محفوظة بالفعل. يُرجى حذف بعضها أولًا.
snapshot-failure-files-unavailable = تعذّر على الخدمة قراءتها.
snapshot-failure-store-unavailable = تعذّر على الخدمة تخزينها.
snapshot-failure-workshop-gone = كانت الورشة قد توقفت بالفعل.
in-new-tab = { $name } (في علامة تبويب جديدة)
show-all = عرض الكل ({ $offered })
found = النتائج: { $found } من { $offered }
lasts = المدة: { $lifetime }
lasts-extensible = المدة: { $lifetime }، والحد الأقصى بالتمديد: { $longest }
end-title = إنهاء { $name }
end-question = إنهاء «{ $name }»؟

outdated = تعمل هذه الورشة بإصدار أقدم من الحاوية الجانبية (sidecar) أو الإعدادات.
outdated-restart = إعادة تشغيل الورشات ذات الإصدار الأقدم
files-are-deleted = تُحذف ملفات الورشة عند انتهائها. يُرجى تنزيل ما يلزم الاحتفاظ به.
files-are-kept = تُحفظ الملفات عند انتهاء الورشة: ستجدها عند التشغيل التالي.
files-are-kept-for = تُحفظ الملفات عند انتهاء الورشة: ستجدها عند التشغيل التالي. تُحذف بعد { $time } دون استخدام.
files-are-saved = تُحفظ الملفات عند انتهاء الورشة لمدة { $time }.
files-none-yet = ليس للورشة ملفات بعد.
saves-files = تحفظ الملفات لمدة { $time }
deletes-files = تحذف الملفات في النهاية
confirm-end = إنهاء هذه الورشة؟ { $files }
end-warning = ستتوقف الورشة. { $files }
material-short-failed = لم تُحمَّل
material-short-conflicts = تعارضات
failure-report =
    { $template } ({ $workshop })
    وقت التشغيل: { $time }
    { $failure }
    { $line }
copy-report = نسخ لمعلمي
copied-report = تم النسخ

launch-with-files = تشغيل بهذه الملفات
files-launch-note = تبدأ الورشة بملفاتك المحفوظة:
saved-work-download-zip = تنزيل بصيغة zip
