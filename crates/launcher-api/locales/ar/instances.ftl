### Texts of the admins' list of all instances, and of the bulk actions.

instances = المثيلات
instance = المثيل
template = القالب
every-template = الكل
state = الحالة
not-ended = غير المنتهية
everything-ended = المنتهية
every-state = الكل
action = الإجراء
no-instances = لا توجد مثيلات مطابقة للتصفية.
not-an-email = هذا ليس عنوان بريد إلكتروني. تعرض القائمة مثيلات الجميع.
more = المزيد
tick-all = تحديد الكل
bulk-form = المثيلات المحددة
bulk-form-title = المثيلات المحددة:
extend = تمديد
bulk-end-title = إنهاء الورشات
bulk-end-now = إنهاء الآن
bulk-keep = الإبقاء عليها
back-to-list = العودة إلى القائمة
bulk-results = النتائج
result = النتيجة
bulk-until = تعمل حتى { $value }
not-done = لم يُنفَّذ:
try-again = لا تستطيع الخدمة الاستجابة حاليًا. يُرجى إعادة المحاولة بعد دقيقة.
nothing-ticked = لم يُحدَّد أي مثيل.
bulk-what = في النموذج إجراء غير معروف.

sorted-by-template = القالب
sorted-by-owner = المالك
sorted-by-state = الحالة
sorted-by-launch = وقت التشغيل
sorted-by-end = وقت الانتهاء

tick = تحديد { $name }

bulk-end-question = { $count ->
    [one] إنهاء ورشة واحدة؟
    [two] إنهاء ورشتين؟
    [few] إنهاء { $count } ورشات؟
   *[other] إنهاء { $count } ورشة؟
}

bulk-ended = تم إنهاء { $done } من { $all }
bulk-ended-none = الإنهاء
bulk-extended = تم تمديد { $done } من { $all }
bulk-extended-none = التمديد

bulk-too-many = الحد الأقصى للمثيلات المحددة في المرة الواحدة: { $most }.
instance-search = بحث
instance-search-hint = المالك أو القالب أو المثيل
only-owner = مثيلات { $owner } فقط.

instance-count = { $count ->
    [zero] لا توجد مثيلات
    [one] مثيل واحد
    [two] مثيلان
    [few] { $count } مثيلات
    [many] { $count } مثيلًا
   *[other] { $count } مثيل
}
instance-count-more = أكثر من { $limit } مثيل
instance-count-newest = عدد النتائج بين أحدث { $limit } مثيل: { $count }
instance-search-newest = يشمل البحث أحدث { $limit } مثيل فقط. للبحث في مثيلات أقدم، يُرجى اختيار قالب.

outdated-count = { $count ->
    [one] تعمل ورشة واحدة بإصدار أقدم من الحاوية الجانبية (sidecar) أو الإعدادات.
    [two] تعمل ورشتان بإصدار أقدم من الحاوية الجانبية (sidecar) أو الإعدادات.
    [few] تعمل { $count } ورشات بإصدار أقدم من الحاوية الجانبية (sidecar) أو الإعدادات.
   *[other] تعمل { $count } ورشة بإصدار أقدم من الحاوية الجانبية (sidecar) أو الإعدادات.
}
restart = إعادة التشغيل
restart-title = إعادة تشغيل الورشات
restart-question = { $count ->
    [one] إعادة تشغيل ورشة واحدة؟
    [two] إعادة تشغيل ورشتين؟
    [few] إعادة تشغيل { $count } ورشات؟
   *[other] إعادة تشغيل { $count } ورشة؟
}
restart-warning = سيُفقد العمل غير المحفوظ في هذه الورشات. تبدأ كل ورشة من جديد بالإصدار الحالي. لا تتغيّر أوقات الانتهاء.
restart-keeps-files = تُحفظ الملفات: تجدها الورشة من جديد بعد إعادة التشغيل.
restart-deletes-files = تحذف إعادة التشغيل ملفات الورشة. يمكن لصاحبها تنزيلها قبل ذلك.
restart-first = تعرض هذه الصفحة { $listed } من أصل { $all } ورشة. لإعادة تشغيل البقية، يُرجى فتحها مجددًا لاحقًا.
restart-now = إعادة التشغيل الآن
restart-none = لا توجد ورشة تعمل بإصدار أقدم.
bulk-restarted = تمت إعادة تشغيل { $done } من { $all }
bulk-restarted-none = إعادة التشغيل
restart-requested = جارٍ إعادة تشغيل الورشة.
files-of-some = عدد الورش { $count }: { $files }
