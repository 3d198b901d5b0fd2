### Texts of the activity log.

person = الشخص
activity-list = النشاط، الأحدث أولًا
no-activity = لم يُعثر على أي نشاط.
not-a-person = هذا ليس عنوان بريد إلكتروني. تعرض القائمة نشاط الجميع.

activity-launched = { $actor }: تشغيل الورشة { $subject }.
activity-launched-for = { $actor }: تشغيل الورشة { $subject } (المالك: { $owner }).
activity-extended = { $actor }: تمديد الورشة { $subject } حتى { $until }.
activity-extended-for = { $actor }: تمديد الورشة { $subject } (المالك: { $owner }) حتى { $until }.
activity-extended-beyond-maximum = { $actor }: تمديد الورشة { $subject } حتى { $until }، أي بعد مدتها القصوى بمقدار { $duration }.
activity-extended-beyond-maximum-for = { $actor }: تمديد الورشة { $subject } (المالك: { $owner }) حتى { $until }، أي بعد مدتها القصوى بمقدار { $duration }.
activity-maximum-raised = { $actor }: رفع المدة القصوى للورشة { $subject } إلى { $duration }.
activity-maximum-raised-for = { $actor }: رفع المدة القصوى للورشة { $subject } (المالك: { $owner }) إلى { $duration }.
activity-restarted = { $actor }: إعادة تشغيل الورشة { $subject }.
activity-restarted-for = { $actor }: إعادة تشغيل الورشة { $subject } (المالك: { $owner }).
activity-suspended = { $actor }: إيقاف الورشة { $subject } مؤقتًا.
activity-suspended-for = { $actor }: إيقاف الورشة { $subject } مؤقتًا (المالك: { $owner }).
activity-resumed = { $actor }: استئناف الورشة { $subject }.
activity-resumed-for = { $actor }: استئناف الورشة { $subject } (المالك: { $owner }).
activity-ended = { $actor }: إنهاء الورشة { $subject }.
activity-ended-for = { $actor }: إنهاء الورشة { $subject } (المالك: { $owner }).
activity-failed = { $actor }: فشل الورشة { $subject }.
activity-failed-for = { $actor }: فشل الورشة { $subject } (المالك: { $owner }).
activity-dismissed = { $actor }: إخفاء الورشة { $subject } بعد فشلها.
activity-dismissed-for = { $actor }: إخفاء الورشة { $subject } بعد فشلها (المالك: { $owner }).
activity-template-created = { $actor }: إنشاء القالب { $subject }.
activity-template-changed = { $actor }: تعديل القالب { $subject }.
activity-template-changed-fields = { $actor }: تعديل القالب { $subject } (الحقول: { $fields }).
activity-joined = { $first }، { $second }
activity-template-archived = { $actor }: أرشفة القالب { $subject }.
activity-template-restored = { $actor }: استعادة القالب { $subject }.
activity-class-created = { $actor }: إنشاء الصف { $subject }.
activity-class-changed = { $actor }: تغيير الصف { $subject }.
activity-join-link-created = أنشأ { $actor } رابط انضمام للصف { $subject }.
activity-join-link-revoked = ألغى { $actor } رابط الانضمام للصف { $subject }.
activity-class-message-sent = { $actor }: إرسال رسالة إلى الصف { $subject }.
activity-member-added = { $actor }: الانضمام إلى الصف { $subject }.
activity-member-added-for = { $actor }: إضافة { $owner } إلى الصف { $subject }.
activity-member-changed = { $actor }: دور آخر في الصف { $subject }.
activity-member-changed-for = { $actor }: دور آخر لـ { $owner } في الصف { $subject }.
activity-member-removed = { $actor }: مغادرة الصف { $subject }.
activity-member-removed-for = { $actor }: إزالة { $owner } من الصف { $subject }.
activity-volume-deleted = { $actor }: حذف العمل المحفوظ في { $subject }.
activity-volume-deleted-for = { $actor }: حذف العمل المحفوظ لـ { $owner } في { $subject }.
activity-files-downloaded = { $actor }: نزّل العمل المحفوظ في { $subject }.
activity-files-downloaded-for = { $actor }: نزّل العمل المحفوظ لـ { $owner } في { $subject }.
downloads-by-others = تنزيلات ملفاتك من قبل المسؤولين

activity-service = الخدمة

activity-ended-alone = انتهت الورشة { $subject } (المالك: { $owner }).
activity-ended-alone-why = انتهت الورشة { $subject } (المالك: { $owner }). { $reason }.
activity-suspended-alone = توقفت الورشة { $subject } مؤقتًا (المالك: { $owner })، لأن وقتها انتهى.
activity-failed-alone = فشلت الورشة { $subject } (المالك: { $owner }).
activity-failed-alone-why = فشلت الورشة { $subject } (المالك: { $owner }). { $reason }.
