### Texts of the error pages.

quote-number = 寻求帮助时，请提供此请求 ID：{ $value }
sign-in = 登录
to-workshops = 前往实验环境
no-login-title = 此地址没有登录代理
no-login = Workshop Launcher 收到了登录请求，但它自身不提供登录功能。请在它前面部署登录代理，或将 SERVICE_LOGIN_URL 设为登录代理的地址。如需在本机上试用而不使用登录代理，请运行 make run，或使用 SERVICE_REQUIRE_AUTHENTICATION=false 和 SERVICE_DEV_IDENTITY=you@example.org 启动它。这些设置的说明见 docs/settings.md。
signed-out-title = 您已退出登录
signed-out = 您的实验环境会继续运行，直到结束。您在统一登录服务中可能仍处于登录状态。如果使用的是公共电脑，请在那里也退出登录，或关闭浏览器。
sign-in-again = 重新登录
bad-address = 此页面的地址包含无效参数。
form-too-large = 表单过大。
form-of-another-kind = 表单的内容类型不正确。请使用页面上的表单。
form-of-another-page = 表单缺少字段或包含未知字段。
form-unreadable = 表单格式错误，或未在 30 秒内送达。

error-authentication-required = 请登录
    .text = 您尚未登录，或登录已过期。
error-identity-unproven = 此地址绕过了登录
    .text = 您的请求未经过登录验证。请打开提供给您的地址。如果您打开的就是该地址，请告知管理员：认证代理与 Workshop Launcher 的密钥不一致。
error-admin-only = 仅限管理员
    .text = 您已登录，但不是管理员。
error-cross-site-request = 操作被拒绝
    .text = 请求来自其他网站，未做任何更改。请重新打开本系统的页面，再次执行该操作。
error-not-found = 找不到页面
    .text = 此页面不存在，或不属于您。如果它是实验环境的页面，该实验环境可能早已结束。
error-version-mismatch = 另一位管理员已先行修改
    .text = 您加载页面后，模板已被修改。您的更改未保存。请重新加载页面，再次进行更改。
error-body-too-large = 表单过大
    .text = 未保存任何内容。请返回，缩短文字后重新提交。
error-invalid-fields = 表单提交失败
    .text = 未做任何更改。请重新加载页面，再次执行该操作。
error-unavailable = 请稍后重试
    .text = 系统暂时无法响应。运行中的实验环境不受影响。
error-internal = 系统出错
    .text = 错误已记录。运行中的实验环境不受影响。请稍后重试。
error-other = 请求失败
unknown-link = 没有实验环境使用链接“{ $link }”
unknown-link-advice = 请逐字对照幻灯片上的链接。如果一致，请询问教师：链接可能已更改。首页会显示您可以启动的所有实验环境。
