package db

import (
	"context"
	"database/sql"
	"slices"
	"sync"
)

// preparedMax bounds the statements SQLite keeps compiled; pgx keeps its own for PostgreSQL.
const preparedMax = 512

// prepared keeps SQLite statements compiled: parsing costs it more than running most of ours.
type prepared struct {
	mu     sync.RWMutex
	stmts  map[preparedKey]*sql.Stmt
	wanted map[*sql.DB][]string // met inside a transaction, compiled after it
}

type preparedKey struct {
	pool *sql.DB
	text string
}

// preparedFor gives a compiled statement, or nil where the driver should get the text. It never takes a connection: the caller may hold
// the last one, and would wait for itself. What is missing is noted and compiled between two transactions.
func (d *DB) preparedFor(pool *sql.DB, text string) *sql.Stmt {
	if d.engine != SQLite {
		return nil
	}
	p, key := &d.prepared, preparedKey{pool, text}
	p.mu.RLock()
	stmt, full := p.stmts[key], len(p.stmts) >= preparedMax
	p.mu.RUnlock()
	if stmt == nil && !full {
		p.want(key)
	}
	return stmt
}

func (p *prepared) want(key preparedKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.wanted == nil {
		p.wanted = make(map[*sql.DB][]string)
	}
	if !slices.Contains(p.wanted[key.pool], key.text) {
		p.wanted[key.pool] = append(p.wanted[key.pool], key.text)
	}
}

// prepareWanted compiles what was noted for a pool. It is called where no connection of it is held; a statement that will not compile
// fails where it is used.
func (d *DB) prepareWanted(ctx context.Context, pool *sql.DB) {
	p := &d.prepared
	p.mu.RLock()
	none := len(p.wanted[pool]) == 0
	p.mu.RUnlock()
	if none {
		return
	}
	p.mu.Lock()
	texts := p.wanted[pool]
	delete(p.wanted, pool)
	p.mu.Unlock()
	for _, text := range texts {
		if stmt, err := pool.PrepareContext(ctx, text); err == nil {
			p.keep(preparedKey{pool, text}, stmt)
		}
	}
}

func (p *prepared) keep(key preparedKey, stmt *sql.Stmt) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stmts[key] != nil { // another goroutine was faster
		_ = stmt.Close()
		return
	}
	if p.stmts == nil {
		p.stmts = make(map[preparedKey]*sql.Stmt)
	}
	p.stmts[key] = stmt
}
