package glsync

import (
	"context"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// Value is a value of a dimension of a general ledger, such as one of its departments.
type Value struct {
	ID            string
	ConnectionID  string
	Dimension     string // the general ledger's id, as ExternalID
	DimensionName string
	ExternalID    string
	Name          string
	Active        bool // false also for one that is gone
	CreatedAt     time.Time

	search string
}

// Unusable returns why lines cannot have the value; empty if they can.
func (v Value) Unusable() string {
	if v.Active {
		return ""
	}
	return "it is inactive in the general ledger, or no longer exists there"
}

// Label returns how people call the value.
func (v Value) Label() string { return v.Name + " (" + v.DimensionName + ")" }

// storeValues stores the values of dimensions in the place of those that were read before. They keep their ids.
func storeValues(ctx context.Context, tx *db.Tx, connectionID string, values []ExternalValue) error {
	stored, err := selectValues(ctx, tx, connectionID)
	if err != nil {
		return err
	}
	before := make(map[[2]string]Value, len(stored))
	for _, v := range stored {
		before[[2]string{v.Dimension, v.ExternalID}] = v
	}
	var changed []Value
	seen := map[[2]string]bool{}
	for _, e := range values {
		key := [2]string{e.Dimension, e.ID}
		if seen[key] {
			continue
		}
		seen[key] = true
		was, known := before[key]
		v := Value{ID: was.ID, ConnectionID: connectionID, Dimension: e.Dimension, DimensionName: cut(e.DimensionName, textMax),
			ExternalID: e.ID, Name: cut(e.Name, textMax), Active: e.Active, CreatedAt: was.CreatedAt}
		v.search = strings.ToLower(v.DimensionName + " " + v.Name)
		if !known {
			v.ID, v.CreatedAt = tx.NewID(id.GLDimensionValue), tx.Now()
		}
		if v != was {
			changed = append(changed, v)
		}
	}
	for _, v := range stored {
		if v.Active && !seen[[2]string{v.Dimension, v.ExternalID}] {
			v.Active = false
			changed = append(changed, v)
		}
	}
	return upsertValues(ctx, tx, changed)
}

// ValueFilter narrows a list of values; empty fields match everything.
type ValueFilter struct {
	ConnectionID string
	Active       *bool
	Search       string
}

// Values lists the values of the dimensions of general ledgers, in the order in which they were first read.
func (s *Service) Values(ctx context.Context, f ValueFilter, p page.Request) (page.Page[Value], error) {
	return page.ListByKey("gl-dimensions", f, p, "", func(v Value) string { return v.ID },
		func(above string, limit int) (rows []Value, err error) {
			err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
				connections, err := s.visible(ctx, tx, f.ConnectionID)
				if err != nil {
					return err
				}
				rows, err = selectValuePage(ctx, tx, f, connections, above, limit)
				return err
			})
			return rows, err
		})
}
