package db

import (
	"context"
	"database/sql"
	"sync"
)

// preparedMax bounds the statements SQLite keeps compiled; pgx keeps its own for PostgreSQL.
const preparedMax = 512

// prepared keeps SQLite statements compiled: parsing costs it more than running most of ours.
type prepared struct {
	mu     sync.RWMutex
	stmts  map[preparedKey]*sql.Stmt
	wanted []string // seen by the writer, compiled between two transactions
}

type preparedKey struct {
	pool *sql.DB
	sql  string
}

// preparedFor gives a compiled statement, or nil where the driver should get the text.
func (d *DB) preparedFor(ctx context.Context, pool *sql.DB, text string) (*sql.Stmt, error) {
	if d.engine != SQLite {
		return nil, nil
	}
	p := &d.prepared
	p.mu.RLock()
	stmt, full := p.stmts[preparedKey{pool, text}], len(p.stmts) >= preparedMax
	p.mu.RUnlock()
	switch {
	case stmt != nil || full:
		return stmt, nil
	case pool == d.write:
		// The one write connection is taken by the transaction that asks: preparing on its pool now would wait for itself.
		p.mu.Lock()
		defer p.mu.Unlock()
		p.wanted = append(p.wanted, text)
		return nil, nil
	}
	return d.prepare(ctx, pool, text)
}

// prepareWanted runs between two transactions of the writer. A statement that will not compile fails where it is used.
func (d *DB) prepareWanted() {
	p := &d.prepared
	p.mu.Lock()
	wanted := p.wanted
	p.wanted = nil
	p.mu.Unlock()
	for _, text := range wanted {
		_, _ = d.prepare(context.Background(), d.write, text)
	}
}

func (d *DB) prepare(ctx context.Context, pool *sql.DB, text string) (*sql.Stmt, error) {
	stmt, err := pool.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	p, key := &d.prepared, preparedKey{pool, text}
	p.mu.Lock()
	defer p.mu.Unlock()
	if other := p.stmts[key]; other != nil {
		_ = stmt.Close()
		return other, nil
	}
	if p.stmts == nil {
		p.stmts = make(map[preparedKey]*sql.Stmt)
	}
	p.stmts[key] = stmt
	return stmt, nil
}
