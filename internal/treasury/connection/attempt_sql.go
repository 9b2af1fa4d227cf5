package connection

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

type attemptRow struct {
	ID           string     `db:"authorization_attempt_id"`
	ConnectionID string     `db:"connection_id"`
	Status       string     `db:"status"`
	Sealed       *string    `db:"sealed"`
	ReturnTo     *string    `db:"return_to"`
	Error        *string    `db:"error_message"`
	ExpiresAt    time.Time  `db:"expires_at"`
	CreatedAt    time.Time  `db:"created_at"`
	ExchangedAt  *time.Time `db:"exchanged_at"`
}

func (r attemptRow) attempt() Attempt {
	return Attempt{ID: r.ID, ConnectionID: r.ConnectionID, Status: AttemptStatus(r.Status), ReturnTo: db.OrEmpty(r.ReturnTo),
		Error: db.OrEmpty(r.Error), ExpiresAt: r.ExpiresAt, CreatedAt: r.CreatedAt, sealed: db.OrEmpty(r.Sealed),
		exchanged: r.ExchangedAt != nil}
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

// claimAttempt keeps others from finishing a setup until a time. It reports whether it is not over and nobody else does so.
func claimAttempt(ctx context.Context, tx *db.Tx, attemptID string, until time.Time) (bool, error) {
	n, err := tx.Exec(ctx, `UPDATE authorization_attempts SET claimed_until = ? WHERE organization_id = @org AND authorization_attempt_id = ?
		AND status = 'pending' AND (claimed_until IS NULL OR claimed_until < ?)`, until, attemptID, tx.Now())
	return n == 1, err
}

const ofAttempt = ` WHERE organization_id = @org AND authorization_attempt_id = ? AND status = 'pending' AND claimed_until = ?`

// releaseAttempt lets others finish a setup.
func releaseAttempt(ctx context.Context, tx *db.Tx, attemptID string, until time.Time) error {
	_, err := tx.Exec(ctx, "UPDATE authorization_attempts SET claimed_until = NULL"+ofAttempt, attemptID, until)
	return err
}

// storeExchanged stores the credentials that a provider has given for a setup, and reports whether the setup was still claimed.
func storeExchanged(ctx context.Context, tx *db.Tx, attemptID string, until time.Time, sealed string) (bool, error) {
	n, err := tx.Exec(ctx, "UPDATE authorization_attempts SET sealed = ?, exchanged_at = ?"+ofAttempt, sealed, tx.Now(), attemptID, until)
	return n == 1, err
}

// deleteAttempts deletes the setups of all organizations that ended before a time.
func deleteAttempts(ctx context.Context, tx *db.Tx, before time.Time) error {
	_, err := tx.Exec(ctx, "DELETE FROM authorization_attempts WHERE finished_at IS NOT NULL AND finished_at < ?", before)
	return err
}

// unfinishedRow is a connection that never had an account.
type unfinishedRow struct {
	OrganizationID string `db:"organization_id"`
	ConnectionID   string `db:"connection_id"`
}

// selectUnfinished reads connections of all organizations that never had an account, and whose setups were begun before a time and are
// over, the oldest first.
func selectUnfinished(ctx context.Context, tx *db.Tx, before time.Time) ([]unfinishedRow, error) {
	return db.All[unfinishedRow](ctx, tx, `SELECT organization_id, connection_id FROM connections
		WHERE status = 'pending_setup' AND NOT EXISTS (SELECT 1 FROM authorization_attempts a
		WHERE a.organization_id = connections.organization_id AND a.connection_id = connections.connection_id
		AND (a.status = 'pending' OR a.created_at >= ?)) ORDER BY connection_id LIMIT ?`, before, attemptsTogether)
}

// failAttempts ends the setups of a connection that are not over.
func failAttempts(ctx context.Context, tx *db.Tx, connectionID, message string) error {
	return tx.Queue(ctx, `UPDATE authorization_attempts SET status = 'failed', error_message = ?, sealed = NULL, finished_at = ?
		WHERE organization_id = @org AND connection_id = ? AND status = 'pending'`, message, tx.Now(), connectionID)
}
