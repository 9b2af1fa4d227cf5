// Package classifytest generates realistic rules and transactions for tests and benchmarks.
package classifytest

import (
	"fmt"
	"strings"

	"github.com/bursarhq/bursar/internal/rules/classify"
)

var (
	words      = dictionary(800)
	kinds      = []string{"inc", "llc", "gmbh", "ltd", "labs", "services", "group", "online"}
	categories = []string{"software", "meals", "travel", "payroll", "fees", "rent", "marketing", "insurance", "staking", "trading"}
	assets     = []string{"USDC", "ETH", "BTC", "USDT", "USD", "EUR", "SOL", "DAI"}
	phrases    = []string{"card payment to %s on invoice %d", "ACH debit %s web id %d", "WIRE OUT BNF %s ref %d",
		"Recurring charge %s subscription no %d", "transfer %s order #%d settled"}
)

// dice is a deterministic random number generator (splitmix64).
type dice uint64

func (d *dice) roll(sides int) int {
	*d += 0x9E3779B97F4A7C15
	z := uint64(*d)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return int((z ^ z>>31) >> 33 % uint64(sides))
}

// dictionary generates words from syllables, so that many share a prefix, as real words do.
func dictionary(count int) []string {
	random := dice(3)
	syllables := strings.Fields("a am an ar be bo ca co da de do el en fa fi ga go ha in ka la le lo ma me mi mo na ne no o pa pe " +
		"ra re ri ro sa se so sta stri ta te ti to u va ve vi wa we zo")
	out := make([]string, count)
	for i := range out {
		for range 2 + random.roll(2) {
			out[i] += syllables[random.roll(len(syllables))]
		}
	}
	return out
}

// vendor returns a name, a different one for each number.
func vendor(n int) string {
	return fmt.Sprintf("%s %s %s", words[n%len(words)], words[n/len(words)*7%len(words)], kinds[n%len(kinds)])
}

func address(n int) string { return fmt.Sprintf("0x%040X", uint64(n)*0x9E3779B97F4A7C15) }

// Rules returns count rules, most of them with a memo pattern.
func Rules(count int) []classify.Rule {
	out := make([]classify.Rule, count)
	for n := range out {
		r := &out[n]
		r.ID, r.LedgerAccountID = fmt.Sprintf("rul_%06d", n), fmt.Sprintf("lac_%03d", n%200)
		switch n % 10 {
		case 0, 1, 2, 3:
			r.MemoContains = vendor(n)
		case 4:
			r.MemoContains, r.Direction = vendor(n), classify.Withdrawal
		case 5:
			r.MemoContains, r.Category = vendor(n), categories[n/10%len(categories)]
		case 6, 7:
			r.Merchant = vendor(n)
		case 8:
			r.Address = address(n)
		case 9:
			r.Category, r.Asset, r.MemoContains = categories[n/10%len(categories)], assets[n/100%len(assets)], words[n%len(words)]
		}
	}
	return out
}

// Subjects returns transactions, half of them with names that occur in the given number of rules.
func Subjects(count, rules int) []classify.Subject {
	random := dice(5)
	out := make([]classify.Subject, count)
	for i := range out {
		n := random.roll(rules)
		if i%2 == 1 {
			n += 301_230 // a name that no rule has
		}
		name := vendor(n)
		said := fmt.Sprintf(phrases[random.roll(len(phrases))], strings.ToUpper(name), random.roll(1_000_000))
		out[i] = classify.Subject{
			Inflow:   random.roll(4) == 0,
			Texts:    []string{said, fmt.Sprintf("thank you for your business with us, order %08d", random.roll(100_000_000)), name},
			Category: categories[random.roll(len(categories))],
			Asset:    assets[random.roll(len(assets))],
			From:     address(random.roll(1 << 30)),
			To:       address(n),
		}
		switch n % 10 {
		case 4:
			out[i].Inflow = false
		case 5:
			out[i].Category = categories[n/10%len(categories)]
		case 6, 7:
			out[i].Merchant = name
		case 9:
			out[i].Category, out[i].Asset = categories[n/10%len(categories)], assets[n/100%len(assets)]
		}
	}
	return out
}
