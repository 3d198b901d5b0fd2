//! Arabic texts.

use super::table::{NoticeText, Texts};

pub(super) const TEXTS: Texts = Texts {
    code: "ar",
    direction: "rtl",
    workshop: "ورشة العمل",
    bar: "مشغّل ورش العمل",
    app: "التطبيق",
    left: "الوقت المتبقي: {left}",
    warning: "تنتهي ورشة العمل هذه خلال {left}. احفظ عملك.",
    over: "انتهت ورشة العمل هذه.",
    signed_out: "لقد سجّلت الخروج. أعد تحميل هذه الصفحة لتسجيل الدخول من جديد.",
    extend: "تمديد",
    extend_hint: "وقت ورشة العمل هذه (في نافذة صغيرة)",
    home: "الرئيسية",
    launcher: "العودة إلى المشغّل",
    not_yours: NoticeText {
        title: "ليست ورشة عملك",
        text: "ليست لديك ورشة عمل على هذا العنوان. ربما انتهت، أو هي لمستخدم آخر. إذا كنت قد شغّلتها، فسجّل الدخول \
               بالحساب نفسه.",
    },
    not_signed_in: NoticeText {
        title: "لم تسجّل الدخول",
        text: "لا يحتوي الطلب على هوية. افتح ورشة العمل من المشغّل، وسجّل الدخول هناك.",
    },
    unknown: NoticeText {
        title: "لا توجد ورشة عمل كهذه", text: "لا توجد ورشة عمل على هذا العنوان. ربما انتهت."
    },
    starting: NoticeText {
        title: "ورشة العمل قيد البدء",
        text: "لا تستجيب ورشة العمل بعد. يُعاد تحميل هذه الصفحة كل ثانيتين حتى تستجيب.",
    },
    no_answer: NoticeText {
        title: "ورشة العمل لا تستجيب",
        text: "انقطع الاتصال بالتطبيق، أو أرسل التطبيق استجابة غير صالحة. أعد تحميل هذه الصفحة.",
    },
    failed: NoticeText { title: "فشلت ورشة عملك", text: "السبب غير معروف." },
    terminated: NoticeText {
        title: "انتهت ورشة عملك", text: "أُنهيت قبل انتهاء وقتها."
    },
    expired: NoticeText { title: "انتهت ورشة عملك", text: "انتهى وقتها." },
};
