### Texts of the waiting page.

steps = 启动步骤
step-done = 已完成
step-current = 进行中
opens-by-itself = 就绪后，本页会自动打开实验环境。
is-ready = 实验环境已就绪，正在打开。
cancel = 取消
start-log = 启动日志

start-step-queue = 排队等待
start-step-prepare = 分配资源并准备实验环境
start-step-image = 按需下载镜像
start-step-downloads = 下载课程资料，并按需下载镜像
start-step-app = 启动应用
wait-queue = { $before ->
    [0] 下一个就是您。
   *[other] 您前面还有 { $before } 人。
}
wait-queue-about = { $before ->
    [0] 下一个就是您。大约 { $time }后就绪。
   *[other] 您前面还有 { $before } 人。大约 { $time }后就绪。
}
wait-room = { $before ->
    [0] 所有位置都已占用。一旦有空位，您的实验环境就会启动。
   *[other] 所有位置都已占用。您前面还有 { $before } 人。
}
wait-about = 大约 { $time }后就绪。
wait-longer = 这次比平时更久。
wait-starting = 您的实验环境正在启动。
wait-progress = 启动进度
wait-details = 详情
doing-waiting-for-quota = 正在等待班级的另一个实验环境结束。
doing-waiting-for-room = 正在等待空位。
doing-preparing = 正在准备您的实验环境。
doing-pulling-image = 正在获取软件。第一次需要更长时间。
doing-loading-material = 正在获取课程文件。
doing-starting-app = 正在启动应用。
doing-restarting-app = 应用已停止，正在重新启动。
start-step-material = 下载课程资料
material-trouble-failed = 课程文件未加载
material-trouble-conflicts = 您和教师修改了相同的文件
open-anyway = 仍然打开
material-try-again = 重试
material-try-again-about = “重试”会结束此实验环境并重新启动。{ $files }
