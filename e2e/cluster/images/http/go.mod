module workshop-launcher/cluster/http

go 1.24
