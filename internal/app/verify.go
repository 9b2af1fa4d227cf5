package app

import (
	"context"

	"github.com/bursarhq/bursar/internal/assets/assetpolicy"
	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/assets/replay"
	"github.com/bursarhq/bursar/internal/assets/revaluation"
	"github.com/bursarhq/bursar/internal/automation/classification"
	"github.com/bursarhq/bursar/internal/automation/memory"
	"github.com/bursarhq/bursar/internal/automation/template"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/integration/glsync"
	"github.com/bursarhq/bursar/internal/integration/webhook"
	"github.com/bursarhq/bursar/internal/kernel/outbox"
	"github.com/bursarhq/bursar/internal/receivables/application"
	"github.com/bursarhq/bursar/internal/receivables/customer"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
	"github.com/bursarhq/bursar/internal/receivables/run"
	"github.com/bursarhq/bursar/internal/tenancy/access"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
	"github.com/bursarhq/bursar/internal/tenancy/firmrequest"
	"github.com/bursarhq/bursar/internal/treasury/connection"
	"github.com/bursarhq/bursar/internal/treasury/imports"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/spam"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
	"github.com/bursarhq/bursar/internal/treasury/transfers"
)

// checks lists the verification of every package: each recomputes the invariants of an organization's data and describes
// those that are broken. The audit log is verified before.
var checks = []func(context.Context, *db.Tx) ([]string, error){
	outbox.Verify,
	access.Verify,
	firm.Verify,
	firmrequest.Verify,
	period.Verify,
	journal.Verify,
	account.Verify,
	entity.Verify,
	tag.Verify,
	memory.Verify,
	template.Verify,
	assetpolicy.Verify,
	source.Verify,
	fx.Verify,
	revaluation.Verify,
	price.Verify,
	holdings.Verify,
	transaction.Verify,
	spam.Verify,
	transfers.Verify,
	imports.Verify,
	connection.Verify,
	classification.Verify,
	replay.Verify,
	booking.Verify,
	customer.Verify,
	invoice.Verify,
	application.Verify,
	run.Verify,
	glsync.Verify,
	webhook.Verify,
}
