### The small page that extends a workshop, which the bar above a workshop opens.

extend-title = تمديد { $name }
ends-at = وقت الانتهاء: { $value }.
extended = تم تمديد الورشة.
cannot-extend = هذه الورشة ليست قيد التشغيل، لذا لا يمكن تمديدها.
close-window = إغلاق هذه النافذة

beyond-button = تمديد بعد الحد الأقصى
beyond-title = تمديد { $name } بعد الحد الأقصى
beyond-question = هل تريد تمديد { $name } بعد مدتها القصوى؟
beyond-warning = يضيف هذا { $added }. المدة القصوى لهذه الورشة { $longest }. يعرض سجل النشاط من تجاوزها وبأي مقدار.
beyond-cancel = عدم التمديد
bulk-beyond-question = { $count ->
    [one] هل تريد تمديد ورشة واحدة بعد مدتها القصوى؟
   *[other] هل تريد تمديد الورش بعد مدتها القصوى؟ العدد: { $count }
}
bulk-beyond-warning = يعرض سجل النشاط من تجاوز المدة القصوى وبأي مقدار.
at-maximum = { $count ->
    [one] تنتهي ورشة واحدة قبل ذلك لأنها بلغت مدتها القصوى.
   *[other] ورش تنتهي قبل ذلك لأنها بلغت مدتها القصوى: { $count }
}
beyond-until = تمديد بعد الحد الأقصى حتى { $value }
maximum-title = المدة القصوى لقالب { $name }
maximum-question = { $count ->
    [one] هل تريد تطبيق المدة القصوى { $longest } على ورشة حالية واحدة؟
   *[other] هل تريد تطبيق المدة القصوى { $longest } على الورش الحالية؟ العدد: { $count }
}
maximum-warning = تم حفظ { $name }. تحصل الورش الجديدة على المدة القصوى الجديدة. تحتفظ الورش التي أُطلقت سابقًا بالمدة الأقصر ما لم تطبّق الجديدة. لا يتغير موعد انتهاء أي ورشة بسبب ذلك.
maximum-button = تطبيق على الورش الحالية
maximum-cancel = للورش الجديدة فقط
maximum-raised = { $count ->
    [one] لورشة واحدة المدة القصوى الجديدة.
   *[other] ورش لها المدة القصوى الجديدة: { $count }
}
maximum-raised-text = يمكن الآن تمديدها حتى المدة القصوى الجديدة.
