### States, reasons, app types and security profiles.

state-queued = 排队中
state-starting = 启动中
state-running = 已就绪
state-suspending = 正在暂停
state-suspended = 已暂停
state-terminating = 结束中
state-terminated = 已结束
state-failed = 失败

state-next = { $state }：下一个启动
state-position = { $state }：第 { $position } 位
state-step = { $state }：{ $step }

step-waiting-for-quota = 等待班级的另一个实验环境结束
step-waiting-for-room = 等待空闲资源
step-waiting-for-room-progress = 等待空闲资源，第 { $position } 位
step-preparing = 正在准备实验环境
step-pulling-image = 正在下载镜像，首次需要较长时间
step-pulling-image-progress = 正在下载镜像：{ $percent }%
step-pulling-image-unpacking = 正在解压已下载的镜像
step-loading-material = 正在加载课程资料
step-starting-app = 等待应用响应
step-restarting-app = 应用已停止，正在重启

end-owner = 由所有者结束
end-admin = 由管理员结束
end-teacher = 由教师结束
end-expired = 时间已到
end-failed = 失败
end-lost = 服务器丢失，或被管理员删除

app-rstudio = RStudio
app-notebook = Jupyter Notebook
app-custom = Web 应用

profile-restricted = restricted：非 root 用户（推荐）
profile-baseline = baseline：容器内使用 root（标准 RStudio 镜像需要）
storage-none = 删除文件
storage-workshop = 结束时删除文件，但应用崩溃后仍保留
storage-kept = 保留每个用户的文件
storage-home = 保留每个用户的文件，与其他模板共用
at-expiry-end = 结束实验环境
at-expiry-suspend = 暂停实验环境

icon-of-app = 与应用相同
icon-notebook = 笔记本
icon-statistics = 统计
icon-code = 代码
icon-terminal = 终端
icon-web = 网页
icon-database = 数据库
icon-chart = 图表
icon-globe = 地球
icon-book = 书籍
icon-flask = 烧瓶
color-of-name = 根据名称
color-rose = 玫瑰红
color-red = 红色
color-orange = 橙色
color-yellow = 黄色
color-lime = 黄绿色
color-green = 绿色
color-teal = 蓝绿色
color-cyan = 青色
color-blue = 蓝色
color-indigo = 靛蓝
color-purple = 紫色
color-pink = 粉色
