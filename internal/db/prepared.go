package db

import (
	"context"
	"database/sql"
	"slices"
	"sync"

	"github.com/bursarhq/bursar/internal/base/lru"
)

// preparedMax bounds the statements that stay compiled on SQLite; pgx has its own cache for PostgreSQL.
const preparedMax = 512

// prepared is a cache of compiled SQLite statements: compiling takes SQLite longer than running most of ours. The
// statement that was not used for the longest time makes room for a new one.
type prepared struct {
	mu     sync.Mutex
	stmts  *lru.Cache[preparedKey, *preparedStmt]
	wanted map[*sql.DB][]string // met inside a transaction, to be compiled after it
}

type preparedKey struct {
	pool *sql.DB
	text string
}

// preparedStmt is a compiled statement. It is closed when it is evicted and nobody is starting to run it; database/sql
// keeps it open for results that are still being read.
type preparedStmt struct {
	stmt    *sql.Stmt
	users   int
	evicted bool
}

// acquirePrepared returns a compiled statement and a function that releases it, or nil where the driver should get the
// text. It never takes a connection, because the caller may hold the last one and would wait for itself: a missing
// statement is compiled between two transactions.
func (d *DB) acquirePrepared(pool *sql.DB, text string) (*sql.Stmt, func()) {
	if d.engine != SQLite {
		return nil, nil
	}
	p, key := &d.prepared, preparedKey{pool, text}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stmts != nil {
		if s, ok := p.stmts.Get(key); ok {
			s.users++
			return s.stmt, func() { p.release(s) }
		}
	}
	p.want(key)
	return nil, nil
}

// release is called when the statement was run, before its results are read.
func (p *prepared) release(s *preparedStmt) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.users--
	if s.evicted && s.users == 0 {
		_ = s.stmt.Close()
	}
}

// evict closes a statement, or leaves that to whoever is about to run it.
func (p *prepared) evict(_ preparedKey, s *preparedStmt) {
	s.evicted = true
	if s.users == 0 {
		_ = s.stmt.Close()
	}
}

// want notes a statement that should be compiled. One transaction can note no more than the cache has room for.
func (p *prepared) want(key preparedKey) {
	if p.wanted == nil {
		p.wanted = make(map[*sql.DB][]string)
	}
	if texts := p.wanted[key.pool]; len(texts) < preparedMax && !slices.Contains(texts, key.text) {
		p.wanted[key.pool] = append(texts, key.text)
	}
}

// prepareWanted compiles the statements that were noted for a pool. It is called where no connection of the pool is
// held. A statement that cannot be compiled fails where it is used.
func (d *DB) prepareWanted(ctx context.Context, pool *sql.DB) {
	p := &d.prepared
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
	if p.stmts == nil {
		p.stmts = lru.New(preparedMax, nil, p.evict)
	}
	if _, ok := p.stmts.Get(key); ok { // another goroutine was faster
		_ = stmt.Close()
		return
	}
	p.stmts.Put(key, &preparedStmt{stmt: stmt})
}
