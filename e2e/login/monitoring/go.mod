module workshop-launcher/login/monitoring

go 1.24.0

require github.com/prometheus-operator/prometheus-operator v0.85.0 // indirect
