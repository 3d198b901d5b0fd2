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

usual-start = 通常 { $duration }后就绪。
