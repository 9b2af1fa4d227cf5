package journal

import (
	"github.com/bursarhq/bursar/internal/base/fault"
)

// validation collects every fault of a request, so that they are reported together: invalid values, records that do not
// exist, and conflicts with the state of the books.
type validation struct {
	at            string // prefix of field names, such as journal_entries[17].
	faults        []fault.Field
	missing       []fault.Field
	conflicts     []fault.Field
	firstMissing  string // the noun of the first record that does not exist
	firstConflict string // the message of the first conflict
	stored        bool   // the values are stored, not sent with the request: every fault is a conflict
}

func (r *validation) fault(field, message string) {
	r.faults = append(r.faults, fault.Field{Name: r.at + field, Message: message})
}

func (r *validation) notFound(noun, field string) {
	if r.firstMissing == "" {
		r.firstMissing = noun
	}
	r.missing = append(r.missing, fault.Field{Name: r.at + field, Message: "not found"})
}

func (r *validation) conflict(field, message string) {
	if r.firstConflict == "" {
		r.firstConflict = message
	}
	r.conflicts = append(r.conflicts, fault.Field{Name: r.at + field, Message: message})
}

// ok reports whether no fault was found so far.
func (r *validation) ok() bool { return len(r.faults)+len(r.missing)+len(r.conflicts) == 0 }

// err returns an error of the gravest kind found, with the fields of all kinds, or nil.
func (r *validation) err() error {
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
		return &fault.Error{Kind: fault.NotFound, Message: r.firstMissing + " not found", Fields: all}
	case len(r.conflicts) > 0:
		return fault.ConflictAt(all, "%s", r.firstConflict)
	}
	return nil
}

// add adds the faults of another validation.
func (r *validation) add(o *validation) {
	r.faults, r.missing, r.conflicts = append(r.faults, o.faults...), append(r.missing, o.missing...), append(r.conflicts, o.conflicts...)
	if r.firstMissing == "" {
		r.firstMissing = o.firstMissing
	}
	if r.firstConflict == "" {
		r.firstConflict = o.firstConflict
	}
}
