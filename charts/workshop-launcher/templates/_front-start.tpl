{{/* Start script of the front. It configures the cluster's name servers and domain, the addresses to listen on, and the
directives that this nginx supports. It uses only a shell and awk, because an image may have no other tool. */}}
{{- define "launcher.front.start" -}}
#!/bin/sh
set -eu
configuration=${0%/*}/nginx.conf
# One address per line; the fourth column is the scope (00: global), the sixth the interface.
listed=/proc/net/if_inet6
[ -r "$listed" ] || listed=/dev/null
# In a cluster with IPv6, Services may have only IPv6 addresses.
ipv6=$(awk '$4 == "00" && $6 != "lo" { found = 1 } END { print found ? "on" : "off" }' "$listed")
awk -v ipv6="$ipv6" '
  $1 == "nameserver" { servers = servers " " ($2 ~ /:/ ? "[" $2 "]" : $2) }
  $1 == "search" { for (i = 2; i <= NF && services == ""; i++) if ($i ~ /^svc\./) services = $i }
  END {
    if (services == "") services = "svc.cluster.local"
    print "resolver" servers " valid=5s ipv6=" ipv6 ";"
    print "map $host $front_services { default " services "; }"
  }' /etc/resolv.conf >/tmp/resolver.conf
listen() {
  awk -v options="$1" '
    BEGIN { print "listen 8080" options ";" }
    END { if (NR) print "listen [::]:8080" options ";" }' "$listed"
}
listen '' >/tmp/listen.conf
# nginx accepts the options of an address only once. The kernel doubles both sizes.
listen ' rcvbuf=16k sndbuf=16k' >/tmp/listen-once.conf
# Omitted for an nginx without this directive (before 1.30).
echo 'max_headers 128;' >/tmp/heads.conf
nginx -q -t -e stderr -c "$configuration" 2>/dev/null || : >/tmp/heads.conf
# File limit: the node's maximum. Data limit: the memory of all connections.
ulimit -n "$(ulimit -H -n)" || :
ulimit -d {{ include "launcher.front.data" . }} || :
exec nginx -e stderr -c "$configuration"
{{- end }}
