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

// prepared is a cache of compiled SQLite statements: for most of our statements, SQLite takes longer to compile than to
// run them. The least recently used statement is evicted first.
type prepared struct {
	mu     sync.Mutex
	stmts  *lru.Cache[preparedKey, *preparedStmt]
	wanted map[*sql.DB][]string // statements seen in a transaction, to be compiled after it
}

type preparedKey struct {
	pool *sql.DB
	text string
}

// preparedStmt is a compiled statement. It is closed when it has been evicted and has no users; database/sql keeps it
// open for results that are still being read.
type preparedStmt struct {
	stmt    *sql.Stmt
	users   int
	evicted bool
}

// acquirePrepared returns a compiled statement and a function that releases it, or nil if the statement is not in the
// cache and the driver should run its text. It never takes a connection from the pool, because the caller may hold the
// last one and would deadlock: prepareWanted compiles a missing statement after the transaction.
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

// evict closes a statement, or leaves that to its last user.
func (p *prepared) evict(_ preparedKey, s *preparedStmt) {
	s.evicted = true
	if s.users == 0 {
		_ = s.stmt.Close()
	}
}

// want marks a statement to be compiled, unless as many are marked as the cache has room for.
func (p *prepared) want(key preparedKey) {
	if p.wanted == nil {
		p.wanted = make(map[*sql.DB][]string)
	}
	if texts := p.wanted[key.pool]; len(texts) < preparedMax && !slices.Contains(texts, key.text) {
		p.wanted[key.pool] = append(texts, key.text)
	}
}

// prepareWanted compiles the statements that want marked for a pool. The caller must not hold a connection of the pool.
// A statement that cannot be compiled fails where it is used.
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
