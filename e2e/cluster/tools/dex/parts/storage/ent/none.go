// Package ent is in place of the storage in SQL databases.
package ent

import (
	"errors"
	"log/slog"

	"github.com/dexidp/dex/storage"
)

type none struct{}

// Open fails.
func (none) Open(*slog.Logger) (storage.Storage, error) {
	return nil, errors.New("this dex was built without SQL databases")
}

// The kinds of databases that dex knows.
type (
	SQLite3  struct{ none }
	Postgres struct{ none }
	MySQL    struct{ none }
)
