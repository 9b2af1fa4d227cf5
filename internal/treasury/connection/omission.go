package connection

import (
	"context"
	"strings"

	"github.com/bursarhq/bursar/internal/db"
)

// Record names a record at a provider.
type Record struct {
	Kind string // such as invoice
	ID   string
}

// Omission is a record at a provider that could not be understood and was left out.
type Omission struct {
	Record
	Reason string
}

const (
	// omissionsShown is how many records that were left out are named with a connection.
	omissionsShown = 3
	// omissionIDMax and omissionReasonMax bound what is stored of a record that was left out, in characters.
	omissionIDMax     = 255
	omissionReasonMax = 300
)

// Settle stores which records were left out, and that others were read. It is called within the function of Commit and of Handle.
func (w *Work) Settle(ctx context.Context, tx *db.Tx, omitted []Omission, read []Record) error {
	known, err := countOmissions(ctx, tx, []string{w.ID})
	if err != nil {
		return err
	}
	ids := map[string][]string{}
	for _, r := range read {
		ids[r.Kind] = append(ids[r.Kind], r.ID)
	}
	for kind, all := range ids {
		if len(known) == 0 {
			break
		}
		if err := deleteOmissions(ctx, tx, w.ID, kind, all); err != nil {
			return err
		}
	}
	for _, o := range omitted {
		o.ID, o.Reason = cut(o.ID, omissionIDMax), cut(o.Reason, omissionReasonMax)
		if err := upsertOmission(ctx, tx, w.ID, o); err != nil {
			return err
		}
	}
	return nil
}

// cut returns the beginning of a text that a provider may have made, without what PostgreSQL does not store.
func cut(text string, most int) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "?"), "\x00", "?")
	if letters := []rune(text); len(letters) > most {
		return string(letters[:most])
	}
	return text
}

// describeOmissions names the first records of a connection that were left out.
func describeOmissions(ctx context.Context, tx *db.Tx, connectionID string) (string, error) {
	rows, err := selectOmissions(ctx, tx, connectionID, omissionsShown)
	parts := make([]string, len(rows))
	for n, r := range rows {
		parts[n] = r.Kind + " " + r.ID + " (" + r.Reason + ")"
	}
	return strings.Join(parts, ", "), err
}
