// kube-router with its controller of NetworkPolicies alone, and the flags of this controller. kube-proxy and the bridge do
// the rest, and kube-router's own program takes BGP and clouds into the build.
package main

import (
	"maps"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/cloudnativelabs/kube-router/pkg/controllers/netpol"
	"github.com/cloudnativelabs/kube-router/pkg/healthcheck"
	"github.com/cloudnativelabs/kube-router/pkg/options"
	"github.com/spf13/pflag"
	core "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

func main() {
	config := options.NewKubeRouterConfig()
	config.AddFlags(pflag.CommandLine)
	pflag.Parse()
	if err := run(config); err != nil {
		klog.Fatal(err)
	}
}

// changesOfRules requests a synchronization of the rules when a pod has or loses an address, or its labels change.
// kube-router's own handler also does so for each other change of a pod, and each starts dozens of processes.
func changesOfRules(synchronize func()) cache.ResourceEventHandler {
	hasRules := func(object any) bool {
		if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = gone.Obj
		}
		pod, ok := object.(*core.Pod)
		return ok && pod.Status.PodIP != "" && pod.Status.Phase != core.PodFailed && pod.Status.Phase != core.PodSucceeded
	}
	changed := func(before, after any) {
		old, new := before.(*core.Pod), after.(*core.Pod)
		if old.Status.PodIP != new.Status.PodIP || !maps.Equal(old.Labels, new.Labels) {
			synchronize()
		}
	}
	request := func(any) { synchronize() }
	handler := cache.ResourceEventHandlerFuncs{AddFunc: request, UpdateFunc: changed, DeleteFunc: request}
	return cache.FilteringResourceEventHandler{FilterFunc: hasRules, Handler: handler}
}

func run(config *options.KubeRouterConfig) error {
	settings, err := clientcmd.BuildConfigFromFlags(config.Master, config.Kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(settings)
	if err != nil {
		return err
	}
	stop := make(chan struct{})
	factory := informers.NewSharedInformerFactory(client, 0)
	pods := factory.Core().V1().Pods().Informer()
	namespaces := factory.Core().V1().Namespaces().Informer()
	policies := factory.Networking().V1().NetworkPolicies().Informer()
	factory.Start(stop)
	factory.WaitForCacheSync(stop)

	controller, err := netpol.NewNetworkPolicyController(client, config, pods, policies, namespaces, &sync.Mutex{})
	if err != nil {
		return err
	}
	pods.AddEventHandler(changesOfRules(controller.RequestFullSync))
	namespaces.AddEventHandler(controller.NamespaceEventHandler)
	policies.AddEventHandler(controller.NetworkPolicyEventHandler)
	// The controller reports its health to this channel, and waits if nobody reads it.
	health := make(chan *healthcheck.ControllerHeartbeat)
	go func() {
		for range health {
		}
	}()
	var running sync.WaitGroup
	running.Add(1)
	go controller.Run(health, stop, &running)

	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGINT, syscall.SIGTERM)
	<-ended
	close(stop)
	running.Wait()
	return nil
}
