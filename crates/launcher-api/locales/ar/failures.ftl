### Failures of a workshop, by code. The remedy says what the reader can do, and if files are lost.

failure-image-pull-failed = تعذّر على عنقود الخوادم تنزيل صورة الورشة.
failure-remedy-image-pull-failed = يُرجى إبلاغ المدرّس أو أحد المسؤولين: اسم الصورة في القالب خاطئ، أو أن مستودع الصور يرفض الوصول.
failure-crashed = توقّف برنامج الورشة بشكل غير متوقع.
failure-remedy-crashed = فُقدت الملفات غير المحفوظة في مكان آخر. يمكن التشغيل من جديد، أو عرض مخرجات الورشة على المدرّس.
failure-out-of-memory = تجاوزت الورشة حد الذاكرة.
failure-remedy-out-of-memory = فُقدت الملفات غير المحفوظة في مكان آخر. يمكن التشغيل من جديد مع تحميل بيانات أقل، أو طلب المزيد من الذاكرة.
failure-unschedulable = لا تتسع أي عقدة لهذه الورشة حاليًا.
failure-remedy-unschedulable = يُرجى إعادة المحاولة بعد بضع دقائق. إذا تكرر الفشل، فيُرجى طلب سعة إضافية من أحد المسؤولين.
failure-start-timeout = لم تصبح الورشة جاهزة في الوقت المحدد.
failure-remedy-start-timeout = يُرجى التشغيل من جديد. إذا تكرر البطء، فيُرجى إبلاغ المدرّس أو أحد المسؤولين.
failure-quota-exceeded = استُنفدت حصة الورشات.
failure-remedy-quota-exceeded = يُرجى إعادة المحاولة بعد انتهاء ورشات أخرى، أو طلب حصة أكبر من أحد المسؤولين.
failure-evicted = أوقف عنقود الخوادم الورشة، لأن الذاكرة أو مساحة القرص في عقدتها أوشكت على النفاد.
failure-remedy-evicted = فُقدت الملفات غير المحفوظة في مكان آخر. يُرجى التشغيل من جديد.
failure-node-lost = فقد عنقود الخوادم الاتصال بعقدة هذه الورشة.
failure-remedy-node-lost = فُقدت الملفات غير المحفوظة في مكان آخر. يُرجى التشغيل من جديد.
failure-invalid-spec = في قالب الورشة إعدادات غير صالحة للتشغيل.
failure-remedy-invalid-spec = يُرجى إبلاغ المدرّس أو أحد المسؤولين: يجب تصحيح القالب.
failure-app-not-available = برنامج الورشة غير مثبّت هنا.
failure-remedy-app-not-available = يُرجى إبلاغ أحد المسؤولين: يجب تثبيت البرنامج أو تصحيح القالب.
failure-network-not-isolated = لم تبدأ الورشة، لأن عنقود الخوادم لم يعزل شبكتها.
failure-remedy-network-not-isolated = يُرجى التشغيل من جديد. إذا تكرر الفشل، فيُرجى إبلاغ أحد المسؤولين: يجب أن يطبّق عنقود الخوادم سياسات الشبكة.
