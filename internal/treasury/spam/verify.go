package spam

import (
	"context"
	"fmt"

	"github.com/bursarhq/bursar/internal/db"
	rules "github.com/bursarhq/bursar/internal/rules/spam"
)

// Verify returns the violated invariants of an organization's listings and of the history that arrivals are judged by.
func Verify(ctx context.Context, tx *db.Tx) (out []string, err error) {
	byKey := map[string][]Listing{}
	err = eachListing(ctx, tx, func(l Listing, key string) {
		kept, err := l.normalized()
		if err != nil || kept != l || key != l.key() {
			out = append(out, fmt.Sprintf("spam listing %s: it is invalid or not in normalized form", l.ID))
		}
		for _, other := range byKey[key] {
			if l.conflictsWith(other) {
				out = append(out, fmt.Sprintf("spam listing %s: it conflicts with the listing %s", l.ID, other.ID))
			}
		}
		byKey[key] = append(byKey[key], l)
	})
	if err != nil {
		return nil, err
	}
	broken := func(what string, name string, ok bool) {
		if !ok {
			out = append(out, fmt.Sprintf("spam %s %s: the stored row is invalid", what, name))
		}
	}
	if err := eachDealing(ctx, tx, func(d rules.Dealing) { broken("dealing", d.Name, d.Valid()) }); err != nil {
		return nil, err
	}
	if err := eachSighting(ctx, tx, func(s rules.Sighting) { broken("sighting", s.TokenHour, s.Valid()) }); err != nil {
		return nil, err
	}
	err = eachBurst(ctx, tx, func(b rules.Burst) { broken("burst", b.Token+" in "+b.Hash, b.Valid()) })
	return out, err
}
