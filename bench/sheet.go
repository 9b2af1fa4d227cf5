package main

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
)

const (
	sheetMonths     = 36
	sheetAccounts   = 60
	sheetEntries    = 10_000
	sheetGrowthMax  = 2.0
	sheetHledgerMin = 100.0
	sheetPath       = "/v1/reports/balance-sheet?omit_zero_accounts=false"
)

// balanceSheet shows that a balance sheet costs the same however many entries there are, and compares it with hledger, which
// reads the journal.
func (b *bench) balanceSheet(e engine) (figures []figure, err error) {
	small, err := b.create(e, "sheet")
	if err != nil {
		return nil, err
	}
	if err := b.fillSheet(small); err != nil {
		return nil, err
	}
	large, err := b.multiplied(small, "sheet-large", pick(b, 100, 10, 3))
	if err != nil {
		return nil, err
	}
	middle, err := b.multiplied(small, "sheet-middle", pick(b, 10, 2, 2))
	if err != nil {
		return nil, err
	}
	few, many, err := b.race(small, large)
	if err != nil {
		return nil, err
	}
	growth := many.at(0.5).Seconds() / few.at(0.5).Seconds()
	figures = append(figures, figure{name: "balance sheet, many entries to few", value: fmt.Sprintf("%.2f", growth),
		target: fmt.Sprintf("<= %.0f", sheetGrowthMax), verdict: b.judge(growth <= sheetGrowthMax),
		note: fmt.Sprintf("%d months by %d accounts: median %s with %d entries, %s with %d", sheetMonths, sheetAccounts,
			rounded(few.at(0.5)), b.sheetEntries(), rounded(many.at(0.5)), b.sheetEntries()*pick(b, 100, 10, 3))})
	ours, _, err := b.race(middle, small)
	if err != nil {
		return nil, err
	}
	theirs, err := b.hledger(middle)
	if err != nil {
		return nil, err
	}
	times := theirs.Seconds() / ours.at(0.5).Seconds()
	return append(figures, figure{name: "balance sheet, times faster than hledger", value: fmt.Sprintf("%.0f", times),
		target: fmt.Sprintf(">= %.0f", sheetHledgerMin), verdict: b.judgeFrom(full, times >= sheetHledgerMin),
		note: fmt.Sprintf("`hledger bs -M` on the exported journal of %d entries %s, ours %s", b.sheetEntries()*pick(b, 10, 2, 2),
			theirs.Round(time.Millisecond), rounded(ours.at(0.5)))}), nil
}

// sheetEntries returns how many entries the smallest journal has.
func (b *bench) sheetEntries() int { return pick(b, sheetEntries, sheetEntries, 200) }

// fillSheet posts entries over all accounts and months.
func (b *bench) fillSheet(k database) error { return b.fillEntries(k, b.sheetEntries()) }

// fillEntries posts entries to new accounts over three years.
func (b *bench) fillEntries(k database, total int) (err error) {
	s, err := b.serve(k)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	c := s.client()
	var accounts []string
	for i := range sheetAccounts {
		a, err := c.CreateLedgerAccount(b.ctx, client.CreateLedgerAccount{Name: fmt.Sprint("Account ", i),
			Type: []string{"Asset", "Liability", "Equity"}[i%3]})
		if err != nil {
			return err
		}
		accounts = append(accounts, a.ID)
	}
	for from := 0; from < total; from += postBatch {
		entries := make([]client.CreateJournalEntry, min(postBatch, total))
		for i := range entries {
			n := from + i
			month := n % sheetMonths
			amount := fmt.Sprintf("%d.%02d", 1+n%997, n%100)
			entries[i] = client.CreateJournalEntry{
				AccountingDate: fmt.Sprintf("%d-%02d-%02d", 2022+month/12, 1+month%12, 1+n%28), Status: "posted", Memo: fmt.Sprint("Entry ", n),
				Lines: []client.CreateJournalLine{
					{LedgerAccountID: accounts[n%sheetAccounts], CreditOrDebit: "DEBIT", Amount: amount},
					{LedgerAccountID: accounts[(n*7+1)%sheetAccounts], CreditOrDebit: "CREDIT", Amount: amount},
				},
			}
		}
		if _, err := c.CreateJournalEntries(b.ctx, entries); err != nil {
			return err
		}
	}
	return nil
}

// multiplied copies a database and multiplies the journal in it. It writes to the database directly, because posting that much
// through the service would take longer than the measurement.
func (b *bench) multiplied(k database, name string, times int) (database, error) {
	m := database{dir: filepath.Join(b.dir, name), key: k.key}
	if err := os.MkdirAll(m.dir, 0o750); err != nil {
		return m, err
	}
	if err := b.command("--data", k.dir, "backup", filepath.Join(m.dir, db.File)).Run(); err != nil {
		return m, explain(err)
	}
	handle, err := db.Open(db.Config{Dir: m.dir})
	if err != nil {
		return m, err
	}
	defer handle.Close()
	pool := handle.Jobs()
	entries, err := b.copyRows(pool, "journal_entries", times, map[string]string{
		"journal_entry_id": "journal_entry_id || c.n", "number": fmt.Sprintf("number + c.n * %d", b.sheetEntries())})
	if err != nil {
		return m, err
	}
	lines, err := b.copyRows(pool, "journal_lines", times, map[string]string{"journal_entry_id": "journal_entry_id || c.n",
		"journal_line_id": "journal_line_id || c.n", "number": fmt.Sprintf("number + c.n * %d", b.sheetEntries())})
	if err != nil {
		return m, err
	}
	for _, statement := range append(append(entries, lines...),
		fmt.Sprintf("UPDATE organization_state SET entry_number = entry_number * %d", times)) {
		if _, err := pool.ExecContext(b.ctx, statement); err != nil {
			return m, fmt.Errorf("%w in %s", err, statement)
		}
	}
	// Balances are multiplied by exact addition.
	for range times - 1 {
		const again = `UPDATE account_balances SET debits = dec_add(debits, (SELECT f.debits FROM first_balances f WHERE f.k =
			legal_entity_id || ledger_account_id || accounting_period_id)),
			credits = dec_add(credits, (SELECT f.credits FROM first_balances f WHERE f.k = legal_entity_id || ledger_account_id ||
			accounting_period_id))`
		for _, statement := range []string{"CREATE TEMP TABLE IF NOT EXISTS first_balances AS SELECT legal_entity_id || " +
			"ledger_account_id || accounting_period_id AS k, debits, credits FROM account_balances",
			"CREATE INDEX IF NOT EXISTS temp.first_balances_by_key ON first_balances (k)", again} {
			if _, err := handle.Jobs().ExecContext(b.ctx, statement); err != nil {
				return m, fmt.Errorf("%w in %s", err, statement)
			}
		}
	}
	return m, nil
}

// copyRows returns statements that add so many copies of every row of a table, with some columns changed. All other columns
// are read from the table, so that a later migration does not break the statement.
func (b *bench) copyRows(pool *sql.DB, table string, times int, changed map[string]string) ([]string, error) {
	rows, err := pool.QueryContext(b.ctx, "SELECT * FROM "+table+" LIMIT 0")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	values := make([]string, len(columns))
	for i, name := range columns {
		values[i] = cmp.Or(changed[name], name)
	}
	return []string{
		"CREATE TEMP TABLE first_" + table + " AS SELECT * FROM " + table,
		fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM first_%s, (WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c "+
			"WHERE n < %d) SELECT n FROM c) c", table, strings.Join(columns, ", "), strings.Join(values, ", "), table, times-1),
	}, rows.Err()
}

// race asks two services for the same balance sheet alternately.
func (b *bench) race(one, two database) (first, second tally, err error) {
	tallies := []*tally{&first, &second}
	var pools []*connections
	var servers []*server
	for _, k := range []database{one, two} {
		s, err := b.serve(k)
		if err != nil {
			return first, second, err
		}
		defer func() { err = errors.Join(err, s.stop()) }()
		c := dial(s.host, 1)
		defer c.close()
		pools, servers = append(pools, c), append(servers, s)
	}
	for round := range pick(b, 60, 20, 6) {
		for i, c := range pools {
			t, err := c.times(1, servers[i].get(sheetPath))
			if err != nil {
				return first, second, err
			}
			if round > 2 { // the first ones warm up
				tallies[i].add(t)
			}
		}
	}
	return first, second, nil
}

// hledger exports the journal and measures how long hledger takes for the same balance sheet.
func (b *bench) hledger(k database) (time.Duration, error) {
	file := filepath.Join(b.dir, "sheet.journal")
	if out, err := b.command("--data", k.dir, "export", "--format", "hledger", "--output", file).CombinedOutput(); err != nil {
		return 0, fmt.Errorf("export: %w\n%s", err, out)
	}
	began := time.Now()
	if out, err := exec.CommandContext(b.ctx, "hledger", "-f", file, "bs", "-M").Output(); err != nil {
		return 0, fmt.Errorf("hledger: %w\n%s", explain(err), out)
	}
	return time.Since(began), nil
}
