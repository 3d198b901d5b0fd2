### Texts of the start page, the pages of a workshop and of a template, and the history.

my-workshops = 我的实验环境
no-workshops = 您还没有实验环境。请在下方启动一个。
has-ended = “{ $name }”已结束。
only-the-newest = 此列表只显示您最新的实验环境。
show-all-mine = 显示我的所有实验环境
files-are-deleted = 实验环境结束时，其中的文件会被删除。请下载需要保留的内容。
files-are-kept = 实验环境结束时，您的文件会保留：下次启动时可继续使用。
files-may-be-kept = 实验环境结束时，其中的文件会被删除，除非其页面说明文件会保留。
waits-for = 已等待 { $value }
launched = 启动于 { $value }
ends-in = 剩余 { $value }
ends-warning = 请及时保存！
open = 打开
extend-until = 延长至 { $value }
end = 结束
confirm-end = 结束此实验环境？未保存到别处的文件将会丢失。
confirm-end-kept = 结束此实验环境？已保存的文件会保留到下次启动。
launch-again = 再次启动
parameter-optional = { $label }（可选）

parameter-choose = 请选择…

parameter-secret = （机密）

parameter-secret-hint = 此值不会再次显示。

parameter-secret-help = { $help } 此值不会再次显示。

parameters-wrong = 没有启动任何内容。请更正以下字段：

parameters-ignored = 链接无法填写：{ $names }

dismiss = 移除
last-output = 输出的最后几行
crash-crashed = 应用意外停止，已于 { $value } 重新启动。
crash-out-of-memory = 应用内存不足，已于 { $value } 重新启动。
crash-files-kept = 已保存的文件仍然存在。
crash-files-lost = 未保存到别处的文件已丢失。
crash-advice-crashed = 如果再次发生，请告诉老师之前做了什么操作。
crash-advice-out-of-memory = 请减少一次加载的数据，或申请内存更大的模板。
catalog = 启动实验环境
search-catalog = 搜索目录
search-hint = 搜索
search = 搜索
no-templates = 目前还没有可启动的实验环境。
create-first = 创建第一个模板
nothing-found = 没有符合搜索条件的实验环境。
launch = 启动
have-one-short = 您已有一个
have-one = 您已有此实验环境：
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
end-warning = 实验环境会立即停止。未保存到别处的文件将会丢失。
end-warning-kept = 实验环境会立即停止。已保存的文件会保留到下次启动。
belongs-to = 它属于 { $value }。
end-workshop = 结束实验环境
keep-it = 保留
ended-workshops = 已结束的实验环境
workshop = 实验环境
no-history = 您还没有已结束的实验环境。
saved-work = 已保存的工作
saved-work-all = 所有用户已保存的工作
saved-work-about = 部分实验环境结束后会保留文件。下次启动时可继续使用。
no-saved-work = 尚无实验环境保留文件。
saved-work-shared = 多个实验环境共用
saved-work-size = 空间
saved-work-last-used = 上次使用
saved-work-deleted-after = 在此时间前未使用则删除
saved-work-in-use = 正在使用
saved-work-delete = 删除
saved-work-download = 下载
saved-work-question = 删除“{ $name }”已保存的工作？
saved-work-warning = 所有文件都会被删除，无法恢复。下次启动时没有文件。
saved-work-delete-now = 删除所有文件
saved-work-keep = 保留文件
in-new-tab = { $name }（在新标签页中）
show-all = 显示全部 { $offered } 个
found = 找到 { $found } 个，共 { $offered } 个
lasts = 可用 { $lifetime }
lasts-extensible = 可用 { $lifetime }，最长可延长至 { $longest }
end-title = 结束 { $name }
end-question = 结束“{ $name }”？

outdated = 此实验环境使用较旧版本的边车（sidecar）或设置。
outdated-restart = 重新启动版本较旧的实验环境
