package webhook

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
)

type deliveryRow struct {
	ID          string     `db:"webhook_delivery_id"`
	EndpointID  string     `db:"webhook_endpoint_id"`
	EventID     string     `db:"event_id"`
	EventType   string     `db:"event_type"`
	Sequence    int64      `db:"sequence"`
	Status      string     `db:"status"`
	Attempts    int64      `db:"attempts"`
	Step        int64      `db:"step"`
	StatusCode  *int64     `db:"status_code"`
	Error       *string    `db:"error"`
	CreatedAt   time.Time  `db:"created_at"`
	AttemptedAt *time.Time `db:"attempted_at"`
	NextAt      *time.Time `db:"next_at"`
	ExpiresAt   time.Time  `db:"expires_at"`
}

func toDeliveryRow(d Delivery) deliveryRow {
	return deliveryRow{ID: d.ID, EndpointID: d.EndpointID, EventID: d.EventID, EventType: d.EventType, Sequence: d.Sequence,
		Status: string(d.Status), Attempts: d.Attempts, Step: d.step, StatusCode: orNull(d.StatusCode), Error: db.OrNull(d.Error),
		CreatedAt: d.CreatedAt, AttemptedAt: d.AttemptedAt, NextAt: d.NextAt, ExpiresAt: d.expiresAt}
}

func (r deliveryRow) delivery() Delivery {
	return Delivery{ID: r.ID, EndpointID: r.EndpointID, EventID: r.EventID, EventType: r.EventType, Sequence: r.Sequence,
		Status: DeliveryStatus(r.Status), Attempts: r.Attempts, step: r.Step, StatusCode: orZero(r.StatusCode), Error: db.OrEmpty(r.Error),
		CreatedAt: r.CreatedAt, AttemptedAt: r.AttemptedAt, NextAt: r.NextAt, expiresAt: r.ExpiresAt}
}

// orNull returns nil for 0.
func orNull(n int) *int64 {
	if n == 0 {
		return nil
	}
	return new(int64(n))
}

func orZero(n *int64) int {
	if n == nil {
		return 0
	}
	return int(*n)
}

var selectDeliveries = "SELECT " + db.Columns[deliveryRow]() + " FROM webhook_deliveries WHERE organization_id = @org"

func deliveriesOf(rows []deliveryRow, err error) ([]Delivery, error) {
	out := make([]Delivery, len(rows))
	for i, r := range rows {
		out[i] = r.delivery()
	}
	return out, err
}

// selectRetrying reads deliveries that are tried again, the one that is due first at the beginning.
func selectRetrying(ctx context.Context, tx *db.Tx, endpointID string, limit int) ([]Delivery, error) {
	return deliveriesOf(db.All[deliveryRow](ctx, tx, selectDeliveries+" AND webhook_endpoint_id = ? AND status = 'retrying' "+
		"ORDER BY next_at LIMIT ?", endpointID, limit))
}

// selectRetryingInOrder reads deliveries that are tried again, in the order of their events.
func selectRetryingInOrder(ctx context.Context, tx *db.Tx, endpointID string, limit int) ([]Delivery, error) {
	return deliveriesOf(db.All[deliveryRow](ctx, tx, selectDeliveries+" AND webhook_endpoint_id = ? AND status = 'retrying' "+
		"ORDER BY sequence LIMIT ?", endpointID, limit))
}

// selectDeliveriesOf reads the deliveries of events, by event.
func selectDeliveriesOf(ctx context.Context, tx *db.Tx, endpointID string, eventIDs []string) (map[string]Delivery, error) {
	rows, err := db.All[deliveryRow](ctx, tx, selectDeliveries+" AND webhook_endpoint_id = ? AND event_id {any}", endpointID, eventIDs)
	out := make(map[string]Delivery, len(rows))
	for _, r := range rows {
		out[r.EventID] = r.delivery()
	}
	return out, err
}

// upsertDeliveries stores deliveries that are new or have changed.
func upsertDeliveries(ctx context.Context, tx *db.Tx, deliveries []Delivery) error {
	rows := make([]deliveryRow, len(deliveries))
	for i, d := range deliveries {
		rows[i] = toDeliveryRow(d)
	}
	return db.Upsert(ctx, tx, deliveryTable, rows, `ON CONFLICT (organization_id, webhook_delivery_id) DO UPDATE SET status = excluded.status,
		attempts = excluded.attempts, step = excluded.step, status_code = excluded.status_code, error = excluded.error,
		attempted_at = excluded.attempted_at, next_at = excluded.next_at, expires_at = excluded.expires_at`)
}

type attemptRow struct {
	DeliveryID      string    `db:"webhook_delivery_id"`
	Number          int64     `db:"number"`
	At              time.Time `db:"attempted_at"`
	Duration        int64     `db:"duration_ms"`
	URL             string    `db:"url"`
	RequestHeaders  string    `db:"request_headers"`
	StatusCode      *int64    `db:"status_code"`
	ResponseHeaders *string   `db:"response_headers"`
	ResponseBody    *string   `db:"response_body"`
	Error           *string   `db:"error"`
}

func (r attemptRow) attempt() Attempt {
	return Attempt{Number: r.Number, At: r.At, Duration: time.Duration(r.Duration) * time.Millisecond, URL: r.URL,
		RequestHeaders: r.RequestHeaders, StatusCode: orZero(r.StatusCode), ResponseHeaders: db.OrEmpty(r.ResponseHeaders),
		ResponseBody: db.OrEmpty(r.ResponseBody), Error: db.OrEmpty(r.Error)}
}

// insertResults stores deliveries and the last attempt of each.
func insertResults(ctx context.Context, tx *db.Tx, deliveries []Delivery, attempts []Attempt) error {
	if err := upsertDeliveries(ctx, tx, deliveries); err != nil {
		return err
	}
	rows := make([]attemptRow, len(attempts))
	for i, a := range attempts {
		rows[i] = attemptRow{DeliveryID: deliveries[i].ID, Number: a.Number, At: a.At, Duration: a.Duration.Milliseconds(), URL: a.URL,
			RequestHeaders: a.RequestHeaders, StatusCode: orNull(a.StatusCode), ResponseHeaders: db.OrNull(a.ResponseHeaders),
			ResponseBody: db.OrNull(a.ResponseBody), Error: db.OrNull(a.Error)}
	}
	return db.Insert(ctx, tx, attemptTable, rows...)
}

// retryAgain has all deliveries that are tried again tried at a time, and until another.
func retryAgain(ctx context.Context, tx *db.Tx, endpointID string, at, until time.Time) error {
	_, err := tx.Exec(ctx, "UPDATE webhook_deliveries SET next_at = ?, expires_at = ?, step = 0 WHERE organization_id = @org AND "+
		"webhook_endpoint_id = ? AND status = 'retrying'", at, until, endpointID)
	return err
}

// retryNow has all deliveries that are tried again tried at once.
func retryNow(ctx context.Context, tx *db.Tx, endpointID string) error {
	_, err := tx.Exec(ctx, "UPDATE webhook_deliveries SET next_at = ? WHERE organization_id = @org AND webhook_endpoint_id = ? AND "+
		"status = 'retrying'", tx.Now(), endpointID)
	return err
}

// giveUp ends the deliveries that are tried again, and the ranges that are sent once more, of an endpoint that is disabled.
func giveUp(ctx context.Context, tx *db.Tx, endpointID string) error {
	if _, err := tx.Exec(ctx, "DELETE FROM webhook_replays WHERE organization_id = @org AND webhook_endpoint_id = ?", endpointID); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, "UPDATE webhook_deliveries SET next_at = NULL, status = 'failed', error = 'the endpoint was disabled' "+
		"WHERE organization_id = @org AND webhook_endpoint_id = ? AND status = 'retrying'", endpointID)
	return err
}

// replay is a range of events that are sent once more.
type replay struct {
	EndpointID string    `db:"webhook_endpoint_id"`
	ID         string    `db:"webhook_replay_id"`
	Position   int64     `db:"position"` // the last event that was sent
	Through    int64     `db:"through"`
	CreatedAt  time.Time `db:"created_at"`
}

// selectReplay reads the oldest range that is sent once more, if there is one.
func selectReplay(ctx context.Context, tx *db.Tx, endpointID string) (r replay, found bool, err error) {
	r, err = db.One[replay](ctx, tx, noun, "SELECT "+db.Columns[replay]()+" FROM webhook_replays WHERE organization_id = @org AND "+
		"webhook_endpoint_id = ? ORDER BY webhook_replay_id LIMIT 1", endpointID)
	return r, err == nil, ignoreMissing(err)
}

func ignoreMissing(err error) error {
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	return err
}

// moveReplay stores how far a range was sent, and deletes it at its end.
func moveReplay(ctx context.Context, tx *db.Tx, r replay, position int64) error {
	if position >= r.Through {
		_, err := tx.Exec(ctx, "DELETE FROM webhook_replays WHERE organization_id = @org AND webhook_endpoint_id = ? AND webhook_replay_id = ?",
			r.EndpointID, r.ID)
		return err
	}
	_, err := tx.Exec(ctx, "UPDATE webhook_replays SET position = ? WHERE organization_id = @org AND webhook_endpoint_id = ? AND "+
		"webhook_replay_id = ?", position, r.EndpointID, r.ID)
	return err
}
