package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bursarhq/bursar/internal/db"
)

// The rows are those that the service writes, in its own tables with all their columns and indexes. Balances are updated in
// key order, as a careful program would.
const (
	plainHeader = `INSERT INTO journal_entries (organization_id, journal_entry_id, number, status, originated_by, legal_entity_id,
		legal_entity_auto_assigned, accounting_date,
		period_auto_reassigned, accounting_period_id, posted_at, memo, classification, tag_ids, search, created_at, updated_at)
		VALUES ('org_plain', $1, $2, 'posted', 'manual', 'le_plain', $3, $4, $3, 'ap_plain', $4, 'bench entry', 'UNKNOWN', '',
		'je bench entry', $4, $4)`
	plainLines = `INSERT INTO journal_lines (organization_id, journal_entry_id, position, journal_line_id, ledger_account_id,
		legal_entity_id, credit_or_debit, amount, currency,
		base_amount, tag_ids, accounting_date, number, is_posted)
		VALUES ('org_plain', $1, 0, $2, $3, 'le_plain', 'DEBIT', $4, 'USD', $4, '', $5, $6, $7), ('org_plain', $1, 1, $8, $9, 'le_plain',
		'CREDIT', $4, 'USD', $4, '', $5, $6, $7)`
	plainBalance = `INSERT INTO account_balances (organization_id, tag_id, legal_entity_id, ledger_account_id, accounting_period_id,
		debits, credits)
		VALUES ('org_plain', '', 'le_plain', $1, 'ap_plain', $2, $3) ON CONFLICT (organization_id, tag_id, legal_entity_id,
		ledger_account_id, accounting_period_id)
		DO UPDATE SET debits = ADD(account_balances.debits, excluded.debits), credits = ADD(account_balances.credits, excluded.credits)`
)

// plainEntry is one entry of two lines.
type plainEntry struct {
	number        int64
	id            string
	debit, credit string
	amount        string
}

var plainEntries atomic.Int64

func newPlainEntry(accounts choice) plainEntry {
	debit, credit := accounts()
	n := plainEntries.Add(1)
	// Ids have the length and the order of the service's.
	return plainEntry{number: n, id: fmt.Sprintf("%026d", n), debit: fmt.Sprintf("lac_%026d", debit),
		credit: fmt.Sprintf("lac_%026d", credit), amount: fmt.Sprintf("%d.%02d", 1+rand.IntN(5000), rand.IntN(100))}
}

// statements returns the statements of one entry, with their arguments.
func (e plainEntry) statements(at, no, yes any) (out [][]any) {
	out = append(out,
		[]any{plainHeader, "je_" + e.id, e.number, no, at},
		[]any{plainLines, "je_" + e.id, "jea_" + e.id, e.debit, e.amount, at, e.number, yes, "jeb_" + e.id, e.credit})
	balances := [][]any{{plainBalance, e.debit, e.amount, "0"}, {plainBalance, e.credit, "0", e.amount}}
	slices.SortFunc(balances, func(a, b []any) int { return strings.Compare(a[1].(string), b[1].(string)) })
	return append(out, balances...)
}

// runWriters keeps clients committing for a duration and counts the entries, perCommit per transaction.
func runWriters(d time.Duration, clients, perCommit int, commit func(client int) error) (tally, error) {
	parts, errs := make([]int, clients), make([]error, clients)
	began := time.Now()
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			for time.Since(began) < d {
				if errs[i] = commit(i); errs[i] != nil {
					return
				}
				parts[i] += perCommit
			}
		})
	}
	wg.Wait()
	total := 0
	for _, n := range parts {
		total += n
	}
	return tally{time.Since(began), make([]time.Duration, total)}, errors.Join(errs...)
}

type plainPostgres struct {
	ctx  context.Context
	pool *pgxpool.Pool
}

// plainPostgres opens one connection per client. The service has created the tables.
func (b *bench) plainPostgres(url string) (*plainPostgres, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	config.MaxConns = postClients
	pool, err := pgxpool.NewWithConfig(b.ctx, config)
	return &plainPostgres{b.ctx, pool}, err
}

func (p *plainPostgres) close() error {
	p.pool.Close()
	return nil
}

func (p *plainPostgres) run(d time.Duration, clients, perCommit int, accounts choice) (tally, error) {
	return runWriters(d, clients, perCommit, func(int) error {
		return pgx.BeginFunc(p.ctx, p.pool, func(tx pgx.Tx) error {
			for range perCommit {
				for _, s := range newPlainEntry(accounts).statements(time.Now(), false, true) {
					text := strings.ReplaceAll(s[0].(string), "ADD(", "numeric_add(")
					if _, err := tx.Exec(p.ctx, text, s[1:]...); err != nil {
						return err
					}
				}
			}
			return nil
		})
	})
}

type plainSQLite struct {
	ctx    context.Context
	handle *db.DB
	pool   *sql.DB
	stmts  map[string]*sql.Stmt
}

// plainSQLite opens a database with the same driver, settings and tables.
func (b *bench) plainSQLite(dir string) (*plainSQLite, error) {
	handle, err := db.Open(db.Config{Dir: dir})
	if err != nil {
		return nil, err
	}
	if err := handle.Prepare(b.ctx); err != nil {
		return nil, errors.Join(err, handle.Close())
	}
	p := &plainSQLite{b.ctx, handle, handle.Jobs(), map[string]*sql.Stmt{}}
	for _, text := range []string{plainHeader, plainLines, plainBalance} {
		numbered := strings.ReplaceAll(strings.ReplaceAll(text, "$", "?"), "ADD(", "dec_add(")
		if p.stmts[text], err = p.pool.PrepareContext(b.ctx, numbered); err != nil {
			return nil, errors.Join(err, handle.Close())
		}
	}
	return p, nil
}

func (p *plainSQLite) close() error { return p.handle.Close() }

func (p *plainSQLite) run(d time.Duration, clients, perCommit int, accounts choice) (tally, error) {
	return runWriters(d, clients, perCommit, func(int) (err error) {
		tx, err := p.pool.BeginTx(p.ctx, nil)
		if err != nil {
			return err
		}
		defer func() {
			if err != nil {
				_ = tx.Rollback()
			}
		}()
		for range perCommit {
			for _, s := range newPlainEntry(accounts).statements("2026-01-15T00:00:00.000Z", 0, 1) {
				if _, err := tx.StmtContext(p.ctx, p.stmts[s[0].(string)]).ExecContext(p.ctx, s[1:]...); err != nil {
					return err
				}
			}
		}
		return tx.Commit()
	})
}
