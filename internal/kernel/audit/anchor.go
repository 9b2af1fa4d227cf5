package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// Anchor is a record of the audit log of an organization, to be kept outside the database. A log that is cut short or
// rewritten from an earlier record on is still a chain, but it no longer holds the anchor.
type Anchor struct {
	OrganizationID string    `json:"organization_id"`
	Organization   string    `json:"organization"` // its name at the time
	Sequence       int64     `json:"sequence_number"`
	Hash           string    `json:"hash"`
	At             time.Time `json:"created_at"`
	Entries        int64     `json:"journal_entries"` // how many numbers of journal entries were assigned
	Transactions   int64     `json:"transactions"`    // the same for transactions
	Period         string    `json:"accounting_period,omitempty"`
}

// Counts are the facts of a record that can serve as an anchor.
type Counts struct {
	Entries      int64 `json:"journal_entries"`
	Transactions int64 `json:"transactions"`
}

// NewAnchor returns an anchor at the end of the audit log.
func NewAnchor(ctx context.Context, tx *db.Tx) (Anchor, error) {
	o, err := orgstate.FindOrganization(ctx, tx)
	if err != nil {
		return Anchor{}, err
	}
	s, err := orgstate.Read(ctx, tx)
	return Anchor{OrganizationID: o.ID, Organization: o.Name, Sequence: s.AuditSequence, Hash: s.AuditHash, At: tx.Now(),
		Entries: s.EntryNumber, Transactions: s.TransactionNumber}, err
}

// Anchored is a record that can serve as an anchor, and the resource that it is about.
type Anchored struct {
	Anchor
	ResourceID string
}

// AnchorsAt returns an anchor at each record of an action whose facts have the counts, which those of earlier versions lack, in the
// order of the log. Together with the log, an anchor that was lost is found again.
func AnchorsAt(ctx context.Context, tx *db.Tx, action string) ([]Anchored, error) {
	all, err := selectOfAction(ctx, tx, action)
	if err != nil {
		return nil, err
	}
	return anchoredAt(ctx, tx, all)
}

// AnchorsOf returns what AnchorsAt does, of the records about one resource.
func AnchorsOf(ctx context.Context, tx *db.Tx, action, resourceID string) ([]Anchored, error) {
	all, err := selectActionOf(ctx, tx, action, resourceID)
	if err != nil {
		return nil, err
	}
	return anchoredAt(ctx, tx, all)
}

func anchoredAt(ctx context.Context, tx *db.Tx, rows []anchorRow) (out []Anchored, err error) {
	o, err := orgstate.FindOrganization(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		var facts struct {
			Anchored *Counts `json:"anchored"`
		}
		if err := json.Unmarshal([]byte(db.OrEmpty(r.After)), &facts); err != nil || facts.Anchored == nil {
			continue
		}
		out = append(out, Anchored{ResourceID: r.ResourceID, Anchor: Anchor{OrganizationID: o.ID, Organization: o.Name,
			Sequence: r.Sequence, Hash: r.Hash, At: r.CreatedAt, Entries: facts.Anchored.Entries,
			Transactions: facts.Anchored.Transactions}})
	}
	return out, nil
}

// ReadAnchors reads the anchors of a file: JSON objects, one after the other. Its error says what is wrong with the file.
func ReadAnchors(r io.Reader) (out []Anchor, err error) {
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	for {
		var a Anchor
		switch err := d.Decode(&a); {
		case err == io.EOF && len(out) > 0:
			return out, nil
		case err == io.EOF:
			return nil, fmt.Errorf("it is empty")
		case err != nil:
			return nil, fmt.Errorf("it is not written by `bursar anchor` or at a close: %w", err)
		case a.OrganizationID == "" || a.Sequence <= 0 || len(a.Hash) != 64 || a.At.IsZero():
			return nil, fmt.Errorf("it lacks an organization, a sequence number, a hash or a time")
		}
		out = append(out, a)
	}
}

// String describes the anchor in findings.
func (a Anchor) String() string {
	return fmt.Sprintf("the anchor of %s at the audit record %d", clock.Format(a.At), a.Sequence)
}

// Verify compares the anchor with the audit log of its organization, and returns a sentence for each difference.
func (a Anchor) Verify(ctx context.Context, tx *db.Tx) (out []string, err error) {
	s, err := orgstate.Read(ctx, tx)
	if err != nil {
		return nil, err
	}
	found, err := selectAfter(ctx, tx, a.Sequence-1, 1)
	if err != nil {
		return nil, err
	}
	switch missing := len(found) == 0 || found[0].Sequence != a.Sequence; {
	case missing && s.AuditSequence >= a.Sequence:
		out = append(out, fmt.Sprintf("audit log: record %d is missing, but %s was kept: records were removed", a.Sequence, a))
	case missing:
		out = append(out, fmt.Sprintf("audit log: it ends at record %d, but %s was kept: records were removed, or the database was restored "+
			"from an older backup", s.AuditSequence, a))
	case found[0].Hash != a.Hash:
		out = append(out, fmt.Sprintf("audit log: record %d has the hash %s, but %s has %s: the log was rewritten at this record or before",
			a.Sequence, found[0].Hash, a, a.Hash))
	}
	if s.EntryNumber < a.Entries {
		out = append(out, fmt.Sprintf("journal: the last number is JE-%d, but %s counts %d entries", s.EntryNumber, a, a.Entries))
	}
	if s.TransactionNumber < a.Transactions {
		out = append(out, fmt.Sprintf("transactions: the last number is OT-%d, but %s counts %d transactions", s.TransactionNumber, a,
			a.Transactions))
	}
	return out, nil
}

// SequenceBefore returns the number of the last record that is older than a time, or 0 if all are as old or newer.
func SequenceBefore(ctx context.Context, tx *db.Tx, at time.Time) (int64, error) {
	first, err := selectSince(ctx, tx, at)
	if err != nil {
		return 0, err
	}
	if first != nil {
		return *first - 1, nil
	}
	s, err := orgstate.Read(ctx, tx)
	return s.AuditSequence, err
}
