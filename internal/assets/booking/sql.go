package booking

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/bursarhq/bursar/internal/assets/replay"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/audit"
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

// inputVersion is the version of the stored input. Before version 1, the quantity of a fee that was known by its value only
// was not stored: it was computed as the share of the value.
const inputVersion = 1

// storedInput is the JSON in the column input: what an entry was computed from.
type storedInput struct {
	Version           int           `json:"version,omitempty"`
	Number            int64         `json:"number"`
	Label             string        `json:"label"`
	Block             int64         `json:"block,omitempty"`
	SeparateAccountID string        `json:"apart,omitempty"`
	LotsTransactionID string        `json:"lots_of,omitempty"`
	Picks             []lot.Pick    `json:"picks,omitempty"`
	Input             posting.Input `json:"input"`
}

func (e *event) encode() (string, error) {
	w := e.effect
	in := w.Input
	in.Books.Accounts = nil // the roles of the chart at the time of reading apply
	text, err := json.Marshal(storedInput{Version: inputVersion, Number: w.Number, Label: w.Label, Block: w.Block,
		SeparateAccountID: w.SeparateAccountID, LotsTransactionID: w.LotsTransactionID, Picks: w.Picks, Input: in})
	return string(text), err
}

// row returns the row of a booking.
func (e *event) row(entryID string, p Params) (bookingRow, error) {
	text, err := e.encode()
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

// Records of the entry of a booking state the booking too.
const (
	table = "bookings"
	noun  = "booking"
)

func insertBookings(ctx context.Context, tx *db.Tx, rows []bookingRow) error {
	for _, r := range rows {
		audit.StoresRow(tx, noun, r.EntryID, table, r)
	}
	return db.Insert(ctx, tx, table, rows...)
}

func updateInput(ctx context.Context, tx *db.Tx, entryID string, e *event) error {
	text, err := e.encode()
	if err != nil {
		return err
	}
	audit.StoresOther(tx, noun, entryID)
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
	audit.StoresOther(tx, noun, entryID)
	return tx.Queue(ctx, "DELETE FROM bookings WHERE organization_id = @org AND journal_entry_id = ?", entryID)
}

// copyBooking stores a copy of the booking of an entry for another one.
func copyBooking(ctx context.Context, tx *db.Tx, from, to string) error {
	return copyBookings(ctx, tx, map[string]string{from: to})
}

// copyBookings does the same for several entries.
func copyBookings(ctx context.Context, tx *db.Tx, copies map[string]string) error {
	rows, err := selectBookings(ctx, tx, slices.Sorted(maps.Keys(copies)))
	if err != nil || len(rows) == 0 {
		return err
	}
	for i := range rows {
		rows[i].EntryID = copies[rows[i].EntryID]
	}
	return insertBookings(ctx, tx, rows)
}

// decode returns the stored input.
func (r *bookingRow) decode() (storedInput, error) {
	var f storedInput
	if err := json.Unmarshal([]byte(r.Input), &f); err != nil {
		return f, fmt.Errorf("booking: read the booking of %s: %w", r.EntryID, err)
	}
	if f.Version == 0 {
		restoreFeeQuantities(&f.Input)
	}
	return f, nil
}

// restoreFeeQuantities sets the fee quantities that earlier versions computed, so that their entries keep their lots and lines.
func restoreFeeQuantities(in *posting.Input) {
	restore := func(l *posting.Leg) {
		if l.FeeQuantity.IsZero() && l.Value != nil && !l.Value.Gross.IsZero() {
			l.FeeQuantity = l.Quantity.Mul(l.Value.Fee).Quo(l.Value.Gross, money.DigitsAfterMax)
		}
	}
	transfer := in.Out != nil && in.In != nil && in.Out.Asset.Symbol == in.In.Asset.Symbol
	if in.Out != nil && in.Out.Asset.Lots {
		restore(in.Out)
	}
	if in.In != nil && !in.In.Asset.Lots && !transfer {
		restore(in.In)
	}
}

// params returns the request that the entry was computed from.
func (r *bookingRow) params() (Params, error) {
	f, err := r.decode()
	return Params{TransactionID: r.TransactionID, Type: r.Type, LedgerAccountID: db.OrEmpty(r.AccountID),
		Splits: splitsOf(f.Input.Target.Splits), OffsetAccountID: db.OrEmpty(r.OffsetID)}, err
}

// effect returns the effect of the entry on lots, without the accounts of roles and without a plan.
func (r *bookingRow) effect() (replay.Effect, error) {
	f, err := r.decode()
	if err != nil {
		return replay.Effect{}, err
	}
	return replay.Effect{EntryID: r.EntryID, TransactionID: r.TransactionID, Type: r.Type, Label: f.Label, Number: f.Number,
		Block: f.Block, SeparateAccountID: f.SeparateAccountID, LotsTransactionID: f.LotsTransactionID, Picks: f.Picks,
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

// selectLoanAccounts reads the accounts of loans and repayments. An index has only these.
func selectLoanAccounts(ctx context.Context, tx *db.Tx) ([]string, error) {
	return db.All[string](ctx, tx, `SELECT DISTINCT ledger_account_id FROM bookings WHERE organization_id = @org
		AND transaction_type IN ('BORROW', 'REPAYMENT') AND ledger_account_id IS NOT NULL ORDER BY ledger_account_id`)
}
