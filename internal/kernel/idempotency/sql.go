package idempotency

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

// claim inserts the key and reports whether it is new. It waits for another transaction that has inserted the same key.
func claim(ctx context.Context, tx *db.Tx, r Request) (bool, error) {
	n, err := tx.Exec(ctx, "INSERT INTO idempotency_keys (organization_id, key_hash, request_hash, rights, status, created_at) VALUES "+
		"(@org, ?, ?, ?, 0, ?) ON CONFLICT DO NOTHING",
		r.keyHash(), r.hash, string(r.rights), tx.Now())
	return n == 1, err
}

type row struct {
	KeyHash     string    `db:"key_hash"`
	RequestHash string    `db:"request_hash"`
	Rights      string    `db:"rights"`
	Status      int64     `db:"status"`
	Answer      []byte    `db:"answer"`
	CreatedAt   time.Time `db:"created_at"`
}

func find(ctx context.Context, tx *db.Tx, r Request) (row, error) {
	return db.One[row](ctx, tx, "idempotency key", "SELECT "+db.Columns[row]()+
		" FROM idempotency_keys WHERE organization_id = @org AND key_hash = ?", r.keyHash())
}

func store(ctx context.Context, tx *db.Tx, r Request, status int, answer []byte) error {
	return tx.Queue(ctx, "UPDATE idempotency_keys SET status = ?, answer = ? WHERE organization_id = @org AND key_hash = ?", status,
		answer, r.keyHash())
}

func deleteBefore(ctx context.Context, tx *db.Tx, before time.Time, limit int) (int64, error) {
	return tx.Exec(ctx, `DELETE FROM idempotency_keys WHERE (organization_id, key_hash) IN
		(SELECT organization_id, key_hash FROM idempotency_keys WHERE created_at < ? ORDER BY created_at LIMIT ?)`, before, limit)
}

func insert(ctx context.Context, tx *db.Tx, rows []row) error {
	return db.Insert(ctx, tx, "idempotency_keys", rows...)
}
