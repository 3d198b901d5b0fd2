### Texts of the admins' overview.

overview-as-of = 截至 { $value }
overview-instances-now = 当前实例
overview-last-day = 过去 24 小时
overview-day-ago = 24 小时前
overview-now = 现在
overview-launches = 启动次数
overview-key-launched = 启动
overview-key-failed = 失败
overview-in-use = 使用中
overview-launch-to-ready = 启动耗时
overview-key-p50 = 一半的启动
overview-key-p95 = 20 次启动中的 19 次
overview-by-template = 按模板
overview-failures = 失败
overview-ready-now = 当前就绪
overview-p50-ready = 一半在此时间内就绪
overview-p95-ready = 20 次中 19 次在此时间内就绪
overview-by-hour = 逐小时数据
overview-hour-from = 起始时间
overview-in-use-at-end = 结束时使用中
overview-nothing-launched = 过去 24 小时内没有启动。
overview-hours-hint = 启动失败计入启动时所在的小时。“结束时使用中”一列统计该小时结束时已就绪或结束中的实验环境，不含后来失败的。
overview-none = –

overview-seconds = { $seconds } 秒
overview-minutes = { $minutes } 分
overview-minutes-seconds = { $minutes } 分 { $seconds } 秒
overview-hours = { $hours } 小时
overview-hours-minutes = { $hours } 小时 { $minutes } 分

overview-none-failed = 无失败
overview-failed = 失败 { $failures } 次（{ $percent }%）
overview-failed-few = 失败 { $failures } 次（不到 1%）

overview-use-note = 当前值，最高 { $most }
overview-ready-note = 一半的启动在此时间内就绪；20 次中有 19 次在 { $p95 } 内就绪
overview-not-ready-yet = 还没有实验环境就绪

overview-launches-summary = 过去 24 小时每小时的启动次数：共 { $launches } 次，{ $note }。
overview-launches-peak = 单小时最高 { $most } 次（{ $when }）。
overview-use-summary = 过去 24 小时每小时结束时使用中的实验环境数：当前 { $now } 个。
overview-use-peak = 最高 { $most } 个（{ $when }）。
overview-ready-summary = 过去 24 小时每小时从启动到就绪的时间：一半在 { $p50 } 内，20 次中有 19 次在 { $p95 } 内。
overview-ready-peak = 最慢的一小时：20 次启动中有 19 次在 { $most } 内就绪，{ $when }。
overview-never-ready = 过去 24 小时内没有实验环境就绪。
overview-when = { $hours ->
    [0] 最近一小时
   *[other] { $hours } 小时前
}
overview-decimal-point = .
