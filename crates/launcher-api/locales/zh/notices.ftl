### Notices about refused actions.

limit-title = 您已达到数量上限。
not-launched = 实验环境未启动。
at-capacity = 等待启动的实验环境过多。请一分钟后重试。
volume-in-use-title = 另一个实验环境正在使用这些文件。
volume-in-use = 您的实验环境 { $workshop } 正在使用它们。请在那里继续，或先结束它，待其结束后重试。
volume-in-use-suspended = 您已暂停的实验环境 { $workshop } 保存着这些文件。请恢复它以继续，或先结束它。
storage-limit-title = 已保存的工作已达到上限。
storage-limit = 您已保存的工作总共最多 { $gib } GiB。此实验环境会超出上限。请删除不再需要的已保存工作，然后重新启动。
no-download-title = 文件未下载。
no-download = 请打开此模板的实验环境，并在其中下载文件。
too-many-downloads = 您已有正在进行的下载，或其他下载过多。请一分钟后重试。
download-not-ready = 未能及时打开文件。请一分钟后重试，或启动实验环境并在其中下载。
snapshots-unavailable = 现在无法读取已保存的文件。请一分钟后重试。
key-reused = 页面已过期，现已更新。请在下方再次启动。
not-extended = 未能延长时间。
expiry-changed = 您加载页面后，结束时间发生了变化。当前结束时间见下方。如需更多时间，请再次延长。
gone-title = 此实验环境已不存在。
gone = 下方列表已更新。
inactive-admin = 此模板已归档。只有管理员可以启动它进行测试。
inactive-user = 此实验环境已不再提供。请向老师询问现在使用哪一个。

not-allowed-in-class = 班级不再允许此实验环境。{ $reasons } 教师可以修改它。
class-limit = 本班已有 { $limit } 个实验环境，达到上限。请等待其中一个结束，或询问老师。
class-limit-own = 您在本班已有 { $limit } 个实验环境，达到上限。请先结束一个。
class-over = 本班已结束：其实验环境不能再启动。
class-not-begun = 此班级尚未开始。您可以从第一天起启动其实验环境。
fault-title = 系统没有响应。
fault = 无法确定操作是否已生效。请稍后查看下方列表。如果没有变化，请重试。运行中的实验环境不受影响。

limit-reached = 您有 { $held } 个实验环境，上限为 { $limit } 个。{ $ending ->
        [0] 请结束其中一个，然后再启动。
       *[other] 其中 { $ending } 个正在结束，在完全结束前仍计入数量。请稍后再启动。
    }

too-many-launches = 您在短时间内启动的次数过多。请在 { $seconds } 秒后再启动。

no-extension-not-running = 时间已到。
not-extended-not-running = 只有运行中的实验环境才能延长。
not-extended-lifetime-limit-reached = 已达到最长使用时长。
not-extended-expiry-changed = 结束时间已发生变化。

not-restarted = 未能重新启动实验环境。
not-restarted-not-running = 只有运行中的实验环境才能重新启动。
not-restarted-not-outdated = 它已在使用当前版本。
not-paused = 实验环境未暂停。
not-paused-not-running = 只能暂停正在运行的实验环境。
not-paused-files-not-kept = 它的文件不会保留。请改为结束它。
not-resumed = 实验环境未恢复。
not-resumed-still-pausing = 它仍在暂停中。请几秒后重试。
not-resumed-not-paused = 只能恢复已暂停的实验环境。请重新启动它。

