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

usual-start = مدة البدء المعتادة: { $duration }.
