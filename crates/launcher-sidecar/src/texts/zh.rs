//! Chinese texts, in simplified characters.

use super::table::{NoticeText, Texts};

pub(super) const TEXTS: Texts = Texts {
    code: "zh",
    direction: "ltr",
    workshop: "工作坊",
    bar: "工作坊启动器",
    app: "应用",
    left: "剩余 {left}",
    warning: "此工作坊将在 {left}后结束。请保存您的工作。",
    over: "此工作坊已结束。",
    signed_out: "您已退出登录。请重新加载此页面以再次登录。",
    extend: "延长",
    extend_hint: "此工作坊的时间（在小窗口中）",
    home: "主页",
    launcher: "返回启动器",
    not_yours: NoticeText {
        title: "不是您的工作坊",
        text: "您在此地址没有工作坊。它可能已结束，或属于其他用户。如果是您启动的，请使用同一帐户登录。",
    },
    not_signed_in: NoticeText {
        title: "未登录", text: "请求中没有身份信息。请从启动器打开工作坊，并在那里登录。"
    },
    unknown: NoticeText { title: "没有此工作坊", text: "此地址没有工作坊。它可能已结束。" },
    starting: NoticeText {
        title: "工作坊正在启动",
        text: "工作坊尚未响应。此页面每 2 秒重新加载一次，直到它响应为止。",
    },
    no_answer: NoticeText {
        title: "工作坊没有响应",
        text: "与应用的连接已断开，或应用发送了无效的响应。请重新加载此页面。",
    },
    failed: NoticeText { title: "您的工作坊已失败", text: "原因未知。" },
    terminated: NoticeText { title: "您的工作坊已结束", text: "它在时间用完之前被结束。" },
    expired: NoticeText { title: "您的工作坊已结束", text: "它的时间已用完。" },
};
