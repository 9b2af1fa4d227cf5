package reference_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/reference"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// guarded returns the tables whose records are deleted only when nothing refers to them.
func guarded() (out []string) {
	for _, t := range db.Tables {
		if t.Guarded {
			out = append(out, t.Name)
		}
	}
	return out
}

// found creates an organization and runs a function in a transaction of it that is rolled back.
func found(t *testing.T, d *db.DB, do func(ctx context.Context, tx *db.Tx)) {
	t.Helper()
	f, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com",
		Currency: "USD", Timezone: "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	_ = d.Write(t.Context(), f.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
		do(ctx, tx)
		return dbtest.ErrUndo
	})
}

// columnRow is a column that a row must have a value in.
type columnRow struct {
	Name string `db:"name"`
	Type string `db:"type"`
}

// required reads the columns of a table from the catalog.
func required(ctx context.Context, t *testing.T, d *db.DB, table string) []columnRow {
	t.Helper()
	query := "SELECT p.name, lower(p.type) AS type FROM pragma_table_info('" + table + `') p WHERE p."notnull" = 1`
	if d.Engine() == db.Postgres {
		query = "SELECT column_name::text AS name, data_type::text AS type FROM information_schema.columns WHERE table_schema = 'public' " +
			"AND is_nullable = 'NO' AND table_name = '" + table + "'"
	}
	var out []columnRow
	err := d.ReadAcross(ctx, "a test reads the catalog", func(ctx context.Context, tx *db.Tx) (err error) {
		out, err = db.All[columnRow](ctx, tx, query)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(out, func(c columnRow) bool { return c.Name == "organization_id" || c.Name == "row_key" })
}

// insert inserts a row with some values; the other required columns get a value that any row may have.
func insert(ctx context.Context, t *testing.T, tx *db.Tx, table string, columns []columnRow, values map[string]any) {
	t.Helper()
	names, args := []string{"organization_id"}, []any{}
	add := func(name string, value any) {
		names = append(names, name)
		args = append(args, value)
	}
	for _, c := range columns {
		if _, given := values[c.Name]; given {
			continue
		}
		switch {
		case strings.Contains(c.Type, "bool"):
			add(c.Name, true)
		case strings.Contains(c.Type, "time") || strings.HasSuffix(c.Name, "_at") || c.Name == "accounting_date" || c.Name == "transaction_date":
			add(c.Name, tx.Now())
		case strings.Contains(c.Type, "int"):
			add(c.Name, int64(1))
		case strings.Contains(c.Type, "bytea") || strings.Contains(c.Type, "blob"):
			add(c.Name, []byte("x"))
		default:
			add(c.Name, "1")
		}
	}
	for name, value := range values {
		add(name, value)
	}
	if _, err := tx.Exec(ctx, fmt.Sprintf("INSERT INTO %s (%s) VALUES (@org%s)", table, strings.Join(names, ", "),
		strings.Repeat(", ?", len(args))), args...); err != nil {
		t.Fatalf("%s: %v", table, err)
	}
}

// around lists the rows that a declared statement needs besides the referring row, by table and column.
var around = map[string][]struct {
	table  string
	values map[string]any
}{
	"account_balances.ledger_account_id":        {{"legal_entities", map[string]any{"legal_entity_id": "other"}}},
	"account_units.ledger_account_id":           {{"legal_entities", map[string]any{"legal_entity_id": "other"}}},
	"period_closing_balances.ledger_account_id": {{"period_closings", map[string]any{"period_closing_id": "other"}}},
	"journal_lines.legal_entity_id":             {{"journal_entries", map[string]any{"journal_entry_id": "other", "status": "draft"}}},
	"transaction_tags.tag_id":                   {{"transactions", map[string]any{"transaction_id": "other", "number": int64(1)}}},
	"lots.source_id":                            {{"sources", map[string]any{"source_id": "record", "legal_entity_id": "other"}}},
	"lot_uses.legal_entity_id":                  {{"lot_pools", map[string]any{"pool": "other", "legal_entity_id": "record"}}},
}

// fixedValues are what the columns of a referring row must have so that it counts.
var fixedValues = map[string]map[string]any{
	"account_balances": {"tag_id": "", "legal_entity_id": "other"},
	"account_units":    {"legal_entity_id": "other"},
	"journal_lines":    {"journal_entry_id": "other"}, "period_closing_balances": {"period_closing_id": "other"},
	"ledger_accounts": {"sequence_number": int64(9999)}, "transaction_tags": {"transaction_id": "other"},
	"invitations": {"status": "pending"},
	"lots":        {"legal_entity_id": "other"}, "lot_uses": {"pool": "other"},
}

// Every declared reference prevents the deletion of a record, or is ignored with a reason. Adding a table needs only its declaration.
func TestARowOfEveryReferringTableIsFound(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		columns := map[string][]columnRow{}
		for _, table := range db.Tables {
			if table.Owner != "db" {
				columns[table.Name] = required(t.Context(), t, d, table.Name)
			}
		}
		for _, table := range db.Tables {
			for _, l := range table.References {
				if !slices.Contains(guarded(), l.To) {
					continue
				}
				found(t, d, func(ctx context.Context, tx *db.Tx) {
					name := table.Name + "." + l.Column
					values := map[string]any{l.Column: "record"}
					for column, value := range fixedValues[table.Name] {
						if column != l.Column {
							values[column] = value
						}
					}
					for _, other := range around[name] {
						insert(ctx, t, tx, other.table, columns[other.table], other.values)
					}
					insert(ctx, t, tx, table.Name, columns[table.Name], values)
					check(ctx, t, tx, table, l)
				})
			}
		}
	})
}

// check looks for the row that was inserted: it prevents a deletion if the reference says so, and its reference is dangling.
func check(ctx context.Context, t *testing.T, tx *db.Tx, table db.Table, l db.Link) {
	t.Helper()
	uses, err := reference.To(ctx, tx, l.To, "record")
	if err != nil {
		t.Fatal(err)
	}
	isUse := slices.ContainsFunc(uses, func(u reference.Use) bool { return u.Table == table.Name && u.Count == 1 })
	if isUse != (l.Ignored == "") {
		t.Errorf("%s.%s: a row of it is listed: %v, in %v", table.Name, l.Column, isUse, uses)
	}
	if others, err := reference.To(ctx, tx, l.To, "another"); err != nil || len(others) > 0 {
		t.Errorf("%s.%s: %v also refers to another record, %v", table.Name, l.Column, others, err)
	}
	for _, field := range l.Fixes {
		if fixing, err := reference.Fixing(ctx, tx, l.To, field, "record"); err != nil || len(fixing) == 0 {
			t.Errorf("%s.%s: %s is not fixed, %v", table.Name, l.Column, field, err)
		}
	}
	dangling, err := reference.FindDangling(ctx, tx, l.To)
	wasDangling := slices.Contains(dangling, reference.Dangling{Table: table.Name, ID: "record"})
	exists := table.Name == "lots" && l.To == "sources" // The statement goes through the source, so there must be one.
	if want := !l.List && table.Name != l.To && !exists; err != nil || wasDangling != want {
		t.Errorf("%s.%s: the reference is dangling: %v, %v", table.Name, l.Column, wasDangling, err)
	}
	if err := reference.DeleteDependents(ctx, tx, l.To, "record"); err != nil {
		t.Fatal(err)
	}
	left, err := reference.FindDangling(ctx, tx, l.To)
	if gone := wasDangling && !slices.Contains(left, reference.Dangling{Table: table.Name, ID: "record"}); err != nil || gone != l.Cascades {
		t.Errorf("%s.%s: the row was deleted with its record: %v, %v", table.Name, l.Column, gone, err)
	}
}

// Finding what refers to a record must be fast however many rows there are, because other writes wait meanwhile.
func TestEveryReferenceHasAnIndexOrAReasonToHaveNone(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, dbtest.SQLite(t))
	type indexed struct {
		Table    string `db:"table_name"`
		Index    string `db:"index_name"`
		Position int64  `db:"position"`
		Column   string `db:"column_name"`
	}
	columns := map[string]map[string][]string{} // by table and index
	err := d.ReadAcross(t.Context(), "a test reads the catalog", func(ctx context.Context, tx *db.Tx) error {
		rows, err := db.All[indexed](ctx, tx, `SELECT m.name AS table_name, l.name AS index_name, i.seqno AS position,
			coalesce(i.name, '(expression)') AS column_name FROM sqlite_master m JOIN pragma_index_list(m.name) l
			JOIN pragma_index_info(l.name) i WHERE m.type = 'table' ORDER BY 1, 2, 3`)
		for _, r := range rows {
			if columns[r.Table] == nil {
				columns[r.Table] = map[string][]string{}
			}
			columns[r.Table][r.Index] = append(columns[r.Table][r.Index], r.Column)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range db.Tables {
		for _, l := range table.References {
			if !slices.Contains(guarded(), l.To) || l.Ignored != "" || l.Rows != "" {
				continue
			}
			found := false
			for _, names := range columns[table.Name] {
				at := slices.Index(names, l.Column)
				found = found || at == 1 || at == 2 && strings.HasPrefix(l.Where, names[1]+" IN")
			}
			if found == (l.Unindexed != "") {
				t.Errorf("%s.%s: there is an index that begins with it: %v; add one, or say in Unindexed why there is none", table.Name,
					l.Column, found)
			}
		}
	}
}

func TestAUseReadsAsAnAccountantWouldSayIt(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		columns := required(t.Context(), t, d, "journal_lines")
		found(t, d, func(ctx context.Context, tx *db.Tx) {
			for n := range 1001 {
				insert(ctx, t, tx, "journal_lines", columns, map[string]any{"ledger_account_id": "record", "position": int64(n), "number": int64(77)})
				want := map[int]string{0: "1 journal line, for example of JE-77", 1: "2 journal lines, for example of JE-77",
					1000: "at least 1000 journal lines, for example of JE-77"}[n]
				if want == "" {
					continue
				}
				if uses, err := reference.To(ctx, tx, "ledger_accounts", "record"); err != nil || uses.String() != want {
					t.Errorf("%s, want %s, %v", uses, want, err)
				}
			}
		})
	})
}

func TestRowsThatDoNotCountPreventNothing(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for name, c := range map[string]struct {
			to, table string
			values    map[string]any
		}{
			"a deleted entry": {"legal_entities", "journal_entries", map[string]any{"legal_entity_id": "record", "status": "deleted"}},
			"a balance of zero": {"legal_entities", "account_balances",
				map[string]any{"legal_entity_id": "record", "debits": "0", "credits": "0"}},
			"a tagged balance of zero": {"tags", "account_balances", map[string]any{"tag_id": "record", "debits": "0", "credits": "0"}},
			"a deleted transaction":    {"sources", "transactions", map[string]any{"source_id": "record", "visibility": int64(2)}},
			"an upload":                {"sources", "imports", map[string]any{"source_id": "record", "status": "uploading"}},
		} {
			columns := required(t.Context(), t, d, c.table)
			found(t, d, func(ctx context.Context, tx *db.Tx) {
				insert(ctx, t, tx, c.table, columns, c.values)
				if uses, err := reference.To(ctx, tx, c.to, "record"); err != nil || len(uses) > 0 {
					t.Errorf("%s: %s, %v", name, uses, err)
				}
			})
		}
	})
}

// A deleted source keeps its ledger account from being deleted, but not from being archived.
func TestOnlyActiveRowsPreventArchiving(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		columns := required(t.Context(), t, d, "sources")
		for deleted, want := range map[bool]int{false: 1, true: 0} {
			found(t, d, func(ctx context.Context, tx *db.Tx) {
				values := map[string]any{"ledger_account_id": "record"}
				if deleted {
					values["deleted_at"] = tx.Now()
				}
				insert(ctx, t, tx, "sources", columns, values)
				active, err := reference.ToActive(ctx, tx, "ledger_accounts", "record")
				if err != nil || len(active) != want {
					t.Errorf("deleted %v: %s, %v", deleted, active, err)
				}
				if uses, err := reference.To(ctx, tx, "ledger_accounts", "record"); err != nil || len(uses) != 1 {
					t.Errorf("deleted %v: %s, %v", deleted, uses, err)
				}
			})
		}
	})
}
