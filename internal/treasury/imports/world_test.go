package imports_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/rules/intake"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
	"github.com/bursarhq/bursar/internal/treasury/imports"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// company is an organization with a source to import into.
type company struct {
	*imports.Service
	db     *db.DB
	ctx    context.Context
	org    organization.Created
	source source.Source
}

// wallet is the address that the explorer files belong to.
const wallet = "0xabcdef0000000000000000000000000000000001"

func newCompany(t *testing.T, d *db.DB) *company {
	t.Helper()
	f, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com",
		Currency: "USD", Timezone: "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	c := &company{Service: imports.NewService(d), db: d, ctx: actor.With(t.Context(), actor.Actor{OrganizationID: f.Organization.ID,
		UserID: f.Owner.UserID}), org: f, source: source.Source{}}
	c.source = c.newSource(t, source.Source{ID: "src_1", AccountID: "wal_1", Type: source.Exchange, Address: wallet,
		LegalEntityID: f.LegalEntity.ID})
	return c
}

// newSource creates a source without the validation of package source, which has its own tests.
func (c *company) newSource(t *testing.T, s source.Source) source.Source {
	t.Helper()
	type row struct {
		ID       string    `db:"source_id"`
		Account  *string   `db:"account_id"`
		Type     string    `db:"source_type"`
		From     string    `db:"provider"`
		Name     string    `db:"name"`
		Entity   string    `db:"legal_entity_id"`
		Ledger   string    `db:"ledger_account_id"`
		Address  *string   `db:"address"`
		Currency *string   `db:"currency"`
		Manual   bool      `db:"is_manual"`
		Created  time.Time `db:"created_at"`
	}
	c.write(t, func(ctx context.Context, tx *db.Tx) error {
		audit.Record(ctx, tx, audit.Change{Action: "source.created", ResourceType: "source", ResourceID: s.ID, After: map[string]any{}})
		return db.Insert(ctx, tx, "sources", row{ID: s.ID, Account: db.OrNull(s.AccountID), Type: string(s.Type), From: "file",
			Name: s.ID, Entity: s.LegalEntityID, Ledger: "lac_1", Address: db.OrNull(s.Address), Currency: db.OrNull(s.Currency),
			Manual: true, Created: tx.Now()})
	})
	return s
}

func (c *company) write(t *testing.T, fn db.Func) {
	t.Helper()
	if err := c.db.Write(c.ctx, c.org.Organization.ID, fn); err != nil {
		t.Fatal(err)
	}
}

// exec changes the database directly, with an audit record so that it commits.
func (c *company) exec(t *testing.T, statement string, args ...any) {
	t.Helper()
	c.write(t, func(ctx context.Context, tx *db.Tx) error {
		audit.Record(ctx, tx, audit.Change{Action: "test.done", ResourceType: "test", ResourceID: "x", After: map[string]any{}})
		_, err := tx.Exec(ctx, statement, args...)
		return err
	})
}

// createImport uploads a file and creates an import.
func (c *company) createImport(t *testing.T, name, content string, m *intake.Mapping) imports.Import {
	t.Helper()
	file := strings.NewReader(content)
	d, err := c.Prepare(c.ctx, imports.Params{SourceID: c.source.ID, FileName: name, Mapping: m}, file, false)
	if err != nil {
		t.Fatal(err)
	}
	importID, err := c.Upload(c.ctx, d, file)
	if err != nil {
		t.Fatal(err)
	}
	i, err := c.Create(c.ctx, importID)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// run reads an import to its end.
func (c *company) run(t *testing.T, importID string) imports.Import {
	t.Helper()
	i, err := c.Run(t.Context(), c.org.Organization.ID, importID, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.check(t)
	return i
}

func (c *company) check(t *testing.T) {
	t.Helper()
	err := c.db.Read(t.Context(), c.org.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
		found, err := imports.Verify(ctx, tx)
		if len(found) > 0 {
			t.Errorf("check: %v", found)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// transactionText is a transaction as a line of text.
type transactionText struct {
	ExternalID string    `db:"external_id"`
	At         time.Time `db:"transaction_date"`
	Direction  string    `db:"direction"`
	Quantity   *string   `db:"quantity"`
	Currency   string    `db:"currency"`
	Text       string    `db:"description"`
}

func (x transactionText) String() string {
	quantity := "?"
	if x.Quantity != nil {
		quantity = *x.Quantity
	}
	return fmt.Sprintf("%s %s %s %s %s %q", x.ExternalID, x.At.Format(time.RFC3339), x.Direction, quantity, x.Currency, x.Text)
}

// transactions returns all transactions, sorted by external id.
func (c *company) transactions(t *testing.T) (out []string) {
	t.Helper()
	err := c.db.Read(t.Context(), c.org.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
		rows, err := db.All[transactionText](ctx, tx,
			"SELECT external_id, transaction_date, direction, CAST(quantity AS TEXT) AS quantity, currency, description FROM transactions "+
				"WHERE organization_id = @org ORDER BY external_id")
		for _, r := range rows {
			out = append(out, r.String())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (c *company) count(t *testing.T, table string) (n int64) {
	t.Helper()
	err := c.db.Read(t.Context(), c.org.Organization.ID, func(ctx context.Context, tx *db.Tx) (err error) {
		n, err = db.One[int64](ctx, tx, "count", "SELECT count(*) FROM "+table+" WHERE organization_id = @org")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// plain maps the columns of a statement.
var plain = &intake.Mapping{Columns: map[intake.Field]string{"id": "ID", "timestamp": "Date", "description": "Description",
	"amount": "Amount", "currency": "Currency"}}

const header = "ID,Date,Description,Amount,Currency\n"

// statement returns a plain file with the rows of a range.
func statement(from, to int) string {
	var b bytes.Buffer
	b.WriteString(header)
	for n := from; n < to; n++ {
		sign := ""
		if n%3 == 0 {
			sign = "-"
		}
		fmt.Fprintf(&b, "T%05d,2026-%02d-%02d,Payment %d,%s%d.25,USD\n", n, n%12+1, n%28+1, n, sign, n+1)
	}
	return b.String()
}

// numbered returns the ids of such rows.
func numbered(lines []string) (ids []string) {
	for _, line := range lines {
		id, _, _ := strings.Cut(line, " ")
		ids = append(ids, id)
	}
	return ids
}

// hasAll fails unless exactly the rows from 0 up to a number exist, each once.
func (c *company) hasAll(t *testing.T, rows int) {
	t.Helper()
	ids := numbered(c.transactions(t))
	if len(ids) != rows || !slices.IsSorted(ids) || len(slices.Compact(ids)) != rows {
		t.Fatalf("%d transactions, %d different ones, want %d", len(ids), len(slices.Compact(ids)), rows)
	}
}
