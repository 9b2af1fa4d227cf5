package db

import (
	"context"
	"strings"
)

// IsDuplicate is isDuplicate.
var IsDuplicate = isDuplicate

// GroupedWritesWaiting returns how many grouped writes wait to be taken into a group.
func GroupedWritesWaiting(d *DB) int { return d.groups.Len() }

// PreparedStatements returns how many statements are compiled.
func PreparedStatements(d *DB) int {
	d.prepared.mu.Lock()
	defer d.prepared.mu.Unlock()
	return d.prepared.stmts.Len()
}

// IsPrepared reports whether a statement that ends with a text is compiled for reading.
func IsPrepared(d *DB, end string) bool {
	text := d.statements.get("SELECT name FROM organizations WHERE organization_id = @org AND " + end).sql
	d.prepared.mu.Lock()
	defer d.prepared.mu.Unlock()
	_, ok := d.prepared.stmts.Get(preparedKey{d.read, text})
	return ok && strings.HasSuffix(text, end)
}

// OpenGateFor lets transactions of an organization run a statement that is not tied to it, as if the gate had a defect. Other databases
// keep their gate: from now on, this one compiles its statements for itself.
func OpenGateFor(d *DB, text string) {
	if d.statements == compiled[d.engine] {
		d.statements = &statements{engine: d.engine}
	}
	d.statements.get(text).unbound = nil
}

// ProvenBound is provenBound.
var ProvenBound = provenBound

// WithSchemaLock runs fn while no other process migrates the database.
func WithSchemaLock(ctx context.Context, d *DB, fn func() error) error {
	return d.withSchemaLock(ctx, fn)
}
