package intake

import (
	"github.com/bursarhq/bursar/internal/base/money"
)

// mercury is the CSV of Mercury's transactions page. Dates are month first with dashes, amounts are signed and in USD;
// Original Currency is only what a card was charged in. The file has no ids, and users edit notes, categories and tags
// later, so ids are derived from the columns that do not change. The layout, which gained columns at its end over the
// years, is the one that importers of Mercury's CSV test against.
var mercury = &preset{
	name:    "mercury",
	title:   "Mercury transactions",
	columns: []string{"Date (UTC)", "Description", "Amount", "Status", "Source Account", "Bank Description", "Reference"},
	open: func(s *sheet, o *Options) interpreter {
		m := &mercuryRow{clock: o.Mapping.clock("MM-DD-YYYY", "MM-DD-YYYY HH:mm:ss", "auto"), date: s.find("Date (UTC)"),
			time:        s.find("Timestamp"),
			description: s.find("Description"), amount: pointColumn(s.find("Amount")), status: s.find("Status"), account: s.find("Source Account"),
			bankText: s.find("Bank Description"), reference: s.find("Reference"), note: s.find("Note"), card: s.find("Last Four Digits"),
			holder: s.find("Name On Card"), category: s.find("Category"), mercuryCategory: s.find("Mercury Category")}
		return m.interpret
	},
}

type mercuryRow struct {
	clock                     clock
	date, time, description   int
	status, account, bankText int
	reference, note, card     int
	holder, category          int
	mercuryCategory           int
	amount                    numeric
}

var (
	mercuryDone = nameSet("Sent|Received|Completed|Posted")
	// Transactions with a status in mercuryDead never moved money; pending ones appear again when completed, perhaps
	// with another amount.
	mercuryDead = nameSet("Failed|Cancelled|Canceled|Blocked|Rejected|Declined|Reversed")
	mercuryOpen = nameSet("Pending|Scheduled|Processing")
)

func (m *mercuryRow) interpret(e *entry) ([]Record, string) {
	status := e.text(m.status)
	switch word := fold(status); {
	case mercuryDead[word]:
		return nil, "Mercury says it did not happen: " + status
	case mercuryOpen[word]:
		return nil, "Mercury says it has not happened yet: " + status
	case !mercuryDone[word]:
		e.faultf(m.status, "%q is not a known status, so it is unclear whether the transaction happened", shorten(status))
	}
	stamp, index := e.text(m.time), m.time
	if stamp == "" {
		stamp, index = e.text(m.date), m.date
	}
	account := e.text(m.account)
	r := Record{Line: e.row.line, Timestamp: e.instant(&m.clock, index, stamp), Description: e.text(m.bankText), Currency: "USD",
		Vendor: e.text(m.description), Memo: e.text(m.note), ProviderCategory: e.text(m.category)}
	if r.Description == "" {
		r.Description = r.Vendor
	}
	if r.ProviderCategory == "" {
		r.ProviderCategory = e.text(m.mercuryCategory)
	}
	r.Bank = &Bank{BankName: "Mercury", AccountLast4: lastFour(account), CounterpartyName: r.Vendor}
	if last, holder := e.text(m.card), e.text(m.holder); last+holder != "" {
		r.Card = &Card{MerchantName: r.Vendor, MerchantCategory: e.text(m.mercuryCategory), CardholderName: holder, Last4: lastFour(last)}
	}
	amount := e.number(m.amount, "USD")
	if amount == nil && len(e.faults) == 0 {
		e.faultf(m.amount.index, "is empty")
	}
	if len(e.faults) > 0 {
		return nil, ""
	}
	r.ExternalID = e.deriveID(stamp, amount.Fixed("USD"), account, e.text(m.bankText), e.text(m.reference), e.text(m.card))
	return Movement(r, *amount, money.Decimal{})
}
