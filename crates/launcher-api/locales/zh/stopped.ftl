### Texts for the owner at the address of a workshop that does not run.

stopped-title = 此处目前没有实验环境
stopped-owner = 您已结束“{ $name }”。
stopped-admin = 管理员已结束“{ $name }”。
stopped-teacher = 教师已结束“{ $name }”。
stopped-expired = “{ $name }”的时间已到。
stopped-failed = “{ $name }”已失败。
stopped-lost = 服务器丢失了“{ $name }”，或者管理员删除了它。
stopped-at = 结束时间：{ $time }。
stopped-paused = “{ $name }”已暂停。
stopped-starting-title = 实验环境正在启动
stopped-starting = “{ $name }”尚未响应。准备就绪后会在此处打开。
stopped-files-kept = 您的文件已保留。下次启动时会再次提供。
stopped-files-deleted = 此实验环境的文件已删除。
stopped-saved-work = 已保存的工作
stopped-page = 打开其页面
