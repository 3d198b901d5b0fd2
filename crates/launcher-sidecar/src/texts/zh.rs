//! Chinese texts, in simplified characters.

use super::table::{NoticeText, Texts};

pub(super) const TEXTS: Texts = Texts {
    code: "zh",
    direction: "ltr",
    workshop: "实验环境",
    bar: "Workshop Launcher",
    app: "应用",
    left: "剩余 {left}",
    ends: "结束时间：{time}",
    warning: "此实验环境将在 {left}后结束。请保存您的工作。",
    over: "此实验环境已结束。",
    signed_out: "您已退出登录。请重新加载此页面以再次登录。",
    crashed: "应用崩溃后已重新启动。已保存的文件仍然存在。请重新加载此页面。",
    out_of_memory: "应用内存不足，已重新启动。已保存的文件仍然存在。请重新加载此页面。",
    files_lost: "应用崩溃后已重新启动。未保存到别处的文件已丢失。请重新加载此页面。",
    extend: "延长",
    extend_hint: "此实验环境的时间（在小窗口中）",
    home: "主页",
    launcher: "返回 Workshop Launcher",
    not_yours: NoticeText {
        title: "不是您的实验环境",
        text: "您在此地址没有实验环境。它可能已结束，或属于其他用户。如果是您启动的，请使用同一帐户登录。",
    },
    not_signed_in: NoticeText {
        title: "未登录",
        text: "请求中没有身份信息。请从 Workshop Launcher 打开实验环境，并在那里登录。",
    },
    unknown: NoticeText { title: "没有此实验环境", text: "此地址没有实验环境。它可能已结束。" },
    starting: NoticeText {
        title: "实验环境正在启动",
        text: "实验环境尚未响应。此页面每 2 秒重新加载一次，直到它响应为止。",
    },
    no_answer: NoticeText {
        title: "实验环境没有响应",
        text: "与应用的连接已断开，或应用发送了无效的响应。请重新加载此页面。",
    },
    failed: NoticeText { title: "您的实验环境启动失败或已中断", text: "原因未知。" },
    terminated: NoticeText { title: "您的实验环境已结束", text: "它在时间用完之前被结束。" },
    expired: NoticeText { title: "您的实验环境已结束", text: "它的时间已用完。" },
};
