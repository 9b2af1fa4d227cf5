package spam

import (
	"context"
	"fmt"

	"github.com/bursarhq/bursar/internal/db"
	rules "github.com/bursarhq/bursar/internal/rules/spam"
)

// Verify finds what must not be in an organization's lists, and in what it judges arrivals by.
func Verify(ctx context.Context, tx *db.Tx) (out []string, err error) {
	byKey := map[string][]Listing{}
	err = eachListing(ctx, tx, func(l Listing, key string) {
		kept, err := l.normalized()
		if err != nil || kept != l || key != l.key() {
			out = append(out, fmt.Sprintf("spam listing %s: it is not one that can be", l.ID))
		}
		for _, other := range byKey[key] {
			if l.conflictsWith(other) {
				out = append(out, fmt.Sprintf("spam listing %s: it is about the same as %s", l.ID, other.ID))
			}
		}
		byKey[key] = append(byKey[key], l)
	})
	if err != nil {
		return nil, err
	}
	broken := func(what string, name string, ok bool) {
		if !ok {
			out = append(out, fmt.Sprintf("spam %s %s: it is not as it would be kept", what, name))
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
