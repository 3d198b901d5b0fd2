{{/* Start script of the front. It configures the cluster's name servers and domain, the addresses to listen on, and the
directives that this nginx supports. It uses only a shell and awk, because an image may have no other tool. */}}
{{- define "launcher.front.start" -}}
#!/bin/sh
set -eu
configuration=${0%/*}/nginx.conf
# Each line is an address; the fourth column is its scope, 00 being global, the sixth its interface.
listed=/proc/net/if_inet6
[ -r "$listed" ] || listed=/dev/null
# Services of a cluster with IPv6 may have no other address.
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
# nginx takes the options of an address once. The kernel doubles both sizes.
listen ' rcvbuf=16k sndbuf=16k' >/tmp/listen-once.conf
# An nginx before 1.30 may not know it.
echo 'max_headers 128;' >/tmp/heads.conf
nginx -q -t -e stderr -c "$configuration" 2>/dev/null || : >/tmp/heads.conf
# As many files as the node allows, and no more memory than all connections may take.
ulimit -n "$(ulimit -H -n)" || :
ulimit -d {{ include "launcher.front.data" . }} || :
exec nginx -e stderr -c "$configuration"
{{- end }}
