package application

import (
	"encoding/json"
	"fmt"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
)

// Credit is what an allocation credits to a ledger account, in the currency of the deposit. A negative amount is debited. The first credit
// of an allocation is that of the receivable, and together they are the allocation.
type Credit struct {
	LedgerAccountID string        `json:"ledger_account_id"`
	Amount          money.Decimal `json:"amount"`
}

// creditsText returns credits as they are stored, empty if there are none.
func creditsText(all []Credit) string {
	if len(all) == 0 {
		return ""
	}
	b, _ := json.Marshal(all) // it can always be encoded
	return string(b)
}

func parseCredits(text string) (out []Credit, err error) {
	if text == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		return nil, fmt.Errorf("application: the credits of an allocation: %w", err)
	}
	return out, nil
}

// left returns what an application still credits of an invoice after some payments went back. There are none if the application is older
// than the record of what it credited.
func left(from Application, returns []Application, invoiceID string) (out []Credit) {
	for _, l := range from.Allocations {
		if l.InvoiceID == invoiceID {
			out = append(out, l.Credits...)
		}
	}
	for _, r := range returns {
		for _, l := range r.Allocations {
			for _, c := range l.Credits {
				for n := range out {
					if l.InvoiceID == invoiceID && out[n].LedgerAccountID == c.LedgerAccountID {
						out[n].Amount = out[n].Amount.Add(c.Amount) // it is negative
						break
					}
				}
			}
		}
	}
	return out
}

// takenBack returns the part of some credits of an invoice that an amount of it takes back. Credits besides the receivable are divided in
// proportion. Those of an invoice that is booked here add up to nothing, because its receivable is that of the whole amount.
func takenBack(all []Credit, i invoice.Invoice, amount money.Decimal) []Credit {
	var whole money.Decimal
	for _, c := range all {
		whole = whole.Add(c.Amount)
	}
	if len(all) == 0 || whole.Sign() <= 0 {
		return nil
	}
	places, _ := money.MinorUnits(i.Currency)
	out := make([]Credit, len(all))
	var others money.Decimal
	for n := 1; n < len(all); n++ {
		part := all[n].Amount.Mul(amount).Quo(whole, places)
		if n == len(all)-1 && !i.Mirrored() {
			part = others.Neg()
		}
		out[n] = Credit{all[n].LedgerAccountID, part}
		others = others.Add(part)
	}
	out[0] = Credit{all[0].LedgerAccountID, amount.Sub(others)}
	return out
}
