//go:build tools

// Package tools names the program that build.sh builds, so that go.mod pins what it is made of.
package tools

import _ "github.com/prometheus/prometheus/cmd/promtool"
