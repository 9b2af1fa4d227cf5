package classification

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/classify"
)

// markRow is the last record of the audit log that was processed.
type markRow struct {
	Sequence int64 `db:"sequence"`
}

func selectMark(ctx context.Context, tx *db.Tx) (int64, error) {
	rows, err := db.All[markRow](ctx, tx, "SELECT sequence FROM precedent_marks WHERE organization_id = @org")
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	return rows[0].Sequence, nil
}

func upsertMark(ctx context.Context, tx *db.Tx, sequence int64) error {
	return db.Upsert(ctx, tx, "precedent_marks", []markRow{{sequence}},
		"ON CONFLICT (organization_id) DO UPDATE SET sequence = excluded.sequence")
}

type precedentRow struct {
	TransactionID   string    `db:"transaction_id"`
	LedgerAccountID string    `db:"booked_to"`
	Type            string    `db:"transaction_type"`
	At              time.Time `db:"transaction_date"`
	Features        string    `db:"features"`
}

func (r precedentRow) same(o precedentRow) bool {
	return r.LedgerAccountID == o.LedgerAccountID && r.Type == o.Type && r.At.Equal(o.At) && r.Features == o.Features
}

func selectPrecedents(ctx context.Context, tx *db.Tx, transactionIDs []string) (map[string]precedentRow, error) {
	rows, err := db.All[precedentRow](ctx, tx, "SELECT "+db.Columns[precedentRow]()+
		" FROM precedents WHERE organization_id = @org AND transaction_id {any}", transactionIDs)
	out := make(map[string]precedentRow, len(rows))
	for _, r := range rows {
		out[r.TransactionID] = r
	}
	return out, err
}

func replacePrecedents(ctx context.Context, tx *db.Tx, removed []string, added []precedentRow) error {
	if len(removed) > 0 {
		if _, err := tx.Exec(ctx, "DELETE FROM precedents WHERE organization_id = @org AND transaction_id {any}", removed); err != nil {
			return err
		}
	}
	return db.Insert(ctx, tx, "precedents", added...)
}

// features returns the keys of the features that the transaction shares with others.
func (r precedentRow) features() (out []string) {
	_ = json.Unmarshal([]byte(r.Features), &out) // precedentOf wrote it
	return out
}

func (r precedentRow) precedent() classify.Precedent {
	return classify.Precedent{TransactionID: r.TransactionID, LedgerAccountID: r.LedgerAccountID, TransactionType: r.Type, At: r.At}
}

type featureRow struct {
	Feature string `db:"feature"`
	Latest  string `db:"latest"`
}

// selectFeatures returns the latest precedents of features, by key.
func selectFeatures(ctx context.Context, tx *db.Tx, keys []string) (map[string][]classify.Precedent, error) {
	rows, err := db.All[featureRow](ctx, tx,
		"SELECT feature, latest FROM precedent_features WHERE organization_id = @org AND feature {any}", keys)
	if err != nil {
		return nil, err
	}
	return precedentsOf(rows)
}

func precedentsOf(rows []featureRow) (map[string][]classify.Precedent, error) {
	out := make(map[string][]classify.Precedent, len(rows))
	for _, r := range rows {
		var all []classify.Precedent
		for line := range strings.SplitSeq(r.Latest, "\n") {
			var p classify.Precedent
			var at, rest string
			p.TransactionID, rest, _ = strings.Cut(line, "\t")
			p.LedgerAccountID, rest, _ = strings.Cut(rest, "\t")
			at, p.TransactionType, _ = strings.Cut(rest, "\t")
			micros, err := strconv.ParseInt(at, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("classification: the precedents of %q: %w", r.Feature, err)
			}
			p.At = time.UnixMicro(micros).UTC()
			all = append(all, p)
		}
		out[r.Feature] = all
	}
	return out, nil
}

// latestText encodes precedents as one line each, because decoding JSON would take most of the time of a run.
func latestText(all []classify.Precedent) string {
	lines := make([]string, len(all))
	for i, p := range all {
		lines[i] = p.TransactionID + "\t" + p.LedgerAccountID + "\t" + strconv.FormatInt(p.At.UnixMicro(), 10) + "\t" + p.TransactionType
	}
	return strings.Join(lines, "\n")
}

// writeFeatures stores the latest precedents of features, and deletes features without any.
func writeFeatures(ctx context.Context, tx *db.Tx, all map[string][]classify.Precedent) error {
	var rows []featureRow
	var removed []string
	for _, k := range slices.Sorted(maps.Keys(all)) {
		if len(all[k]) == 0 {
			removed = append(removed, k)
		} else {
			rows = append(rows, featureRow{k, latestText(all[k])})
		}
	}
	if len(removed) > 0 {
		if _, err := tx.Exec(ctx, "DELETE FROM precedent_features WHERE organization_id = @org AND feature {any}", removed); err != nil {
			return err
		}
	}
	return db.Upsert(ctx, tx, "precedent_features", rows, "ON CONFLICT (organization_id, feature) DO UPDATE SET latest = excluded.latest")
}
