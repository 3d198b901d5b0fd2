// coredns with the plugins that ../../config/dns.yaml uses: the others take most of the time of a build.
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/forward"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/ready"
	_ "github.com/coredns/coredns/plugin/rewrite"
)

func main() {
	// In the order in which coredns runs them.
	dnsserver.Directives = []string{"ready", "errors", "rewrite", "kubernetes", "forward"}
	coremain.Run()
}
