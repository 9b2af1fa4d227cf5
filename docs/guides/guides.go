// Package guides holds the guides, which the service shows at /docs/guides.
package guides

import "embed"

// Files are the guides.
//
//go:embed *.md
var Files embed.FS

// Order is the order in which the guides are listed, by file name without its extension.
var Order = []string{
	"first-books", "opening-balances", "import-a-file", "transaction-types", "split-a-payment", "invoice-customers", "import-invoices",
	"apply-a-payment", "connect-an-account", "connect-stripe", "register-at-a-provider",
	"general-ledger", "sell-to-a-bank-account", "borrow-and-lend",
	"foreign-currency", "reconcile-a-source", "close-a-month",
	"explain-a-figure", "cash-and-runway", "retry-safely", "build-an-integration", "events-and-webhooks",
	"people-keys-and-apps", "firms", "firm-requests", "firm-overview", "move-books",
}
