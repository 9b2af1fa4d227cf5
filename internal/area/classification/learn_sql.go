package classification

import (
	"context"
	"encoding/json"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/classify"
)

// mark is how far was learned.
type mark struct {
	UpdatedAt time.Time `db:"updated_at"`
	Number    int64     `db:"number"`
}

func selectMark(ctx context.Context, tx *db.Tx) (mark, error) {
	rows, err := db.All[mark](ctx, tx, "SELECT updated_at, number FROM precedent_marks WHERE organization_id = @org")
	if err != nil || len(rows) == 0 {
		return mark{}, err
	}
	return rows[0], nil
}

func upsertMark(ctx context.Context, tx *db.Tx, m mark) error {
	_, err := db.Upsert(ctx, tx, "precedent_marks", []mark{m}, "ON CONFLICT (organization_id) DO UPDATE SET updated_at = excluded.updated_at, number = excluded.number")
	return err
}

type precedentRow struct {
	TransactionID   string    `db:"transaction_id"`
	LedgerAccountID string    `db:"ledger_account_id"`
	Type            string    `db:"transaction_type"`
	At              time.Time `db:"transaction_date"`
	Features        string    `db:"features"`
}

func (r precedentRow) same(o precedentRow) bool {
	return r.LedgerAccountID == o.LedgerAccountID && r.Type == o.Type && r.At.Equal(o.At) && r.Features == o.Features
}

func selectPrecedents(ctx context.Context, tx *db.Tx, transactionIDs []string) (map[string]precedentRow, error) {
	rows, err := db.All[precedentRow](ctx, tx, "SELECT "+db.Columns[precedentRow]()+" FROM precedents WHERE organization_id = @org AND transaction_id {any}", transactionIDs)
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

type voteRow struct {
	Feature         string    `db:"feature"`
	LedgerAccountID string    `db:"ledger_account_id"`
	Type            string    `db:"transaction_type"`
	Count           int64     `db:"count"`
	Last            time.Time `db:"last_date"`
	Examples        string    `db:"examples"`
}

func (r voteRow) vote() classify.Vote {
	var all []example
	_ = json.Unmarshal([]byte(r.Examples), &all) // it was written by onto
	v := classify.Vote{LedgerAccountID: r.LedgerAccountID, TransactionType: r.Type, Count: r.Count, Last: r.Last}
	for _, e := range all {
		v.Examples = append(v.Examples, e.ID)
	}
	return v
}

func selectVotes(ctx context.Context, tx *db.Tx, features []string) ([]voteRow, error) {
	return db.All[voteRow](ctx, tx, "SELECT "+db.Columns[voteRow]()+" FROM precedent_votes WHERE organization_id = @org AND feature {any} ORDER BY feature, ledger_account_id, transaction_type", features)
}

// writeVotes writes what features speak for, and forgets what none speaks for any more.
func writeVotes(ctx context.Context, tx *db.Tx, rows []voteRow) error {
	_, err := db.Upsert(ctx, tx, "precedent_votes", rows, `ON CONFLICT (organization_id, feature, ledger_account_id, transaction_type)
		DO UPDATE SET count = excluded.count, last_date = excluded.last_date, examples = excluded.examples`)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if r.Count != 0 {
			continue
		}
		if _, err := tx.Exec(ctx, "DELETE FROM precedent_votes WHERE organization_id = @org AND feature = ? AND ledger_account_id = ? AND transaction_type = ? AND count = 0",
			r.Feature, r.LedgerAccountID, r.Type); err != nil {
			return err
		}
	}
	return nil
}
