package glsync

import (
	"slices"

	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// visibleTo reports whether an actor may see a run: all of its scope, and all lines of the entries that it does something with. Its figures
// are sums over these, of which no part can be told apart.
func (r Run) visibleTo(who actor.Actor) bool {
	return !who.Limited() || len(r.Scope.LegalEntityIDs) > 0 && seesAll(who, r.Scope.LegalEntityIDs) && seesAll(who, r.entities)
}

// visibleTo reports whether an actor may see an attempt: all lines of the journals that it is about.
func (a Attempt) visibleTo(who actor.Actor) bool { return seesAll(who, a.entities) }

// seesAll reports whether an actor has access to all of some legal entities, of which nil means that they are not known.
func seesAll(who actor.Actor, legalEntityIDs []string) bool {
	return !who.Limited() || legalEntityIDs != nil && !slices.ContainsFunc(legalEntityIDs, func(id string) bool { return !who.Sees(id) })
}

// notShown takes the place of what a general ledger says of a journal with the memo of an entry that the actor does not see as a whole.
const notShown = "the general ledger refused it; why is not shown, because the entry " + actor.NeedsUnlimited

// shownTo returns an attempt as an actor may see it. The journal of a part of an entry has the memo of the whole, which what the general
// ledger says of it may quote.
func (a Attempt) shownTo(who actor.Actor) Attempt {
	if who.Limited() && a.quotes() {
		a.Error = notShown
	}
	return a
}

// quotes reports whether the error of an attempt is in the words of the general ledger and about a part of an entry.
func (a Attempt) quotes() bool { return a.part != "" && a.Status == AttemptFailed && a.Code == "" }

// concern notes that a run does something with an entry, and returns the legal entities that this is about: that of the part, or all. What
// a run of the connection of a legal entity counts and adds up is of its lines only.
func (w *work) concern(e journal.Entry, part string) []string {
	if part != "" {
		return []string{part}
	}
	all := e.LegalEntityIDs()
	w.concernEntities(all)
	return all
}

func (w *work) concernEntities(legalEntityIDs []string) {
	if w.connection.LegalEntityID == "" && w.run.entities != nil {
		w.run.entities = with(w.run.entities, legalEntityIDs)
	}
}

// concernSent notes which legal entities an attempt is about that is begun: also those of what was sent of the entry, which may have
// changed since.
func (w *work) concernSent(a *Attempt, e journal.Entry, r journalRow) {
	if a.entities == nil {
		return
	}
	a.entities = with(a.entities, w.concern(e, a.part))
	for _, j := range append(r.strays(), decode[Journal](db.OrEmpty(r.Content)), decode[Journal](db.OrEmpty(r.Next))) {
		a.entities = with(a.entities, j.LegalEntityIDs)
	}
	if a.part == "" {
		w.concernEntities(a.entities)
	}
}

// with returns a list with what another one has besides. It does not change the list.
func with(list, more []string) []string {
	for _, id := range more {
		if !slices.Contains(list, id) {
			list = append(slices.Clip(list), id)
		}
	}
	return list
}
