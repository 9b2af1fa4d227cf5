package connection

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

type attemptRow struct {
	ID           string    `db:"authorization_attempt_id"`
	ConnectionID string    `db:"connection_id"`
	Status       string    `db:"status"`
	Sealed       *string   `db:"sealed"`
	ReturnTo     *string   `db:"return_to"`
	Error        *string   `db:"error_message"`
	ExpiresAt    time.Time `db:"expires_at"`
	CreatedAt    time.Time `db:"created_at"`
}

func (r attemptRow) attempt() Attempt {
	return Attempt{ID: r.ID, ConnectionID: r.ConnectionID, Status: AttemptStatus(r.Status), ReturnTo: db.OrEmpty(r.ReturnTo),
		Error: db.OrEmpty(r.Error), ExpiresAt: r.ExpiresAt, CreatedAt: r.CreatedAt, sealed: db.OrEmpty(r.Sealed)}
}

type newAttemptRow struct {
	attemptRow
	StateHash string `db:"state_hash"`
}

func insertAttempt(ctx context.Context, tx *db.Tx, a Attempt, stateHash, sealed string) error {
	return db.Insert(ctx, tx, "authorization_attempts", newAttemptRow{attemptRow{ID: a.ID, ConnectionID: a.ConnectionID,
		Status: string(a.Status), Sealed: &sealed, ReturnTo: db.OrNull(a.ReturnTo), ExpiresAt: a.ExpiresAt, CreatedAt: a.CreatedAt}, stateHash})
}

const attemptNoun = "setup"

// selectAttempt reads the latest setup of a connection, nil if it had none.
func selectAttempt(ctx context.Context, tx *db.Tx, connectionID string) (*Attempt, error) {
	rows, err := db.All[attemptRow](ctx, tx, "SELECT "+db.Columns[attemptRow]()+` FROM authorization_attempts
		WHERE organization_id = @org AND connection_id = ? ORDER BY authorization_attempt_id DESC LIMIT 1`, connectionID)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	a := rows[0].attempt()
	return &a, nil
}

// attemptAcross is a setup of any organization.
type attemptAcross struct {
	attemptRow
	OrganizationID string `db:"organization_id"`
}

// selectAttemptByState reads the setup with the hash of a state, of any organization, unless it has failed or expired.
func selectAttemptByState(ctx context.Context, tx *db.Tx, stateHash string) (Attempt, string, error) {
	r, err := db.One[attemptAcross](ctx, tx, attemptNoun, "SELECT "+db.Columns[attemptAcross]()+
		" FROM authorization_attempts WHERE state_hash = ? AND status IN ('pending', 'completed')", stateHash)
	return r.attempt(), r.OrganizationID, err
}

// attemptsTogether bounds how many setups are looked at together.
const attemptsTogether = 200

// selectPendingAttempts reads setups of all organizations that are not over, those that expire first at the beginning.
func selectPendingAttempts(ctx context.Context, tx *db.Tx) ([]attemptAcross, error) {
	return db.All[attemptAcross](ctx, tx, "SELECT "+db.Columns[attemptAcross]()+
		" FROM authorization_attempts WHERE status = 'pending' ORDER BY expires_at, authorization_attempt_id LIMIT ?", attemptsTogether)
}

// finishAttempt ends a setup, and reports whether it was not over yet. What was kept for it is erased.
func finishAttempt(ctx context.Context, tx *db.Tx, attemptID string, status AttemptStatus, message string) (bool, error) {
	n, err := tx.Exec(ctx, `UPDATE authorization_attempts SET status = ?, error_message = ?, sealed = NULL, finished_at = ?
		WHERE organization_id = @org AND authorization_attempt_id = ? AND status = 'pending'`, string(status), db.OrNull(message), tx.Now(),
		attemptID)
	return n == 1, err
}

// failAttempts ends the setups of a connection that are not over.
func failAttempts(ctx context.Context, tx *db.Tx, connectionID, message string) error {
	return tx.Queue(ctx, `UPDATE authorization_attempts SET status = 'failed', error_message = ?, sealed = NULL, finished_at = ?
		WHERE organization_id = @org AND connection_id = ? AND status = 'pending'`, message, tx.Now(), connectionID)
}
