package idempotency

import (
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// rights are the scopes of a caller and the legal entities that it is limited to, none meaning all, as they are stored: separated by
// spaces, with a slash between the two lists. The role is not among them: every request is authorized by the current one.
type rights string

func rightsOf(who actor.Actor) rights {
	return rights(actor.JoinScopes(who.Scopes) + "/" + strings.Join(who.LegalEntityIDs, " "))
}

// include reports whether they allow everything that others do.
func (r rights) include(others rights) bool {
	scopes, entities := r.lists()
	theirScopes, theirEntities := others.lists()
	if len(entities) > 0 && len(theirEntities) == 0 {
		return false
	}
	return subset(theirScopes, scopes) && (len(entities) == 0 || subset(theirEntities, entities))
}

// lists returns the scopes and the legal entities.
func (r rights) lists() (scopes, legalEntityIDs []string) {
	before, after, _ := strings.Cut(string(r), "/")
	return strings.Fields(before), strings.Fields(after)
}

// subset reports whether a list has every item of another.
func subset(items, list []string) bool {
	return !slices.ContainsFunc(items, func(item string) bool { return !slices.Contains(list, item) })
}
