### Failures of a workshop, by code. The remedy says what the reader can do, and if files are lost.

failure-image-pull-failed = 集群无法下载实验环境的镜像。
failure-remedy-image-pull-failed = 请告知老师或管理员：模板中的镜像有误，或镜像仓库拒绝访问。
failure-crashed = 实验环境的程序意外停止。
failure-remedy-crashed = 未保存到别处的文件已丢失。请再次启动，或将程序的输出提供给老师。
failure-out-of-memory = 实验环境超出了内存限制。
failure-remedy-out-of-memory = 未保存到别处的文件已丢失。请再次启动并减少加载的数据，或申请更多内存。
failure-unschedulable = 目前没有节点有足够的资源运行此实验环境。
failure-remedy-unschedulable = 请几分钟后重试。如果仍然失败，请联系管理员增加资源。
failure-start-timeout = 实验环境未能按时就绪。
failure-remedy-start-timeout = 请再次启动。如果仍然很慢，请告知老师或管理员。
failure-quota-exceeded = 实验环境的配额已用完。
failure-remedy-quota-exceeded = 请等其他实验环境结束后重试，或联系管理员提高配额。
failure-evicted = 由于节点的内存或磁盘不足，集群停止了此实验环境。
failure-remedy-evicted = 未保存到别处的文件已丢失。请再次启动。
failure-node-lost = 集群失去了此实验环境所在的节点。
failure-remedy-node-lost = 未保存到别处的文件已丢失。请再次启动。
failure-invalid-spec = 实验环境的模板设置有误，无法运行。
failure-remedy-invalid-spec = 请告知老师或管理员：需要更正模板。
failure-app-not-available = 系统未安装此实验环境所需的程序。
failure-remedy-app-not-available = 请告知管理员：需要安装该程序或更正模板。
failure-network-not-isolated = 集群未隔离实验环境的网络，因此实验环境没有启动。
failure-remedy-network-not-isolated = 请再次启动。如果仍然失败，请告知管理员：集群必须强制执行网络策略。
