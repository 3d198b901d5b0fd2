//! Arabic texts.

use super::table::{NoticeText, Texts};

pub(super) const TEXTS: Texts = Texts {
    code: "ar",
    direction: "rtl",
    workshop: "الورشة",
    bar: "Workshop Launcher",
    app: "التطبيق",
    left: "الوقت المتبقي: {left}",
    ends: "وقت الانتهاء: {time}",
    warning: "تنتهي هذه الورشة خلال {left}. يُرجى حفظ العمل.",
    over: "انتهت هذه الورشة.",
    signed_out: "لقد سجّلت الخروج. أعد تحميل هذه الصفحة لتسجيل الدخول من جديد.",
    crashed: "تعطّل التطبيق ثم أُعيد تشغيله. الملفات المحفوظة ما زالت موجودة. أعد تحميل هذه الصفحة.",
    out_of_memory: "نفدت ذاكرة التطبيق ثم أُعيد تشغيله. الملفات المحفوظة ما زالت موجودة. أعد تحميل هذه الصفحة.",
    files_lost: "تعطّل التطبيق ثم أُعيد تشغيله. فُقدت الملفات غير المحفوظة في مكان آخر. أعد تحميل هذه الصفحة.",
    extend: "تمديد",
    extend_hint: "وقت هذه الورشة (في نافذة صغيرة)",
    home: "الرئيسية",
    launcher: "العودة إلى Workshop Launcher",
    not_yours: NoticeText {
        title: "ليست ورشتك",
        text: "ليست لديك ورشة على هذا العنوان. ربما انتهت، أو هي لمستخدم آخر. إذا كنت قد شغّلتها، فسجّل الدخول \
               بالحساب نفسه.",
    },
    not_signed_in: NoticeText {
        title: "لم تسجّل الدخول",
        text: "لا يحتوي الطلب على هوية. يُرجى فتح الورشة من Workshop Launcher وتسجيل الدخول هناك.",
    },
    unknown: NoticeText {
        title: "لا توجد ورشة كهذه", text: "لا توجد ورشة على هذا العنوان. ربما انتهت."
    },
    starting: NoticeText {
        title: "الورشة قيد البدء",
        text: "لا تستجيب الورشة بعد. يُعاد تحميل هذه الصفحة كل ثانيتين حتى تستجيب.",
    },
    no_answer: NoticeText {
        title: "الورشة لا تستجيب",
        text: "انقطع الاتصال بالتطبيق، أو أرسل التطبيق استجابة غير صالحة. أعد تحميل هذه الصفحة.",
    },
    failed: NoticeText { title: "فشلت ورشتك", text: "السبب غير معروف." },
    terminated: NoticeText { title: "انتهت ورشتك", text: "أُنهيت قبل انتهاء وقتها." },
    expired: NoticeText { title: "انتهت ورشتك", text: "انتهى وقتها." },
};
