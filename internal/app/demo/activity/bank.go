package activity

import (
	"fmt"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
)

// move is a movement of a source that holds dollars or euros, in cents including the fee.
type move struct {
	source      int
	direction   Direction
	gross, fee  int
	description string
	other       string // the counterparty
	category    string
	group       string
}

var banks = map[int]Bank{bank: {Name: "Harbor Commercial Bank", Last4: "8821"}, berlin: {Name: "Spreebank", Last4: "0419"}}

// pay records a movement of fiat money. Inflows are net of the fee, outflows include it.
func (m *maker) pay(at time.Time, v move) {
	currency := m.sources[v.source].Currency
	t := Transaction{Source: v.source, At: at, Description: v.description, Direction: v.direction, Currency: currency,
		Value:    worth(cents(v.gross), cents(v.fee), currency),
		Category: v.category, Vendor: v.other, Truth: Truth{TransferGroup: v.group}}
	t.Quantity = t.Value.Gross
	if v.direction == Credit {
		t.Quantity = t.Value.Net
	}
	if b, ok := banks[v.source]; ok {
		b.Counterparty = v.other
		t.Bank = &b
	}
	prefix := map[int]string{bank: "hcb", berlin: "spb", card: "crd", processor: "txn", coinbase: "cbx", kraken: "krk"}[v.source]
	t.ExternalID = fmt.Sprintf("%s-%06d", prefix, m.number(prefix))
	m.add(t)
}

// send moves dollars from one source to another, where they arrive later.
func (m *maker) send(at time.Time, from, to, amount int, later time.Duration, what string) {
	group := m.group("wire")
	m.pay(at, move{source: from, direction: Debit, gross: amount, description: what + " to " + m.sources[to].Name,
		other: m.sources[to].Name, category: "transfer", group: group})
	m.at(at.Add(later), func(at time.Time) {
		m.pay(at, move{source: to, direction: Credit, gross: amount, description: what + " from " + m.sources[from].Name,
			other: m.sources[from].Name, category: "transfer", group: group})
	})
}

func (m *maker) group(kind string) string {
	return fmt.Sprintf("%s-%04d", kind, m.number("group "+kind))
}

// founding pays in the capital of the parent, and that of its subsidiary.
func (m *maker) founding() {
	m.at(m.on(0, 1, 8, 0), func(at time.Time) {
		m.pay(at, move{source: bank, direction: Credit, gross: 50_000_000, description: "Wire in: founders' capital", other: "Founders",
			category: "wire"})
	})
	capital := m.group("capital")
	m.at(m.on(0, 2, 15, 0), func(at time.Time) {
		m.pay(at, move{source: bank, direction: Debit, gross: 5_303_500, fee: 3_500,
			description: "Wire out: share capital of the subsidiary", other: "Demo Company GmbH", category: "wire", group: capital})
	})
	m.at(m.on(0, 3, 9, 0), func(at time.Time) {
		m.pay(at, move{source: berlin, direction: Credit, gross: 5_000_000, description: "SEPA-Gutschrift: Stammkapital",
			other: "Demo Company, Inc.", category: "transfer", group: capital})
	})
	m.at(m.on(0, 4, 16, 0), func(at time.Time) {
		m.pay(at, move{source: bank, direction: Debit, gross: 1_800_000, description: "Laptops", other: "Bytewise Electronics",
			category: "equipment"})
	})
}

// payroll is paid on the 15th and the last working day, with the taxes a day later.
func (m *maker) payroll(n int) {
	half := (2_900_000 + 60_000*(n/3)) / 2
	for _, day := range []int{15, 30} {
		m.at(m.workday(n, day, 13, 0), func(at time.Time) {
			m.pay(at, move{source: bank, direction: Debit, gross: half - half/4, description: "PAYROLL " + at.Format("2006-01-02"),
				other: "Payday Services", category: "payroll"})
		})
		m.at(m.workday(n, day, 16, 30), func(at time.Time) {
			m.pay(at, move{source: bank, direction: Debit, gross: half / 4, description: "PAYROLL TAX " + at.Format("2006-01-02"),
				other: "Payday Services", category: "taxes"})
		})
	}
}

// suppliers pays suppliers from the bank: rent, hosting with a wire fee, and vendors, each on its day.
func (m *maker) suppliers(n int) {
	m.at(m.workday(n, 1, 13, 15), func(at time.Time) {
		m.pay(at, move{source: bank, direction: Debit, gross: 650_000, description: "Rent " + at.Format("January 2006"),
			other: "Foundry Street Properties", category: "rent"})
	})
	m.at(m.workday(n, 22, 15, 10), func(at time.Time) {
		m.pay(at, move{source: bank, direction: Debit, gross: 381_500 + 9_000*n, fee: 1_500, description: "Hosting, invoice CH-" +
			at.Format("200601"), other: "Cloudhost", category: "hosting"})
	})
	d := roll("suppliers", n)
	for i, v := range vendors {
		m.at(m.workday(n, 5+3*i, 14, 5*i), func(at time.Time) {
			m.pay(at, move{source: bank, direction: Debit, gross: d.between(v.low, v.high), description: "ACH " + v.name, other: v.name,
				category: v.category})
		})
	}
	if n%3 == 2 {
		m.at(m.workday(n, 23, 14, 40), func(at time.Time) {
			m.pay(at, move{source: bank, direction: Debit, gross: 980_000, description: "Audit", other: "Grayson Audit", category: "accounting"})
		})
	}
	m.at(m.on(n, 31, 22, 0), func(at time.Time) {
		m.pay(at, move{source: bank, direction: Debit, gross: 2_500, description: "Account fee", other: banks[bank].Name, category: "bank_fee"})
	})
	m.at(m.on(n, 31, 22, 5), func(at time.Time) {
		interest := part(m.has(bank, "USD"), 2, 2).Mul(money.FromInt(100))
		m.pay(at, move{source: bank, direction: Credit, gross: whole(interest), description: "Interest", other: banks[bank].Name,
			category: "interest"})
	})
}

// whole converts a whole number of cents to an int.
func whole(d money.Decimal) int {
	n := 0
	for _, c := range d.Round(0).String() {
		n = n*10 + int(c-'0')
	}
	return n
}

// wires are payments of invoices by customers, some through a bank that deducts a fee.
func (m *maker) wires(n int) {
	d := roll("wires", n)
	for i := range 14 {
		m.at(m.workday(n, 2+(i*2)%26, 13+i%7, d.between(0, 59)), func(at time.Time) {
			v := move{source: bank, direction: Credit, gross: d.between(180_000, 420_000) + 6_000*n, other: pick(d, clients), category: "wire"}
			if i%5 == 4 {
				v.fee = 1_500
			}
			v.description = fmt.Sprintf("Wire in: %s INV-%05d", v.other, 1000+m.number("invoice"))
			m.pay(at, v)
		})
	}
}

// berlin is the bank account of the subsidiary: licenses, contractors, rent, software.
func (m *maker) berlin(n int) {
	d := roll("berlin", n)
	sales := 1_450_000 + 62_000*n
	for i, share := range []int{40, 35, 25} {
		m.at(m.workday(n, 6+2*i, 8, 10*i), func(at time.Time) {
			m.pay(at, move{source: berlin, direction: Credit, gross: sales * share / 100,
				description: fmt.Sprintf("SEPA-Gutschrift RE-%s-%d", at.Format("200601"), i+1), other: []string{"Kranich Energie AG",
					"Blaupause GmbH", "Nordlicht Medien"}[i], category: "transfer_in"})
		})
	}
	for i, who := range []string{"Lena Brandt", "Studio Ostkreuz"} {
		m.at(m.workday(n, 18, 9, 20*i), func(at time.Time) {
			m.pay(at, move{source: berlin, direction: Debit, gross: sales/4 + d.between(0, 9_999), description: "SEPA-Überweisung Honorar",
				other: who, category: "contractors"})
		})
	}
	for _, v := range []move{
		{gross: 320_000, description: "Miete Berlin", other: "Hausverwaltung Lindner", category: "rent"},
		{gross: 88_000 + 650*n, fee: 0, description: "Software", other: "Codeforge", category: "software"},
		{gross: 1_290, description: "Kontoführung", other: banks[berlin].Name, category: "bank_fee"},
	} {
		v.source, v.direction = berlin, Debit
		m.at(m.workday(n, 24, 10, len(v.other)), func(at time.Time) { m.pay(at, v) })
	}
}
