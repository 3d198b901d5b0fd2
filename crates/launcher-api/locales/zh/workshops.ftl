### Texts of the start page, the pages of a workshop and of a template, and the history.

my-workshops = 我的实验环境
no-workshops = 您还没有实验环境。请在下方启动一个。
has-ended = “{ $name }”已结束。
only-the-newest = 此列表只显示您最新的实验环境。
show-all-mine = 显示我的所有实验环境
files-of-paused = 已暂停的实验环境保存着您的文件。恢复它即可继续，或者结束它。
waits-for = 已等待 { $value }
ends-in = 剩余 { $value }
ends-warning = 请及时保存！
open = 打开
more-actions = 更多操作：{ $name }
details = 详情
keeps-files = 保留文件
extend-until = 延长至 { $value }
end = 结束
pause = 暂停
confirm-pause = 要暂停此实验环境吗？其中的程序会停止。恢复后，您保存的文件仍可继续使用。
resume = 恢复
paused-since = 自 { $value } 起
launch-again = 再次启动
parameter-optional = { $label }（可选）

parameter-choose = 请选择…

parameter-secret = （机密）

parameter-secret-hint = 此值不会再次显示。

parameter-secret-help = { $help } 此值不会再次显示。

parameters-wrong = 没有启动任何内容。请更正以下字段：

parameters-ignored = 链接中有无法填写的值。如果表单中有以下字段，请自行填写：{ $names }

dismiss = 移除
last-output = 输出的最后几行
crash-crashed = 应用意外停止，已于 { $value } 重新启动。
crash-out-of-memory = 应用内存不足，已于 { $value } 重新启动。
crash-moved = 实验环境的服务器已于 { $value } 停止。实验环境已重新启动。
crash-files-kept = 已保存的文件仍然存在。
crash-files-lost = 未保存到别处的文件已丢失。
crash-advice-crashed = 如果再次发生，请告诉老师之前做了什么操作。
crash-advice-out-of-memory = 请减少一次加载的数据，或申请内存更大的模板。
crash-advice-moved = 请重新打开文件。之前运行的程序已结束。
material = 课程资料
material-placed = { $target }：已加载
material-updated = { $target }：已更新
material-unchanged = { $target }：已是最新
material-failed = { $target }：未加载
material-not-loaded = 无法加载文件夹 { $target } 的课程资料。
material-not-loaded-advice = 实验环境仍已启动。如果它保留您的文件，该文件夹中就是您上次启动时的文件。请告诉老师，或稍后重新启动实验环境。
material-conflicts = 您和老师都修改了文件夹 { $target } 中的 { $count } 个文件。
material-conflicts-advice = 您的文件没有改变。老师的文件以其他名称放在旁边。
catalog = 启动实验环境

shared-catalog = 另外 { $count } 个实验环境
search-catalog = 搜索目录
search-hint = 搜索
search = 搜索
no-templates = 目前还没有可启动的实验环境。
create-first = 创建第一个模板
nothing-found = 没有符合搜索条件的实验环境。
launch = 启动
have-one-short = 您已有一个
have-one = 您已有此实验环境：
repository-added = 实验环境将包含此仓库的文件：
repository-reference = 分支、标签或提交：
repository-folder = 仅限文件夹：
repository-refused = 链接指定的仓库无法使用：{ $wrong }。
last-one-failed = 您上次用此模板启动的实验环境失败了。
show-it = 查看
launch-another = 再启动一个
edit-template = 编辑模板
all-workshops = 所有实验环境
instance-name = 名称
owner = 所有者
app = 应用
launched-at = 启动时间
ready-since = 就绪时间
latest-end = 最晚可延长至
ended-at = 结束时间
lasted = 持续时间
why-ended = 结束原因
belongs-to = 它属于 { $value }。
end-workshop = 结束实验环境
keep-it = 保留
pause-title = 暂停 { $name }
pause-question = 要暂停“{ $name }”吗？
pause-warning = 实验环境中的所有程序都会停止，未保存的工作会丢失。恢复实验环境后，您保存的文件仍可继续使用。您可以随时恢复它。
pause-workshop = 暂停实验环境
pause-cancel = 让它继续运行
ended-workshops = 已结束的实验环境
workshop = 实验环境
no-history = 您还没有已结束的实验环境。
saved-work = 已保存的工作
saved-work-all = 所有用户已保存的工作
saved-work-about = 部分实验环境会保留文件。下次启动同一实验环境时可继续使用。
snapshots-about = 部分实验环境结束时会将文件保存到此处，保留{ $time }。实验环境的页面会有说明。
no-saved-work = 尚无已保存的工作。
saved-work-shared = 多个实验环境共用
saved-work-size = 空间
saved-work-last-used = 上次使用
saved-work-deleted-after = 在此时间前未使用则删除
saved-work-in-use = 正在使用
snapshot-size = 大小
snapshot-saved-at = 保存时间
snapshot-deleted-on = 删除时间
saved-work-delete = 删除
saved-work-download = 下载
saved-work-question = 删除“{ $name }”已保存的工作？
saved-work-warning = 所有文件都会被删除，无法恢复。下次启动时没有文件。
snapshot-warning = 所有文件都会被删除，无法恢复。
saved-work-delete-now = 删除所有文件
saved-work-keep = 保留文件
snapshot-pending = 正在保存您的文件，之后实验环境会结束。
snapshot-saved = 您的文件已保存。
snapshot-saved-until = 您的文件保存至 { $value }。
snapshot-deleted = 此实验环境已保存的文件已被删除。
snapshot-failed = 未能保存您的文件。{ $reason }
snapshot-failure-time-limit = 未能及时保存。
snapshot-failure-too-large = 文件超过 2 GiB。
snapshot-failure-limit-reached = 已保存 20 个实验环境的文件。请先删除一些。
snapshot-failure-files-unavailable = 服务无法读取这些文件。
snapshot-failure-store-unavailable = 服务无法存储这些文件。
snapshot-failure-workshop-gone = 实验环境此前已停止。
in-new-tab = { $name }（在新标签页中）
show-all = 显示全部 { $offered } 个
found = 找到 { $found } 个，共 { $offered } 个
lasts = 可用 { $lifetime }
lasts-extensible = 可用 { $lifetime }，最长可延长至 { $longest }
end-title = 结束 { $name }
end-question = 结束“{ $name }”？

outdated = 此实验环境使用较旧版本的边车（sidecar）或设置。
outdated-restart = 重新启动版本较旧的实验环境
files-are-deleted = 实验环境结束时，其中的文件会被删除。请下载需要保留的内容。
files-are-kept = 实验环境结束时，文件会保留：下次启动时可继续使用。
files-are-kept-for = 实验环境结束时，文件会保留：下次启动时可继续使用。如果 { $time }未使用，文件会被删除。
files-are-saved = 实验环境结束时，文件会保存{ $time }。
files-none-yet = 实验环境还没有文件。
saves-files = 文件保存{ $time }
deletes-files = 结束时删除文件
confirm-end = 结束此实验环境？{ $files }
end-warning = 实验环境会停止。{ $files }
material-short-failed = 未加载
material-short-conflicts = 有冲突
failure-report =
    { $template }（{ $workshop }）
    启动时间：{ $time }
    { $failure }
    { $line }
copy-report = 复制给教师
copied-report = 已复制

launch-with-files = 使用这些文件启动
files-launch-note = 实验环境将包含您保存的文件：
saved-work-download-zip = 下载为 .zip
