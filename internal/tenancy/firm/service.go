package firm

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/token"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// Service implements the use cases of firms and their clients. Its fields are set before it is used.
type Service struct {
	db            *db.DB
	organizations *organization.Service
	acting        token.Cache[acting]

	// QueueFollow and QueueBooks store a job in a database transaction.
	QueueFollow func(ctx context.Context, tx *db.Tx, f Follow) error
	QueueBooks  func(ctx context.Context, tx *db.Tx, b MakeBooks) error

	// ClientEnded are called in the database transaction of the firm in which the record of a client ends.
	ClientEnded []func(ctx context.Context, tx *db.Tx, c Client) error

	// ClientActive is called in the database transaction of the firm in which a client becomes active that was asked for access.
	ClientActive func(ctx context.Context, tx *db.Tx, c Client) error
}

// NewService returns a Service on a database.
func NewService(d *db.DB, o *organization.Service) *Service { return &Service{db: d, organizations: o} }

// followTimeout bounds what is done at once after a commit. The job does it again if it does not end in time.
const followTimeout = 10 * time.Second

// AfterCommit runs a function after the database transaction, without its context, because the function opens another one. The job that was
// queued repeats it if it fails.
func AfterCommit(tx *db.Tx, fn func(context.Context) error) {
	tx.AfterCommit(func() {
		ctx, cancel := context.WithTimeout(context.Background(), followTimeout)
		defer cancel()
		_ = fn(ctx)
	})
}
