package match_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/match"
)

// sample is a generated deposit with its known answer.
type sample struct {
	kind      string
	deposit   match.Deposit
	customer  string // that the answer's invoices belong to
	answer    string // the allocations, or nothing if it pays no invoice
	quoted    bool   // the memo says what is paid, so that other sums do not matter
	undecided bool   // a person could not decide either
}

// corpus generates books and deposits. Each sample has customers of its own, but all invoices are candidates for all.
type corpus struct {
	*rand.Rand
	company
	samples []sample
	names   map[string]bool
	serial  int
}

const corpusSize = 500

func newCorpus(seed uint64) *corpus {
	c := &corpus{Rand: rand.New(rand.NewPCG(seed, 16)), names: map[string]bool{}}
	c.policy.Tolerance = money.MustParse("5.00")
	kinds := slices.Concat(decidableKinds, undecidableKinds)
	for len(c.samples) < corpusSize {
		kinds[len(c.samples)%len(kinds)](c)
	}
	c.findAmbiguities()
	return c
}

func pick[T any](c *corpus, from ...T) T { return from[c.IntN(len(from))] }

// name invents a company. Some words are common to many.
func (c *corpus) name() string {
	for {
		word := ""
		for range 2 + c.IntN(2) {
			word += pick(c, "ba", "cor", "del", "fi", "gan", "hel", "jo", "kra", "lum", "mi", "nor", "ost", "pra", "qui", "ros", "sta", "tur",
				"vel", "wes", "xan", "yor", "zim", "bré", "mül", "ång")
		}
		letters := []rune(word)
		name := strings.ToUpper(string(letters[:1])) + string(letters[1:]) + " "
		name += pick(c, "Trading", "Labs", "Capital", "Systems", "Partners", "Logistics", "Media",
			"Energy", "Foods", "Software", "Design", "Consulting", "Ventures", "Networks")
		if c.IntN(4) == 0 {
			name += " " + pick(c, "International", "Europe", "Group", "Holdings", "Services")
		}
		if core, _ := match.ParseName(name); !c.names[core] {
			c.names[core] = true
			return name + " " + pick(c, "GmbH", "Inc.", "LLC", "Ltd", "S.A.", "B.V.", "AG", "Corp.", "")
		}
	}
}

func (c *corpus) customer(name string) string {
	c.serial++
	id := fmt.Sprintf("cus_%04d", c.serial)
	c.customers = append(c.customers, match.Customer{ID: id, Name: strings.TrimSpace(name), Emails: []string{id + "@example.com"},
		Addresses: []string{"0x" + id}, ProcessorIDs: []string{"proc_" + id}})
	return id
}

// cents draws an amount: some are round, so that they agree by chance.
func (c *corpus) cents() int64 {
	if c.IntN(5) == 0 {
		return 5_000 * (1 + c.Int64N(200))
	}
	return 1_000 + c.Int64N(1_500_000)
}

func dollars(cents int64) money.Decimal { return money.FromInt(cents).Mul(money.MustParse("0.01")) }

// invoice adds an invoice, newer than those before.
func (c *corpus) invoice(customer string, cents int64) match.Invoice {
	c.serial++
	number := fmt.Sprintf("INV-2026-%04d", c.serial)
	at := date("01-01").Add(time.Duration(c.serial) * 10 * time.Minute)
	v := match.Invoice{ID: "inv_" + number, Number: number, CustomerID: customer, Status: match.Open, Currency: "USD", Total: dollars(cents),
		AmountDue: dollars(cents), IssueDate: at.AddDate(0, 0, -14), DueDate: at}
	c.invoices = append(c.invoices, v)
	return v
}

// open adds a number of invoices with different amounts.
func (c *corpus) open(customer string, n int) (all []match.Invoice) {
	for range n {
		all = append(all, c.invoice(customer, c.cents()))
	}
	return all
}

func (c *corpus) paid(customer string, cents int64) match.Invoice {
	v := c.invoice(customer, cents)
	v.Status, v.AmountDue = match.Paid, money.Decimal{}
	c.invoices[len(c.invoices)-1] = v
	return v
}

func total(invoices []match.Invoice) (sum money.Decimal) {
	for _, v := range invoices {
		sum = sum.Add(v.AmountDue)
	}
	return sum
}

// full is the answer that pays invoices in full.
func full(invoices ...match.Invoice) string {
	var parts []string
	for _, v := range invoices {
		parts = append(parts, v.Number+":"+v.AmountDue.Fixed("USD"))
	}
	slices.Sort(parts)
	return strings.Join(parts, "+")
}

// some returns n of the invoices, in order.
func (c *corpus) some(all []match.Invoice, n int) []match.Invoice {
	chosen := c.Perm(len(all))[:n]
	slices.Sort(chosen)
	var out []match.Invoice
	for _, i := range chosen {
		out = append(out, all[i])
	}
	return out
}

func (c *corpus) add(kind, payer string, amount money.Decimal, memo, answer string, change ...func(*sample)) {
	s := sample{kind: kind, answer: answer, deposit: match.Deposit{Amount: amount, Currency: "USD", Date: date("03-01"), LegalEntityID: "us",
		PayerName: payer, Memo: memo}}
	for _, f := range change {
		f(&s)
	}
	c.samples = append(c.samples, s)
}

func quoted(s *sample)    { s.quoted = true }
func undecided(s *sample) { s.undecided = true }

// noise writes a name as banks do.
func (c *corpus) noise(name string) string {
	switch c.IntN(9) {
	case 0:
		return strings.ToUpper(name)
	case 1:
		core, _ := match.ParseName(name)
		return core // without its legal form and accents
	case 2:
		runes := []rune(name)
		at := 2 + c.IntN(len(runes)/2)
		runes[at], runes[at+1] = runes[at+1], runes[at]
		return string(runes)
	case 3:
		runes := []rune(name)
		at := 1 + c.IntN(len(runes)/2)
		return string(append(runes[:at:at], runes[at+1:]...))
	case 4:
		runes := []rune(strings.ToUpper(name))
		return string(runes[:min(len(runes), 18)])
	case 5:
		return "WIRE IN " + strings.ToUpper(name) + " REF 88213"
	case 6:
		return "\u200f" + strings.ReplaceAll(name, " ", "  ") + "\u200b"
	case 7:
		return strings.ReplaceAll(strings.ToUpper(name), ".", "") + "*"
	}
	return name
}

// quote writes the numbers of invoices as payers do.
func (c *corpus) quote(invoices ...match.Invoice) string {
	var parts []string
	for _, v := range invoices {
		tail := strings.TrimPrefix(v.Number, "INV-")
		parts = append(parts, pick(c, v.Number, strings.ToLower(v.Number), "INV "+tail, "INV"+strings.ReplaceAll(tail, "-", ""),
			"invoice "+tail, "inv. no "+v.Number, "Invoice #"+tail))
	}
	return pick(c, "", "Payment for ", "thank you! ", "REF:", "/ROC/88123 ") + strings.Join(parts, pick(c, ", ", " ", " + ", "; ")) +
		pick(c, "", " for services", " Feb 2026")
}

// findAmbiguities marks what a person could not decide because of what else is open: another sum of up to three invoices of
// the customer, or any for a longer answer, or another invoice within the tolerance if the answer is not exact. Nothing is
// ambiguous if the payer says what is paid.
func (c *corpus) findAmbiguities() {
	open := map[[2]string][]match.Invoice{}
	for _, v := range c.invoices {
		if owner := [2]string{v.CustomerID, v.Currency}; v.Status == match.Open {
			open[owner] = append(open[owner], v)
		}
	}
	for i := range c.samples {
		s := &c.samples[i]
		if s.quoted || s.customer == "" || s.undecided {
			continue
		}
		sizeMax := 3
		if n := strings.Count(s.answer, ":"); n > sizeMax {
			sizeMax = 6
		}
		owner := [2]string{s.customer, s.deposit.Currency}
		for _, sum := range sums(open[owner], s.deposit.Amount, sizeMax) {
			s.undecided = s.undecided || full(sum...) != s.answer && s.answer != ""
		}
		near, exact := 0, false
		for _, v := range open[owner] {
			delta := v.AmountDue.Sub(s.deposit.Amount)
			exact = exact || delta.IsZero()
			if delta.Abs().Cmp(c.policy.Tolerance) <= 0 {
				near++
			}
		}
		s.undecided = s.undecided || near > 1 && !exact && s.answer != ""
	}
}

// sums returns the sets of invoices with a sum, by trying all.
func sums(open []match.Invoice, amount money.Decimal, sizeMax int) (all [][]match.Invoice) {
	var try func(from int, rest money.Decimal, chosen []match.Invoice)
	try = func(from int, rest money.Decimal, chosen []match.Invoice) {
		if rest.IsZero() && len(chosen) > 0 {
			all = append(all, slices.Clone(chosen))
		}
		if rest.Sign() <= 0 || len(chosen) == sizeMax {
			return
		}
		for i := from; i < len(open); i++ {
			try(i+1, rest.Sub(open[i].AmountDue), append(chosen, open[i]))
		}
	}
	try(0, amount, nil)
	return all
}

// tally counts results by kind.
type tally struct{ decidable, right, certain int }

func TestDepositsOfACorpusFindTheirInvoices(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		c := newCorpus(seed + 1)
		m := match.New(c.customers, c.history, c.invoices)
		var all tally
		kinds := map[string]*tally{}
		for n, s := range c.samples {
			got := m.Match(s.deposit, c.policy)
			first, certain := "", false
			if len(got.Suggestions) > 0 {
				first, certain = answerOf(got.Suggestions[0]), got.Suggestions[0].Certain()
			}
			k := cmp.Or(kinds[s.kind], &tally{})
			kinds[s.kind] = k
			if certain {
				all.certain++
				k.certain++
				if first != s.answer || s.undecided {
					t.Errorf("seed %d, %d %s: certain of %s, want %q; a person could decide: %t\n%+v\n%v", seed, n, s.kind, first, s.answer,
						!s.undecided, s.deposit, got.Suggestions[0].Reasons)
				}
			}
			if s.undecided {
				continue
			}
			all.decidable++
			k.decidable++
			if first == s.answer {
				all.right++
				k.right++
			} else {
				t.Logf("missed: %d %s: got %.80s, want %.80q: %q %s %q", n, s.kind, showAll(got), s.answer, s.deposit.PayerName,
					s.deposit.Amount, s.deposit.Memo)
			}
		}
		report(t, seed, c, all, kinds)
	}
}

// rightMin is the share, in per mille, of the deposits a person could decide that the first suggestion must get right.
const rightMin = 980

func report(t *testing.T, seed uint64, c *corpus, all tally, kinds map[string]*tally) {
	t.Logf("seed %d: %d customers, %d invoices, %d deposits, of which a person could decide %d; "+
		"the first suggestion is right for %d (%d.%d %%), %d are certain",
		seed, len(c.customers), len(c.invoices), len(c.samples), all.decidable, all.right, all.right*100/all.decidable,
		all.right*1000/all.decidable%10, all.certain)
	if all.right*1000 < rightMin*all.decidable || all.decidable < corpusSize/2 || all.decidable > corpusSize*9/10 {
		t.Errorf("only %d of %d are right", all.right, all.decidable)
	}
	if all.certain*3 < all.decidable {
		t.Errorf("only %d are certain, so that nearly everything is left to people", all.certain)
	}
	if seed > 0 {
		return
	}
	for kind, k := range kinds {
		t.Logf("%-40s right %3d of %3d, certain %3d", kind, k.right, k.decidable, k.certain)
	}
}

func answerOf(s match.Suggestion) string {
	var parts []string
	for _, a := range s.Allocations {
		parts = append(parts, a.InvoiceNumber+":"+a.Amount.Fixed("USD"))
	}
	slices.Sort(parts)
	return strings.Join(parts, "+")
}
