package activity

import (
	"fmt"
	"time"
)

// cards funds the cards twice a month and spends the money on subscriptions and purchases by employees.
func (m *maker) cards(n int) {
	d := roll("cards", n)
	type purchase struct {
		at     time.Time
		cents  int
		detail Card
		refund bool
	}
	var all []purchase
	for i, s := range subscriptions {
		all = append(all, purchase{m.on(n, 3+3*i, 11, i), s.cents + 1_000*(n/12), Card{s.name, "Software", employees[i%3].name,
			employees[i%3].last4}, false})
	}
	count := m.purchases / Months
	if n < m.purchases%Months {
		count++
	}
	for i := range count {
		if i == 20 { // one is refunded
			back := all[len(all)-1]
			back.at, back.refund = m.on(n, 31, 23, 59), true
			all = append(all, back)
			continue
		}
		who, what := pick(d, employees), pick(d, merchants)
		all = append(all, purchase{m.on(n, d.between(2, 31), d.between(8, 23), d.between(0, 58)), d.between(what.low, what.high),
			Card{what.name, what.category, who.name, who.last4}, false})
	}
	total := 0
	for _, p := range all {
		if !p.refund {
			total += p.cents
		}
		m.at(p.at, func(at time.Time) { m.spend(at, p.cents, p.detail, p.refund) })
	}
	// Most of one half can be spent before the other arrives, so the first month is funded with a reserve.
	for i, day := range []int{1, 14} {
		amount := total - total/2
		if i == 1 {
			amount = total / 2
		}
		if i == 0 && n == 0 {
			amount += 2_000_000
		}
		m.at(m.on(n, day, 14, 30+i), func(at time.Time) {
			m.send(at, bank, card, amount, 5*time.Hour+time.Duration(n)*time.Minute, "Card funding")
		})
	}
}

func (m *maker) spend(at time.Time, amount int, detail Card, refund bool) {
	value := worth(cents(amount), cents(0), "USD")
	t := Transaction{Source: card, At: at, ExternalID: fmt.Sprintf("crd-%06d", m.number("crd")), Description: detail.Merchant,
		Direction: Debit, Quantity: value.Gross, Currency: "USD", Value: value,
		Card: &detail, Category: "purchase", Vendor: detail.Merchant}
	if refund {
		t.Direction, t.Description, t.Category = Credit, detail.Merchant+" refund", "refund"
	}
	m.add(t)
}

// chargebackMonth is the month of a chargeback.
const chargebackMonth = 14

// reserve stays with the processor, in cents, for refunds and disputes.
const reserve = 60_000

// processor collects card payments of small customers and pays out every week.
func (m *maker) processor(n int) {
	d := roll("processor", n)
	for i := range 36 + n*3/4 {
		m.at(m.on(n, 1+(i*7)%28, d.between(6, 23), d.between(0, 59)), func(at time.Time) {
			gross := 100 * d.between(29, 480)
			m.pay(at, move{source: processor, direction: Credit, gross: gross, fee: gross*29/1000 + 30,
				description: fmt.Sprintf("Charge for order %05d", m.number("order")), other: pick(d, payers), category: "charge"})
		})
	}
	m.at(m.on(n, 17, 17, 45), func(at time.Time) {
		m.pay(at, move{source: processor, direction: Debit, gross: 100 * d.between(29, 120), description: "Refund",
			other: pick(d, payers), category: "refund"})
	})
	if n == chargebackMonth {
		m.at(m.on(n, 19, 9, 5), func(at time.Time) {
			m.pay(at, move{source: processor, direction: Debit, gross: 26_500, fee: 1_500,
				description: "Dispute lost: cardholder does not recognize the charge", other: "Gale Surf", category: "chargeback"})
		})
	}
	for _, day := range []int{7, 14, 21, 28} {
		m.at(m.workday(n, day, 5, 0), func(at time.Time) {
			have := whole(m.has(processor, "USD").Mul(cents(10_000)))
			m.send(at, processor, bank, (have-reserve)*9/10, 9*time.Hour, "Payout")
		})
	}
}
