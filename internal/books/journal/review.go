package journal

import (
	"github.com/bursarhq/bursar/internal/base/fault"
)

// review collects everything that stands against a request before any of it is answered: what is wrong in itself,
// what is not there, and what the state of the books forbids.
type review struct {
	at        string // what field names begin with, such as journal_entries[17].
	faults    []fault.Field
	missing   []fault.Field
	conflicts []fault.Field
	noun      string // what the first missing thing is
	why       string // what the first conflict says
	stored    bool   // nothing of it was sent: whatever is wrong with it now is a conflict
}

func (r *review) fault(field, message string) {
	r.faults = append(r.faults, fault.Field{Name: r.at + field, Message: message})
}

func (r *review) miss(noun, field string) {
	if r.noun == "" {
		r.noun = noun
	}
	r.missing = append(r.missing, fault.Field{Name: r.at + field, Message: "not found"})
}

func (r *review) conflict(field, message string) {
	if r.why == "" {
		r.why = message
	}
	r.conflicts = append(r.conflicts, fault.Field{Name: r.at + field, Message: message})
}

// clear tells that nothing stands against the request so far.
func (r *review) clear() bool { return len(r.faults)+len(r.missing)+len(r.conflicts) == 0 }

// err answers with the gravest sort there is, and names every field of every sort.
func (r *review) err() error {
	all := append(append(append([]fault.Field{}, r.faults...), r.missing...), r.conflicts...)
	switch {
	case r.stored && len(all) > 0:
		return fault.ConflictAt(all, "%s: %s", all[0].Name, all[0].Message)
	case len(r.faults) > 0:
		var list fault.List
		for _, f := range all {
			list.Addf(f.Name, "%s", f.Message)
		}
		return list.Err()
	case len(r.missing) > 0:
		return &fault.Error{Kind: fault.NotFound, Message: r.noun + " not found", Fields: all}
	case len(r.conflicts) > 0:
		return fault.ConflictAt(all, "%s", r.why)
	}
	return nil
}

// add takes over what another review found.
func (r *review) add(o *review) {
	r.faults, r.missing, r.conflicts = append(r.faults, o.faults...), append(r.missing, o.missing...), append(r.conflicts, o.conflicts...)
	if r.noun == "" {
		r.noun = o.noun
	}
	if r.why == "" {
		r.why = o.why
	}
}
