package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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

// measureSheet shows that a balance sheet costs the same however much was booked, and holds it against a program that reads the journal.
func measureSheet(b *bench) (figures []figure, err error) {
	small, err := b.found("sheet")
	if err != nil {
		return nil, err
	}
	if err := b.fillSheet(small); err != nil {
		return nil, err
	}
	large, err := b.multiplied(small, "sheet-large", pick(b, 100, 10))
	if err != nil {
		return nil, err
	}
	middle, err := b.multiplied(small, "sheet-middle", pick(b, 10, 2))
	if err != nil {
		return nil, err
	}
	few, many, err := b.race(small, large)
	if err != nil {
		return nil, err
	}
	growth := many.at(0.5).Seconds() / few.at(0.5).Seconds()
	figures = append(figures, figure{name: "balance sheet, much booked to little", value: fmt.Sprintf("%.2f", growth),
		target: fmt.Sprintf("<= %.0f", sheetGrowthMax), verdict: judge(growth <= sheetGrowthMax),
		note: fmt.Sprintf("%d months by %d accounts: median %s with %d entries, %s with %d", sheetMonths, sheetAccounts,
			brief(few.at(0.5)), sheetEntries, brief(many.at(0.5)), sheetEntries*pick(b, 100, 10))})
	ours, _, err := b.race(middle, small)
	if err != nil {
		return nil, err
	}
	theirs, err := b.hledger(middle)
	if err != nil {
		return nil, err
	}
	times := theirs.Seconds() / ours.at(0.5).Seconds()
	return append(figures, figure{name: "balance sheet, of hledger", value: fmt.Sprintf("%.0f", times), target: fmt.Sprintf(">= %.0f",
		sheetHledgerMin), verdict: judge(times >= sheetHledgerMin || b.quick),
		note: fmt.Sprintf("`hledger bs -M` on the exported journal of %d entries %s, ours %s", sheetEntries*pick(b, 10, 2),
			theirs.Round(time.Millisecond), brief(ours.at(0.5)))}), nil
}

// fillSheet books entries over all accounts and months.
func (b *bench) fillSheet(k books) (err error) {
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
	for from := 0; from < sheetEntries; from += postBatch {
		entries := make([]client.CreateJournalEntry, postBatch)
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

// multiplied copies books and books everything in them so many times over. It goes past the service, which would take
// longer than the measurement.
func (b *bench) multiplied(k books, name string, times int) (books, error) {
	m := books{dir: filepath.Join(b.dir, name), key: k.key}
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
	copies := fmt.Sprintf("(WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < %d) SELECT n FROM c) c", times-1)
	for _, statement := range []string{
		"CREATE TEMP TABLE first_entries AS SELECT * FROM journal_entries",
		"CREATE TEMP TABLE first_lines AS SELECT * FROM journal_lines",
		fmt.Sprintf(`INSERT INTO journal_entries SELECT organization_id, journal_entry_id || c.n, number + c.n * %d, status,
			originated_by, legal_entity_id, legal_entity_auto_assigned, accounting_date,
			intended_accounting_date, period_auto_reassigned, accounting_period_id, posted_at, memo, classification, transaction_id,
			tag_ids, previous_entry_id, next_entry_id, search, created_at, updated_at
			FROM first_entries, %s`, sheetEntries, copies),
		fmt.Sprintf(`INSERT INTO journal_lines SELECT organization_id, journal_entry_id || c.n, position, journal_line_id || c.n,
			ledger_account_id, legal_entity_id, credit_or_debit, amount, currency, base_amount,
			memo, tag_ids, accounting_date, number + c.n * %d, is_posted FROM first_lines, %s`, sheetEntries, copies),
		fmt.Sprintf("UPDATE organization_state SET entry_number = entry_number * %d", times),
	} {
		if _, err := handle.Jobs().ExecContext(b.ctx, statement); err != nil {
			return m, fmt.Errorf("%w in %s", err, statement)
		}
	}
	// The totals are exact: they are added up as often as the entries were.
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

// race asks two services for the same sheet in turns.
func (b *bench) race(one, two books) (first, second tally, err error) {
	tallies := []*tally{&first, &second}
	var crowds []*crowd
	var servers []*server
	for _, k := range []books{one, two} {
		s, err := b.serve(k)
		if err != nil {
			return first, second, err
		}
		defer func() { err = errors.Join(err, s.stop()) }()
		c, err := dial(s.host, 1)
		if err != nil {
			return first, second, err
		}
		defer c.close()
		crowds, servers = append(crowds, c), append(servers, s)
	}
	for round := range pick(b, 60, 20) {
		for i, c := range crowds {
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

// hledger exports books and lets hledger make the same sheet.
func (b *bench) hledger(k books) (time.Duration, error) {
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
