package match_test

import (
	"fmt"
	"strings"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/match"
)

// of says whose invoices the answer pays.
func of(customer string) func(*sample) { return func(s *sample) { s.customer = customer } }

func part(v match.Invoice, amount money.Decimal) string { return v.Number + ":" + amount.Fixed("USD") }

// decidableKinds are deposits that a person could decide, unless other invoices happen to fit as well.
var decidableKinds = []func(c *corpus){
	func(c *corpus) {
		name := c.name()
		id := c.customer(name)
		v := c.some(c.open(id, 1+c.IntN(12)), 1)
		c.add("one invoice", name, total(v), "", full(v...), of(id))
	},
	func(c *corpus) {
		name := c.name()
		id := c.customer(name)
		v := c.some(c.open(id, 1+c.IntN(12)), 1)
		c.add("one invoice, noise in the name", c.noise(name), total(v), pick(c, "", "thanks", "monthly services"), full(v...), of(id))
	},
	func(c *corpus) {
		name := c.name()
		id := c.customer(name)
		v := c.some(c.open(id, 1+c.IntN(12)), 1)
		c.add("the name in the text only", "", total(v), "INCOMING WIRE ORIG:"+strings.ToUpper(name)+" OBI:SERVICES", full(v...), of(id))
	},
	func(c *corpus) {
		name := c.name()
		v := c.some(c.open(c.customer(name), 1+c.IntN(20)), 1)
		c.add("one invoice, its number quoted", pick(c, "", name, c.noise(name)), total(v), c.quote(v...), full(v...), quoted)
	},
	func(c *corpus) {
		v := c.some(c.open(c.customer(c.name()), 1+c.IntN(6)), 1)
		c.add("another name, the number quoted", c.name(), total(v), c.quote(v...), full(v...), quoted)
	},
	func(c *corpus) {
		name := c.name()
		v := c.some(c.open(c.customer(name), 6+c.IntN(12)), 2+c.IntN(4))
		c.add("bundled, the numbers quoted", c.noise(name), total(v), c.quote(v...), full(v...), quoted)
	},
	func(c *corpus) {
		name := c.name()
		id := c.customer(name)
		v := c.open(id, 2+c.IntN(10))
		c.add("bundled, the whole balance", c.noise(name), total(v), "", full(v...), of(id))
	},
	func(c *corpus) {
		name := c.name()
		id := c.customer(name)
		v := c.open(id, 5+c.IntN(7))[:2+c.IntN(3)]
		c.add("bundled, the oldest", name, total(v), "", full(v...), of(id))
	},
	func(c *corpus) {
		name := c.name()
		id := c.customer(name)
		all := c.open(id, 5+c.IntN(6))
		v := c.some(all, len(all)-1)
		c.add("bundled, all but one", c.noise(name), total(v), "", full(v...), of(id))
	},
	func(c *corpus) {
		name := c.name()
		id := c.customer(name)
		v := c.some(c.open(id, 5+c.IntN(8)), 2+c.IntN(2))
		c.add("bundled, two or three", name, total(v), "", full(v...), of(id))
	},
	func(c *corpus) {
		name := c.name()
		id := c.customer(name)
		v := c.some(c.open(id, 8+c.IntN(4)), 4+c.IntN(3))
		c.add("bundled, four to six", name, total(v), "", full(v...), of(id))
	},
	func(c *corpus) {
		name := c.name()
		v := c.some(c.open(c.customer(name), 6+c.IntN(6)), 3)
		c.add("bundled, one number cut off", name, total(v), c.quote(v[:2]...), full(v...), quoted)
	},
	func(c *corpus) {
		name := c.name()
		v := c.some(c.open(c.customer(name), 1+c.IntN(6)), 1)[0]
		half := v.AmountDue.Mul(money.MustParse("0.5")).RoundTo("USD")
		c.add("short-paid, the number quoted", name, half, c.quote(v)+" first instalment", part(v, half), quoted)
	},
	func(c *corpus) {
		name := c.name()
		v := c.invoice(c.customer(name), c.cents())
		rest := v.AmountDue.Mul(money.MustParse("0.7")).RoundTo("USD")
		c.add("short-paid, the only invoice", name, rest, "", part(v, rest))
	},
	func(c *corpus) {
		name := c.name()
		id := c.customer(name)
		v := c.some(c.open(id, 1+c.IntN(6)), 1)[0]
		c.add("reduced by a fee", c.noise(name), v.AmountDue.Sub(dollars(1+c.Int64N(500))), "", full(v), of(id))
	},
	func(c *corpus) {
		name := c.name()
		v := c.some(c.open(c.customer(name), 1+c.IntN(6)), 1)[0]
		c.add("reduced by a fee, the number quoted", name, v.AmountDue.Sub(dollars(1+c.Int64N(500))), c.quote(v), full(v), quoted)
	},
	func(c *corpus) {
		name := c.name()
		id := c.customer(name)
		v := c.some(c.open(id, 1+c.IntN(6)), 1)[0]
		c.add("reduced by a fee that was reported", name, v.AmountDue, "", full(v), of(id), func(s *sample) { s.deposit.Fee = dollars(930) })
	},
	func(c *corpus) {
		name := c.name()
		id := c.customer(name)
		v := c.paid(id, c.cents())
		if len(sums(c.open(id, c.IntN(4)), v.Total, 3)) > 0 {
			return // It pays what is open.
		}
		c.add("paid twice, the number quoted", name, v.Total, c.quote(v), "", of(id))
	},
	func(c *corpus) {
		name := c.name()
		id := c.customer(name)
		v := c.paid(id, c.cents())
		if len(sums(c.open(id, c.IntN(4)), v.Total, 3)) > 0 {
			return
		}
		c.add("paid twice", name, v.Total, "", "", of(id))
	},
	func(c *corpus) {
		id, payer := c.customer(c.name()), c.name()
		c.history = append(c.history, match.Earlier{PayerName: payer, CustomerID: id, Confirmed: 1 + c.IntN(5)})
		v := c.some(c.open(id, 1+c.IntN(6)), 1)
		c.add("another name that paid before", c.noise2(payer), total(v), "", full(v...), of(id))
	},
	func(c *corpus) {
		id := c.customer(c.name())
		v := c.some(c.open(id, 1+c.IntN(6)), 1)
		c.add("another name, a known address", c.name(), total(v), "", full(v...), of(id), func(s *sample) { s.deposit.PayerAddress = "0X" + id })
	},
	func(c *corpus) {
		id := c.customer(c.name())
		v := c.some(c.open(id, 1+c.IntN(6)), 1)
		c.add("another name, a known e-mail", "PAYPAL", total(v), "from "+strings.ToUpper(id)+"@EXAMPLE.COM", full(v...), of(id))
	},
	func(c *corpus) {
		id := c.customer(c.name())
		v := c.some(c.open(id, 1+c.IntN(6)), 1)
		c.add("a processor's customer", "STRIPE", total(v), "", full(v...), of(id),
			func(s *sample) { s.deposit.ProcessorCustomerID = "proc_" + id })
	},
	func(c *corpus) {
		name := c.name()
		v := c.some(c.open(c.customer(name), 1+c.IntN(4)), 1)
		c.add("overpaid, the number quoted", name, total(v).Add(dollars(700+c.Int64N(9000))), c.quote(v...), full(v...), quoted)
	},
	func(c *corpus) {
		// The number of another customer's invoice is an order or a mistake: payer and amount agree.
		name := c.name()
		id := c.customer(name)
		v := c.some(c.open(id, 1+c.IntN(5)), 1)
		c.add("a number of somebody else", name, total(v), "order "+c.invoice(c.customer(c.name()), c.cents()).Number, full(v...), of(id))
	},
	func(c *corpus) {
		name := c.name()
		c.open(c.customer(name), 2)
		v := c.some(c.open(c.customer(c.name()), 3), 1)
		c.add("a customer pays for another", name, total(v), "on behalf, "+c.quote(v...), full(v...), quoted)
	},
	func(c *corpus) {
		name := c.name()
		id := c.customer(name)
		v := c.invoice(id, c.cents())
		w := c.inEuros(c.invoice(id, 0), v.AmountDue)
		euros := c.IntN(2) == 0
		c.add("one amount in two currencies", name, v.AmountDue, "", full(v), of(id), func(s *sample) {
			if euros {
				s.deposit.Currency, s.answer = "EUR", full(w)
			}
		})
	},
	func(c *corpus) {
		name := c.name()
		id := c.customer(name)
		v := c.inEuros(c.invoice(id, 0), dollars(c.cents()))
		c.add("an invoice in another currency", name, v.AmountDue, pick(c, "", c.quote(v)), "", of(id))
	},
	func(c *corpus) {
		c.add("for no invoice", c.name(), dollars(2_000_000+c.Int64N(1_000_000)), "refund of deposit", "")
	},
}

// inEuros changes the invoice that was added last to one in euros.
func (c *corpus) inEuros(v match.Invoice, amount money.Decimal) match.Invoice {
	v.Currency, v.Total, v.AmountDue = "EUR", amount, amount
	c.invoices[len(c.invoices)-1] = v
	return v
}

// noise2 writes a name with other case and blanks only: what was learned is kept under the name as it was.
func (c *corpus) noise2(name string) string {
	return pick(c, name, strings.ToUpper(name), "  "+name+"\u200e")
}

// undecidableKinds are deposits for which the facts allow several answers; the one given is chosen by chance.
var undecidableKinds = []func(c *corpus){
	func(c *corpus) {
		a, b := c.customer(c.name()), c.customer(c.name())
		cents := c.cents()
		v := []match.Invoice{c.invoice(a, cents), c.invoice(b, cents)}
		c.add("one amount of two customers", c.name(), dollars(cents), "", full(c.some(v, 1)...), undecided)
	},
	func(c *corpus) {
		name := c.name()
		id := c.customer(name)
		cents := c.cents()
		v := []match.Invoice{c.invoice(id, cents), c.invoice(id, cents), c.invoice(id, cents+100)}
		c.add("one amount twice", c.noise(name), dollars(cents), "", full(c.some(v[:2], 1)...), undecided)
	},
	func(c *corpus) {
		name := c.name()
		id := c.customer(name)
		x, y := c.cents(), c.cents()
		v := []match.Invoice{c.invoice(id, x), c.invoice(id, y), c.invoice(id, 777), c.invoice(id, x+y)}
		c.add("an invoice that is also a sum of two", name, dollars(x+y), "", pick(c, full(v[3]), full(v[0], v[1])), undecided)
	},
	func(c *corpus) {
		name := c.name()
		id := c.customer(name)
		x, y, z := c.cents(), c.cents(), c.cents()
		v := []match.Invoice{c.invoice(id, x), c.invoice(id, 778), c.invoice(id, y), c.invoice(id, z), c.invoice(id, x+y+z)}
		c.add("an invoice that is also a sum of three", name, dollars(x+y+z), "", pick(c, full(v[4]), full(v[0], v[2], v[3])), undecided)
	},
	func(c *corpus) {
		name, cents := c.name(), c.cents()
		v, w := c.invoice(c.customer(name), cents), c.invoice(c.customer(c.name()), cents)
		c.add("the payer's invoice, another's number", name, dollars(cents), c.quote(w), pick(c, full(v), full(w)), undecided)
	},
	func(c *corpus) {
		name := strings.Join(strings.Fields(c.name())[:2], " ")
		cents := c.cents()
		v := []match.Invoice{c.invoice(c.customer(name+" GmbH"), cents), c.invoice(c.customer(name+" Ltd"), cents)}
		c.add("two customers of one name", name, dollars(cents), "", full(c.some(v, 1)...), undecided)
	},
	func(c *corpus) {
		name := strings.Join(strings.Fields(c.name())[:2], " ")
		cents := c.cents()
		v := []match.Invoice{c.invoice(c.customer(name+" Fund II"), cents), c.invoice(c.customer(name+" Fund III"), cents)}
		c.add("two funds", name+" Fund", dollars(cents), "", full(c.some(v, 1)...), undecided)
	},
	func(c *corpus) {
		name := strings.Join(strings.Fields(c.name())[:2], " ")
		v := c.invoice(c.customer(name+" Ltd"), c.cents())
		c.add("a sister company", pick(c, name+" GmbH", name+" Asia", name+" II"), v.AmountDue, "", pick(c, full(v), ""), undecided)
	},
	func(c *corpus) {
		name := strings.Join(strings.Fields(c.name())[:2], " ")
		v := c.invoice(c.customer(name+" Ltd"), c.cents())
		c.add("a sister company in the text", "", v.AmountDue, "ORIG:"+pick(c, name+" GmbH", name+" Asia", name+" II")+" OBI:SERVICES",
			pick(c, full(v), ""), undecided)
	},
	func(c *corpus) {
		payer, other, cents := c.name(), c.name(), c.cents()
		v, w := c.invoice(c.customer(payer), cents), c.invoice(c.customer(other), cents)
		c.add("on behalf of another, by the text", payer, dollars(cents), "Payment on behalf of "+other, pick(c, full(v), full(w)), undecided)
	},
	func(c *corpus) {
		name := c.name()
		v := c.invoice(c.customer(name), c.cents())
		memo := fmt.Sprintf(pick(c, "INV-%d", "Invoice %d", "Invoice 2025-%05d"), 90_000+c.Int64N(10_000))
		c.add("the number of no invoice", name, v.AmountDue, memo, pick(c, full(v), ""), undecided)
	},
	func(c *corpus) {
		agent, cents := c.name(), c.cents()
		a, b := c.customer(c.name()), c.customer(c.name())
		c.history = append(c.history, match.Earlier{PayerName: agent, CustomerID: a, Confirmed: 1})
		v := []match.Invoice{c.invoice(a, cents), c.invoice(b, cents)}
		c.add("an agent that paid for one of two", agent, dollars(cents), "", full(c.some(v, 1)...), undecided)
	},
	func(c *corpus) {
		v := c.invoice(c.customer(c.name()), 5_000*(1+c.Int64N(200)))
		c.add("for no invoice, the amount of one", c.name(), v.AmountDue, "", "", undecided)
	},
	func(c *corpus) {
		name := c.name()
		id, cents := c.customer(name), c.cents()
		old, v := c.paid(id, cents), c.invoice(id, cents)
		c.add("paid twice, or a standing order", name, dollars(cents), c.quote(old), pick(c, "", full(v)), undecided)
	},
	func(c *corpus) {
		name := c.name()
		id := c.customer(name)
		v := []match.Invoice{c.invoice(id, 100_000), c.invoice(id, 200_000)}
		c.add("a number that is not all", name, dollars(100_000), c.quote(v[0])+fmt.Sprintf(" INV-2026-%04d", 9000+c.IntN(999)),
			pick(c, full(v[0]), ""), undecided)
	},
	func(c *corpus) {
		name := c.name()
		id := c.customer(name)
		v := []match.Invoice{c.invoice(id, 100_000), c.invoice(id, 230_000)}
		c.add("the amount of one, the number of another", name, dollars(230_000), c.quote(v[0]), pick(c, full(v[0]), full(v[1])), undecided)
	},
	func(c *corpus) {
		name := c.name()
		id := c.customer(name)
		c.open(id, 3)
		c.add("in advance", name, dollars(1_000+c.Int64N(100)), "", "", undecided)
	},
}
