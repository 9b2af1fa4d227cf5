package glsync

import (
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

// drift is what a check found to differ in a general ledger from what was sent. It is kept until a later check finds it right, or until
// it is sent again.
type drift struct {
	At      time.Time    `json:"at"`
	Missing bool         `json:"missing,omitempty"`
	Changes []Difference `json:"changes,omitempty"`

	LegalEntityIDs []string `json:"legal_entity_ids"` // of the lines of what was sent, and of the entry
}

// text describes the drift; empty if there is none.
func (d *drift) text() string {
	if d == nil {
		return ""
	}
	found := "on " + d.At.UTC().Format(time.DateOnly) + " a check found that "
	if d.Missing {
		return found + "somebody has deleted or voided the entry in the general ledger: the next sync run sends it again"
	}
	out := make([]string, len(d.Changes))
	for n, c := range d.Changes {
		out[n] = c.Field + ": " + c.Found + " instead of " + c.Sent
	}
	return cut(found+"somebody has changed the entry in the general ledger ("+strings.Join(out, "; ")+
		"): correct it there, and check it once more", errorMax)
}

// drifted notes what a check found, and reports whether that is news. The time of the first check that found it stays.
func (r *journalRow) drifted(d *drift) bool {
	before := decode[*drift](db.OrEmpty(r.Drift))
	switch {
	case d == nil && before == nil:
		return false
	case d == nil:
		r.Drift = nil
		return true
	case before != nil && before.Missing == d.Missing && slices.Equal(before.Changes, d.Changes):
		return false
	}
	r.Drift = new(encode(d))
	return true
}
