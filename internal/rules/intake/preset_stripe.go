package intake

import (
	"strings"
)

// stripe is the export of balance transactions: amount before and net after the fee, seen from the balance. A fee on an
// outflow is added to it. A fee that Stripe returns with a refund, as it did for years, is below zero and becomes a
// record of its own. The layout is that of Balance, All activity, Export; the report Balance change from activity has
// the same facts under other names.
var stripe = &preset{
	name:  "stripe",
	title: "Stripe balance transactions",
	columns: []string{"id|balance_transaction_id", "Type|reporting_category", "Amount|gross", "Fee", "Net", "Currency",
		"Created (UTC)|created_utc|Created", "Available On (UTC)|available_on_utc|available_on"},
	open: func(s *sheet, o *Options) interpreter {
		p := &stripeRow{clock: o.Mapping.clock(), ignore: o.Mapping.IgnoreIDs, id: s.find("id", "balance_transaction_id"),
			kind: s.find("Type", "reporting_category"), time: s.find("Created (UTC)", "created_utc", "Created"), currency: s.find("Currency"),
			amount: pointColumn(s.find("Amount", "gross")), fee: pointColumn(s.find("Fee")), net: pointColumn(s.find("Net")),
			text: s.find("Description")}
		return p.interpret
	},
}

type stripeRow struct {
	clock            clock
	ignore           bool
	id, kind, time   int
	currency, text   int
	amount, fee, net numeric
}

var stripeTypes = map[string]string{
	"refund": typeRefund, "payment_refund": typeRefund, "partial_capture_reversal": typeRefund, "refund_failure": typeRefund,
	"payment_failure_refund": typeRefund,
	"payout":                 typeInternal, "payout_cancel": typeInternal, "payout_failure": typeInternal, "payout_reversal": typeInternal,
	"dispute": typeChargeback, "dispute_reversal": typeChargeback,
	"reserve_transaction": typeReserves, "reserved_funds": typeReserves, "payout_minimum_balance_hold": typeReserves,
	"payout_minimum_balance_release": typeReserves,
}

var stripeFees = nameSet("stripe_fee|stripe_fx_fee|tax_fee|network_cost|fee")

func (p *stripeRow) interpret(e *entry) ([]Record, string) {
	kind := e.text(p.kind)
	r := Record{Line: e.row.line, ExternalID: e.id(p.id, p.ignore), Timestamp: e.instant(&p.clock, p.time, e.text(p.time)),
		Description: e.text(p.text), Currency: e.currency(p.currency), ProviderCategory: kind, Type: stripeTypes[fold(kind)]}
	if r.Description == "" {
		r.Description = kind
	}
	amount, fee, net := e.number(p.amount, r.Currency), e.number(p.fee, r.Currency), e.number(p.net, r.Currency)
	if amount == nil && len(e.faults) == 0 {
		e.faultf(p.amount.index, "is empty")
	}
	if len(e.faults) > 0 {
		return nil, ""
	}
	charged := deref(fee)
	if net != nil {
		if fee != nil && !amount.Sub(charged).Equal(*net) {
			e.faultf(p.net.index, "the amount %s less the fee %s is not the net %s", amount, charged, net)
			return nil, ""
		}
		charged = amount.Sub(*net)
	}
	switch {
	case fold(kind) == "adjustment" && isDispute(r.Description):
		r.Type = typeChargeback
	case stripeFees[fold(kind)] && amount.Sign() < 0:
		r.Type = typeFee
	}
	return Movement(r, *amount, charged)
}

// isDispute reports whether the description of an adjustment is one that Stripe uses for disputes.
func isDispute(text string) bool {
	text = strings.ToLower(text)
	return strings.HasPrefix(text, "chargeback") || strings.Contains(text, "dispute")
}
