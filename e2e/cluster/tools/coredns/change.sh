# shellcheck shell=bash
# A function that Kubernetes' client has since 1.35. With older clients, it would return its argument.
sed -i 's/cache\.ToListWatcherWithWatchListSemantics(/func(lists cache.ListerWatcher, _ any) cache.ListerWatcher { return lists }(/' \
  plugin/kubernetes/controller.go
