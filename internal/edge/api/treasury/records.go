package treasury

import (
	"context"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/treasury/connection"
	"github.com/bursarhq/bursar/internal/treasury/imports"
	"github.com/bursarhq/bursar/internal/treasury/spam"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// Records says what events contain of the resources of the group.
func Records() []wire.Record {
	return []wire.Record{
		wire.RecordAt("source", "/v1/sources/{source_id}", "source.created", "source.updated", "source.deleted"),
		wire.RecordAt("connection", "/v1/connections/{connection_id}", connection.Events...),
		wire.Viewed(wire.RecordAt("connection_run", "", connection.EventSynced),
			func(_ context.Context, r connection.Run) ConnectionRun { return viewConnectionRun(r) }),
		wire.Viewed(wire.RecordAt("transaction", "/v1/transactions/{transaction_id}", transaction.ActionCreated, transaction.ActionUpdated,
			transaction.ActionClassified, transaction.ActionWithdrawn), viewChanged),
		wire.RecordAt("import", "/v1/imports/{import_id}", imports.EventCreated, "import.completed", "import.failed"),
		wire.Viewed(wire.RecordAt("spam_listing", "", "spam_listing.created", "spam_listing.deleted"),
			func(_ context.Context, l spam.Listing) SpamListing { return viewSpamListing(l) }),
	}
}

// viewChanged returns a transaction as an event shows it: without guidance.
func viewChanged(ctx context.Context, t transaction.Transaction) Transaction {
	who := actor.From(ctx)
	v := viewTransaction(who, t, transaction.Guidance{})
	v.Suggested.Value = viewSuggestion(who, t.Suggested, nil)
	return v
}
