//go:build tools

// Package tools names the program that actionlint.sh builds, so that go.mod pins its modules.
package tools

import _ "github.com/rhysd/actionlint/cmd/actionlint"
