### Texts of the list of templates, and of the editor.

editor-new-template = قالب جديد
editor-in-catalog = في الكتالوج
editor-yes = نعم
editor-archived = مؤرشف
editor-changed = آخر تعديل
editor-actions = الإجراءات
editor-edit = تعديل
editor-duplicate = إنشاء نسخة
editor-archive = أرشفة
editor-restore = استعادة
editor-all-templates = كل القوالب
editor-create = إنشاء القالب
editor-save = حفظ التغييرات
editor-show-preview = معاينة
editor-save-and-try = حفظ وتجربة
editor-cancel = إلغاء
editor-preview-title = معاينة
editor-preview = لم يُحفظ شيء بعد. في ما يلي بطاقة القالب في الكتالوج، وصفحته.
editor-conflict-title = عدّل مسؤول آخر هذا القالب في أثناء تعديلك له.
editor-conflict = لم تُحفظ تغييراتك بعد، وهي موجودة في النموذج أدناه. لرؤية التغييرات الأخرى، يمكن فتح هذه الصفحة في علامة تبويب ثانية. عند الحفظ مجددًا، ستحلّ تغييراتك محلّها.
editor-form-has-errors = لم يُحفظ شيء. يُرجى تصحيح هذه الحقول:
editor-not-a-kind = يُرجى اختيار نوع تطبيق من القائمة.
editor-not-a-profile = يُرجى اختيار ملف أمان من القائمة.
editor-not-a-storage = يُرجى اختيار عنصر من القائمة.
editor-not-a-number = يُرجى إدخال عدد صحيح.
editor-created-by = المُنشئ: { $author }
editor-the-service = الخدمة
editor-copy-of = نسخة من { $name }
editor-wrong-word = الكلمة { $number }: { $wrong }
editor-wrong-entry = المدخل { $number }: { $wrong }

editor-second-time = يعيّن صف آخر { $name }. يجب تعيين كل متغير مرة واحدة فقط.

editor-presets = نقطة البداية
editor-preset-source = توثيق { $name }
editor-preset-no-image = لا توجد صورة عامة. ابنِ صورة من هذا الـ { "\u2066" }Dockerfile{ "\u2069" }، وارفعها إلى مستودع الصور لديك، واكتب اسمها في حقل صورة الحاوية. تصبح الملفات المجاورة للـ { "\u2066" }Dockerfile{ "\u2069" } ملفات للتطبيق.
preset-jupyterlab = JupyterLab
preset-rstudio = RStudio
preset-vscode = VS Code
preset-marimo = marimo
preset-streamlit = Streamlit
preset-gradio = Gradio
preset-shiny = { "\u2066" }Shiny for Python{ "\u2069" }
preset-dash = Dash
preset-panel = Panel
preset-voila = Voila
preset-terminal = الطرفية
preset-desktop = سطح المكتب
preset-web = تطبيق ويب

editor-not-yaml = السطر { $line } ليس بصيغة YAML: { "\u2066" }{ $message }{ "\u2069" }
editor-not-a-yaml-object = يُكتب كائن YAML فيه الحقلان { "\u2066" }metadata{ "\u2069" } و{ "\u2066" }spec{ "\u2069" }.
editor-not-a-size = يُرجى كتابة الحجم بالأرقام والوحدات الإنجليزية، مثل { "\u2066" }512 MB{ "\u2069" } أو { "\u2066" }10 GB{ "\u2069" } أو { "\u2066" }2 GiB{ "\u2069" }.
editor-not-a-gpu-count = يُرجى إدخال عدد صحيح من 0 إلى { $most }.
editor-not-a-secret-name = يُرجى كتابة اسم Secret واحد: أحرف لاتينية صغيرة وأرقام وواصلات ونقاط.
editor-not-a-label = السطر { $line } ليس تسمية. الصيغة المطلوبة هي { "\u2066" }key=value{ "\u2069" }.
editor-repeated-label = يكرّر السطر { $line } المفتاح { $name }. يُكتب كل مفتاح مرة واحدة فقط.
editor-set-in-yaml = يحتوي حقل «قالب الـ Pod» أيضًا على { $setting }. يُرجى حذفه من هناك، أو إفراغ هذا الحقل.
editor-not-a-list = يُرجى كتابة سطر كما في shell، أو قائمة نصوص بصيغة JSON، مثل { "\u2066" }["sh", "-c", "…"]{ "\u2069" }.
editor-not-an-icon = يُرجى اختيار أيقونة من القائمة.
editor-not-a-color = يُرجى اختيار لون من القائمة.
editor-saved = تم الحفظ. هذا رابط القالب لطلابك:
editor-by-link = بالرابط فقط

image-ready = صورة الحاوية جاهزة على هذا الخادم
image-missing = صورة الحاوية غير موجودة على هذا الخادم
image-pulling = جارٍ تنزيل صورة الحاوية
image-failed = لم يتم تنزيل صورة الحاوية

image-pulling-percent = جارٍ التنزيل: { $percent }٪
image-unpacking = جارٍ فك ضغط صورة الحاوية بعد تنزيلها

image-download = التنزيل الآن

image-retry = إعادة المحاولة

image-begun-title = جارٍ تنزيل صورة الحاوية.

image-begun = يستمر التنزيل من أجل { $name } حتى عند مغادرة هذه الصفحة.

image-check-template = يُرجى التحقّق من اسم صورة الحاوية ووسمها في القالب. يجب أن يسمح مستودع الصور بالتنزيل من دون تسجيل الدخول.
image-check-registry = يُرجى التحقّق من قدرة الخادم على الوصول إلى مستودع الصور، ثم إعادة المحاولة.
image-check-disk = يُرجى إزالة الصور غير المستخدمة من الخادم، ثم إعادة المحاولة.

editor-more = المزيد

editor-remove = إزالة
editor-check = فحص

editor-short-link = الرابط لصفّك:

editor-not-in-list = يُرجى اختيار بند من القائمة.

editor-not-decimal = يُرجى كتابة عدد مثل 12 أو 0.5.

editor-found-files = { $files ->
    [one] ملف واحد
    [two] ملفان
    [few] { $files } ملفات
   *[other] { $files } ملفًا
 }، { $size }

editor-found-branch = تم العثور على: الفرع { $ref }، الإيداع { $version }
editor-found-commit = تم العثور على: الإيداع { $version }
editor-found-archive = تم العثور على أرشيف

editor-joined-facts = { $first }، { $second }.

editor-check-busy = هناك عمليات فحص أخرى جارية. يُرجى المحاولة بعد نصف دقيقة.
editor-check-failed = تعذّر فحص العنوان. يُرجى المحاولة مرة أخرى، أو حفظ القالب وتجربته.

editor-unfound-title = لم يُحفظ شيء بعد: لم يُعثر على مواد المقرر.
editor-unfound = يُرجى تصحيح العناوين أدناه. أو يمكن حفظ القالب على أي حال: تبدأ ورشه عندئذ دون هذه الملفات.
editor-save-anyway = حفظ على أي حال

editor-size = الحجم
editor-size-figures = من { $cpu_request } إلى { $cpu_limit } CPU، ومن { $memory_request } إلى { $memory_limit } ذاكرة
editor-size-other = أخرى
editor-size-other-figures = تسري القيم الواردة ضمن «{ editor-more }»
size-small = صغير
size-medium = متوسط
size-large = كبير

editor-class-images = يسمح هذا الصف بهذه الصور: { $images }
