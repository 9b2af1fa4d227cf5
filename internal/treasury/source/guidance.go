package source

import (
	"context"
	"fmt"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/db"
)

// Guidance lists the actions that are allowed on a source now, and explains why others are not.
type Guidance struct {
	Allowed  []string
	Warnings []string
	Version  string
}

// Guided is a source with its guidance.
type Guided struct {
	Source
	Guidance Guidance
}

func guideOne(ctx context.Context, tx *db.Tx, s Source) (Guided, error) {
	all, err := guide(ctx, tx, s)
	if err != nil {
		return Guided{Source: s}, err
	}
	return all[0], nil
}

// guide adds the guidance to several sources with one query.
func guide(ctx context.Context, tx *db.Tx, all ...Source) ([]Guided, error) {
	ids := make([]string, len(all))
	for i, s := range all {
		ids[i] = s.ID
	}
	standings, err := selectUsages(ctx, tx, ids)
	out := make([]Guided, len(all))
	for i, s := range all {
		out[i] = Guided{s, s.guidance(standings[s.ID])}
	}
	return out, err
}

func (s Source) guidance(now usage) Guidance {
	g := Guidance{Allowed: []string{"edit"}, Warnings: []string{}, Version: clock.Format(s.CreatedAt)}
	if s.UpdatedAt != nil {
		g.Version = clock.Format(*s.UpdatedAt)
	}
	if now.Used {
		g.Warnings = append(g.Warnings, "the source is in use: with transactions, only its name and its ledger account can change")
	}
	switch {
	case s.ItemID != "" && now.Booked:
		g.Warnings = append(g.Warnings, "journal entries exist for its transactions, so it cannot be deleted")
	case s.ItemID != "":
		g.Allowed = append(g.Allowed, "delete")
		g.Warnings = append(g.Warnings, "deleting the source also deletes its transactions")
		if now.Siblings == 0 {
			g.Warnings = append(g.Warnings, fmt.Sprintf("this is the last account of its sign-in: deleting it also removes "+
				"the sign-in at %s", s.Provider))
		}
	case !s.Manual:
		g.Warnings = append(g.Warnings, "the source was created by a connection: disconnect the connection instead of deleting it")
	case now.Used:
		g.Warnings = append(g.Warnings, "the source is in use, so it cannot be deleted")
	default:
		g.Allowed = append(g.Allowed, "delete")
	}
	return g
}
