package reconciliation

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

type row struct {
	ID        string    `db:"reconciliation_id"`
	SourceID  string    `db:"source_id"`
	At        time.Time `db:"reconciled_at"`
	Note      *string   `db:"note"`
	UserID    *string   `db:"user_id"`
	APIKeyID  *string   `db:"api_key_id"`
	CreatedAt time.Time `db:"created_at"`
}

type figuresRow struct {
	ReconciliationID string         `db:"reconciliation_id"`
	AssetType        string         `db:"asset_type"`
	ComparedAt       time.Time      `db:"compared_at"`
	Book             *money.Decimal `db:"book_quantity"`
	Transactions     *money.Decimal `db:"moved_quantity"`
	Observed         *money.Decimal `db:"observed_quantity"`
}

func insert(ctx context.Context, tx *db.Tx, r Reconciliation) error {
	if err := db.Insert(ctx, tx, "reconciliations", row{ID: r.ID, SourceID: r.SourceID, At: r.At, Note: db.OrNull(r.Note),
		UserID: db.OrNull(r.UserID), APIKeyID: db.OrNull(r.APIKeyID), CreatedAt: r.CreatedAt}); err != nil {
		return err
	}
	rows := make([]figuresRow, len(r.Assets))
	for n, c := range r.Assets {
		rows[n] = figuresRow{ReconciliationID: r.ID, AssetType: c.AssetType, ComparedAt: c.ComparedAt, Book: c.Book,
			Transactions: c.Transactions, Observed: c.Observed}
	}
	return db.Insert(ctx, tx, "reconciliation_figures", rows...)
}

func remove(ctx context.Context, tx *db.Tx, reconciliationID string) error {
	for _, table := range []string{"DELETE FROM reconciliation_figures", "DELETE FROM reconciliations"} {
		if err := tx.Queue(ctx, table+" WHERE organization_id = @org AND reconciliation_id = ?", reconciliationID); err != nil {
			return err
		}
	}
	return nil
}

var selectRows = "SELECT " + db.Columns[row]() + " FROM reconciliations WHERE organization_id = @org"

// read adds the figures to reconciliations.
func read(ctx context.Context, tx *db.Tx, rows []row) ([]Reconciliation, error) {
	ids, out := make([]string, len(rows)), make([]Reconciliation, len(rows))
	for n, r := range rows {
		ids[n] = r.ID
		out[n] = Reconciliation{ID: r.ID, SourceID: r.SourceID, At: r.At, Note: db.OrEmpty(r.Note), UserID: db.OrEmpty(r.UserID),
			APIKeyID: db.OrEmpty(r.APIKeyID), CreatedAt: r.CreatedAt}
	}
	if len(rows) == 0 {
		return out, nil
	}
	figures, err := db.All[figuresRow](ctx, tx, "SELECT "+db.Columns[figuresRow]()+
		" FROM reconciliation_figures WHERE organization_id = @org AND reconciliation_id {any} ORDER BY asset_type", ids)
	for _, f := range figures {
		for n := range out {
			if out[n].ID == f.ReconciliationID {
				out[n].Assets = append(out[n].Assets, Compared{AssetType: f.AssetType, ComparedAt: f.ComparedAt, Observed: f.Observed, Book: f.Book,
					Transactions: f.Transactions})
			}
		}
	}
	return out, err
}

// selectPage reads the reconciliations of a source, the latest first, before an instant if it is not zero.
func selectPage(ctx context.Context, tx *db.Tx, sourceID string, before time.Time, limit int) ([]Reconciliation, error) {
	q := db.Select(selectRows).And("source_id = ?", sourceID)
	if !before.IsZero() {
		q.And("reconciled_at < ?", before)
	}
	rows, err := db.All[row](ctx, tx, q.Then("ORDER BY reconciled_at DESC LIMIT ?", limit), q.Args...)
	if err != nil {
		return nil, err
	}
	return read(ctx, tx, rows)
}

// selectLatest reads the latest reconciliation of a source; nil if there is none.
func selectLatest(ctx context.Context, tx *db.Tx, sourceID string) (*Reconciliation, error) {
	found, err := selectPage(ctx, tx, sourceID, time.Time{}, 1)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

func selectOne(ctx context.Context, tx *db.Tx, sourceID, reconciliationID string) (Reconciliation, error) {
	rows, err := db.All[row](ctx, tx, selectRows+" AND source_id = ? AND reconciliation_id = ?", sourceID, reconciliationID)
	if err == nil && len(rows) == 0 {
		err = fault.Missing(noun)
	}
	if err != nil {
		return Reconciliation{}, err
	}
	found, err := read(ctx, tx, rows)
	if err != nil {
		return Reconciliation{}, err
	}
	return found[0], nil
}

// selectCovering reads the first reconciliation of a source at an instant or after it; nil if there is none.
func selectCovering(ctx context.Context, tx *db.Tx, sourceID string, at time.Time) (*Reconciliation, error) {
	rows, err := db.All[row](ctx, tx, selectRows+" AND source_id = ? AND reconciled_at >= ? ORDER BY reconciled_at LIMIT 1", sourceID, at)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	found, err := read(ctx, tx, rows)
	if err != nil {
		return nil, err
	}
	return &found[0], nil
}
