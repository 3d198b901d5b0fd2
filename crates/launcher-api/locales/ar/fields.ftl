### Labels and hints of the fields in the template editor.

field-shown = بيانات الكتالوج

field-run = التطبيق

field-used = الموارد

field-lasting = المدة

field-name = الاسم
    .hint = من 1 إلى 80 حرفًا.

field-description = الوصف
    .hint = بصيغة Markdown، وبحد أقصى 4000 حرف. تعرض البطاقة الأسطر الأولى.

field-active = في الكتالوج
    .hint = يمكن للمستخدمين تشغيله. إذا أُزيل من الكتالوج، تستمر الورشات قيد التشغيل في العمل.

field-app-type = نوع التطبيق

field-image = صورة الحاوية
    .hint = مثال: quay.io/jupyter/base-notebook:latest.

field-port = المنفذ
    .hint = المنفذ الذي يستمع إليه التطبيق. إذا تُرك الحقل فارغًا: 8787 لتطبيق RStudio، و8888 لتطبيق Jupyter. إلزامي لتطبيق الويب.

field-command = الأمر
    .hint = { field-words }

field-arguments = وسيطات الأمر
    .hint = { field-words }

field-environment = متغيرات البيئة
    .hint = متغير واحد بصيغة NAME=value في كل سطر. القيمة التي فيها فواصل أسطر تُكتب على شكل سلسلة JSON: { "\u2066" }KEY="a\nb"{ "\u2069" }. كل من يشغّل الورشة يمكنه قراءة هذه القيم، لذا يجب ألا تتضمن بيانات سرية.

field-security-profile = ملف الأمان

field-cpu-request = طلب CPU
    .hint = ما يُحجز للورشة. إذا تُرك الحقل فارغًا: 100m.

field-cpu-limit = حد CPU
    .hint = الحد الأقصى للورشة. إذا تُرك الحقل فارغًا: 2.

field-memory-request = طلب الذاكرة
    .hint = ما يُحجز للورشة. إذا تُرك الحقل فارغًا: 256Mi.

field-memory-limit = حد الذاكرة
    .hint = الحد الأقصى للورشة. إذا تُرك الحقل فارغًا: 2Gi.

field-lifetime = المدة بالثواني
    .hint = الوقت من الجاهزية حتى الانتهاء. إذا تُرك الحقل فارغًا: 7200 (ساعتان).

field-extension = التمديد بالثواني
    .hint = الوقت الذي يضيفه كل تمديد. إذا تُرك الحقل فارغًا: 3600 (ساعة واحدة).

field-longest = المدة القصوى بالثواني
    .hint = لا يمكن أن يتجاوزها التمديد. إذا تُرك الحقل فارغًا: 28800 (ثماني ساعات).

field-words = كلمة واحدة في كل سطر. يشير { "\u2066" }$(PORT){ "\u2069" } إلى منفذ التطبيق. الكلمة التي فيها فاصل أسطر، أو مسافات في أولها أو آخرها، تُكتب على شكل سلسلة JSON: { "\u2066" }"a\nb"{ "\u2069" }.
