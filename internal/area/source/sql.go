package source

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

type row struct {
	ID              string     `db:"source_id"`
	AccountID       *string    `db:"account_id"`
	Type            string     `db:"source_type"`
	Provider        string     `db:"provider"`
	Name            string     `db:"name"`
	LegalEntityID   string     `db:"legal_entity_id"`
	LedgerAccountID string     `db:"ledger_account_id"`
	Chain           *string    `db:"chain"`
	Address         *string    `db:"address"`
	AddressKey      *string    `db:"address_key"`
	Currency        *string    `db:"currency"`
	Manual          bool       `db:"is_manual"`
	ItemID          *string    `db:"item_id"`
	ExternalID      *string    `db:"external_id"`
	DeletedAt       *time.Time `db:"deleted_at"`
	CreatedAt       time.Time  `db:"created_at"`
	UpdatedAt       *time.Time `db:"updated_at"`
}

func toRow(s Source) row {
	return row{
		s.ID, db.OrNull(s.AccountID), string(s.Type), s.Provider, s.Name, s.LegalEntityID, s.LedgerAccountID, db.OrNull(s.Chain), db.OrNull(s.Address),
		db.OrNull(AddressKey(s.Address)), db.OrNull(s.Currency), s.Manual, db.OrNull(s.ItemID), db.OrNull(s.ExternalID), s.DeletedAt, s.CreatedAt, s.UpdatedAt,
	}
}

func (r row) source() Source {
	return Source{
		r.ID, db.OrEmpty(r.AccountID), Type(r.Type), r.Provider, r.Name, r.LegalEntityID, r.LedgerAccountID, db.OrEmpty(r.Chain), db.OrEmpty(r.Address),
		db.OrEmpty(r.Currency), r.Manual, db.OrEmpty(r.ItemID), db.OrEmpty(r.ExternalID), r.DeletedAt, r.CreatedAt, r.UpdatedAt,
	}
}

var selectRows = "SELECT " + db.Columns[row]() + " FROM sources WHERE organization_id = @org"

func find(ctx context.Context, tx *db.Tx, sourceID string) (Source, error) {
	r, err := db.One[row](ctx, tx, noun, selectRows+" AND (source_id = ? OR account_id = ?)", sourceID, sourceID)
	return r.source(), err
}

func selectAll(ctx context.Context, tx *db.Tx) ([]Source, error) {
	rows, err := db.All[row](ctx, tx, selectRows+" AND deleted_at IS NULL ORDER BY source_id")
	out := make([]Source, len(rows))
	for i, r := range rows {
		out[i] = r.source()
	}
	return out, err
}

func selectSome(ctx context.Context, tx *db.Tx, ids []string) (map[string]Source, error) {
	rows, err := db.All[row](ctx, tx, selectRows+" AND source_id {any}", ids)
	out := make(map[string]Source, len(rows))
	for _, r := range rows {
		out[r.ID] = r.source()
	}
	return out, err
}
