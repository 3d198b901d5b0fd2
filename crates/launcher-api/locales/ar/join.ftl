join-link = رابط الانضمام
join-link-until = صالح حتى
join-link-closed = لم يعد الرابط يقبل أحدًا.
join-link-show = عرض الرمز
join-link-revoke = إلغاء الرابط
join-link-none = ليس للصف رابط انضمام.
join-link-new = رابط جديد
join-link-valid = صالح لمدة
join-link-seats = عدد المقاعد
join-link-seats-hint = فارغ: بلا حد.
join-link-domain = عناوين هذا النطاق فقط
join-link-domain-hint = فارغ: كل من يستطيع تسجيل الدخول.
join-link-members-only = إيصال الأعضاء إلى الصف فقط، دون إضافة أحد
join-link-create = إنشاء الرابط
join-with = انضم إلى الصف
join-qr = رمز QR لرابط الانضمام
join-title = الانضمام إلى صف
join-refused = لا يمكنك الانضمام بهذا الرابط
join-button = انضمام
join-code = الرمز
join-code-hint = 10 أحرف وأرقام كما يعرضها مدرّسك.
join-continue = متابعة
join-unknown = لا يوجد صف بهذا الرمز. قارنه حرفًا حرفًا بالرمز الذي يعرضه مدرّسك.
join-enter = الانضمام إلى صف برمز
back-to-class = العودة إلى الصف
join-link-joined = عدد المنضمين: { $people }
join-link-joined-of = المقاعد المشغولة: { $people } من { $seats }
join-link-days = { $days ->
    [one] يوم واحد
    [two] يومان
    [few] { $days } أيام
   *[other] { $days } يومًا
}
join-question = أنت مسجّل الدخول باسم { $email }. هل تنضم إلى هذا الصف؟
join-account = أنت مسجّل الدخول باسم { $email }.
join-too-many = جرّبت رموزًا خاطئة كثيرة. حاول مرة أخرى بعد { $minutes } من الدقائق.
