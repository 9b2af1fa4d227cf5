package booking

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/bursarhq/bursar/internal/assets/asset"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/lot"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

type bookingRow struct {
	EntryID       string  `db:"journal_entry_id"`
	TransactionID string  `db:"transaction_id"`
	PartnerID     *string `db:"partner_id"`
	Type          string  `db:"transaction_type"`
	AccountID     *string `db:"ledger_account_id"`
	OffsetID      *string `db:"offset_ledger_account_id"`
	Input         string  `db:"input"`
	RuleID        *string `db:"rule_id"`
	RuleVersion   *int64  `db:"rule_version"`
}

// followed is what an entry follows from, as it is kept.
type followed struct {
	Number int64         `json:"number"`
	Label  string        `json:"label"`
	Block  int64         `json:"block,omitempty"`
	Apart  string        `json:"apart,omitempty"`
	LotsOf string        `json:"lots_of,omitempty"`
	Picks  []lot.Pick    `json:"picks,omitempty"`
	Input  posting.Input `json:"input"`
}

func (e *event) text() (string, error) {
	w := e.work
	in := w.Input
	in.Books.Accounts = nil // the roles are those of the chart at the time it is made again
	text, err := json.Marshal(followed{Number: w.Number, Label: w.Label, Block: w.Block, Apart: w.Apart, LotsOf: w.LotsOf,
		Picks: w.Picks, Input: in})
	return string(text), err
}

// row is what an entry follows from, as it is kept.
func (e *event) row(entryID string, p Params) (bookingRow, error) {
	text, err := e.text()
	r := bookingRow{EntryID: entryID, TransactionID: e.first.ID, PartnerID: nil, Type: p.Type, AccountID: db.OrNull(p.LedgerAccountID),
		OffsetID: db.OrNull(p.OffsetAccountID), Input: text, RuleID: nil, RuleVersion: nil}
	if e.partner != nil {
		r.PartnerID = &e.partner.ID
	}
	if p.RuleID != "" {
		r.RuleID, r.RuleVersion = &p.RuleID, &p.RuleVersion
	}
	return r, err
}

func insertBookings(ctx context.Context, tx *db.Tx, rows []bookingRow) error {
	return db.Insert(ctx, tx, "bookings", rows...)
}

func updateInput(ctx context.Context, tx *db.Tx, entryID string, e *event) error {
	text, err := e.text()
	if err != nil {
		return err
	}
	return tx.Queue(ctx, "UPDATE bookings SET input = ? WHERE organization_id = @org AND journal_entry_id = ?", text, entryID)
}

func selectBookings(ctx context.Context, tx *db.Tx, entryIDs []string) ([]bookingRow, error) {
	return db.All[bookingRow](ctx, tx, "SELECT "+db.Columns[bookingRow]()+
		" FROM bookings WHERE organization_id = @org AND journal_entry_id {any}", entryIDs)
}

func selectBooking(ctx context.Context, tx *db.Tx, entryID string) (*bookingRow, error) {
	rows, err := selectBookings(ctx, tx, []string{entryID})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

func deleteBooking(ctx context.Context, tx *db.Tx, entryID string) error {
	return tx.Queue(ctx, "DELETE FROM bookings WHERE organization_id = @org AND journal_entry_id = ?", entryID)
}

// copyBooking lets an entry follow from what another one did.
func copyBooking(ctx context.Context, tx *db.Tx, from, to string) error {
	return copyBookings(ctx, tx, map[string]string{from: to})
}

// copyBookings lets entries follow from what others did, by the ids of those.
func copyBookings(ctx context.Context, tx *db.Tx, renamed map[string]string) error {
	rows, err := selectBookings(ctx, tx, slices.Sorted(maps.Keys(renamed)))
	if err != nil || len(rows) == 0 {
		return err
	}
	for i := range rows {
		rows[i].EntryID = renamed[rows[i].EntryID]
	}
	return db.Insert(ctx, tx, "bookings", rows...)
}

// work reads what an entry follows from; its plan has no roles, and is only for what it asks of lots.
func (r *bookingRow) work() (asset.Work, error) {
	var f followed
	if err := json.Unmarshal([]byte(r.Input), &f); err != nil {
		return asset.Work{}, fmt.Errorf("booking: read what %s follows from: %w", r.EntryID, err)
	}
	return asset.Work{EntryID: r.EntryID, TransactionID: r.TransactionID, Type: r.Type, Label: f.Label, Number: f.Number,
		Block: f.Block, Apart: f.Apart, LotsOf: f.LotsOf, Picks: f.Picks,
		Input: f.Input}, nil
}

type targetRow struct {
	EntryID         string `db:"journal_entry_id"`
	Type            string `db:"transaction_type"`
	LedgerAccountID string `db:"ledger_account_id"`
}

func selectTargets(ctx context.Context, tx *db.Tx, entryIDs []string) ([]targetRow, error) {
	return db.All[targetRow](ctx, tx, "SELECT "+db.Columns[targetRow]()+
		" FROM bookings WHERE organization_id = @org AND journal_entry_id {any} AND ledger_account_id IS NOT NULL", entryIDs)
}
