package classify_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/classify"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// record is a precedent and the transaction that it was.
type record struct {
	classify.Precedent
	Subject classify.Subject
}

// propose asks with precedents that are found by their features.
func propose(s classify.Subject, past []record) *classify.Proposal {
	return classify.Propose(s, func(f classify.Feature) *classify.BookingHistory {
		var of []classify.Precedent
		for _, r := range past {
			if slices.Contains(classify.Features(r.Subject), f) {
				of = append(of, r.Precedent)
			}
		}
		if of == nil {
			return nil
		}
		return classify.NewBookingHistory(of)
	})
}

// booked are precedents of one subject, an hour after the other; each way is "TYPE account".
func booked(s classify.Subject, ways ...string) (out []record) {
	for n, way := range ways {
		kind, account, _ := strings.Cut(way, " ")
		p := classify.Precedent{TransactionID: fmt.Sprintf("txn_%s%s%s%02d", s.Vendor, s.To, s.Quantity, n), TransactionType: kind,
			LedgerAccountID: account, At: start.Add(time.Duration(n) * time.Hour)}
		out = append(out, record{p, s})
	}
	return out
}

func times(n int, way string) []string { return slices.Repeat([]string{way}, n) }

func TestAProposalFollowsPrecedents(t *testing.T) {
	t.Parallel()
	aws := classify.Subject{Vendor: "Amazon Web Services"}
	aws1250 := classify.Subject{Vendor: "Amazon Web Services", Asset: "USD", Quantity: money.MustParse("12.50")}
	aws99 := classify.Subject{Vendor: "Amazon Web Services", Asset: "USD", Quantity: money.MustParse("99")}
	wallet := classify.Subject{To: "0xAB"}
	text := classify.Subject{Description: "office rent 12"}
	category := classify.Subject{Category: "Gas", Asset: "ETH"}
	amount := classify.Subject{Asset: "USD", Quantity: money.FromInt(7)}
	every := classify.Subject{Vendor: "aws", To: "0xAB", Description: "cloud", Category: "Gas", Asset: "USD", Quantity: money.FromInt(7)}
	income := classify.Subject{Inflow: true, Counterparty: "Client"}
	for name, c := range map[string]struct {
		of      classify.Subject
		past    []record
		account string
		percent int
		reasons string
	}{
		"nothing": {aws, nil, "", 0, ""},
		"one payee": {aws, booked(aws, "EXPENSE lac_1"), "lac_1", 46,
			`The only payment to "amazon web services" was booked as EXPENSE to the account lac_1.`},
		"two": {aws, booked(aws, times(2, "EXPENSE lac_1")...), "lac_1", 61,
			`2 of 2 payments to "amazon web services" were booked as EXPENSE to the account lac_1.`},
		"most": {aws, booked(aws, append(times(7, "EXPENSE lac_1"), "FEE lac_2")...), "lac_1", 69,
			`7 of 8 payments to "amazon web services" were booked as EXPENSE to the account lac_1.`},
		"without a type": {aws, booked(aws, " lac_1"), "lac_1", 46,
			`The only payment to "amazon web services" was booked to the account lac_1.`},
		"without an account": {aws, booked(aws, "EXPENSE "), "", 0, ""},
		"halves, the later": {aws, booked(aws, "A lac_2", "A lac_2", "A lac_1", "A lac_1"), "lac_1", 33,
			`2 of 4 payments to "amazon web services" were booked as A to the account lac_1.`},
		"thirds": {aws, booked(aws, "A lac_1", "A lac_2", "A lac_3"), "", 0, ""},
		"an address": {wallet, booked(wallet, times(9, "A lac_1")...), "lac_1", 85,
			`9 of 9 payments to the address 0xab were booked as A to the account lac_1.`},
		"a receipt": {income, booked(income, "INCOME lac_4", "INCOME lac_4"), "lac_4", 61,
			`2 of 2 receipts from "client" were booked as INCOME to the account lac_4.`},
		"one text": {text, booked(text, "A lac_1"), "", 0, ""},
		"two texts": {text, booked(text, times(2, "A lac_1")...), "lac_1", 37,
			`2 of 2 payments described as "office rent" were booked as A to the account lac_1.`},
		"two of a category": {category, booked(category, times(2, "A lac_1")...), "", 0, ""},
		"many of a category": {category, booked(category, times(50, "A lac_1")...), "lac_1", 48,
			`50 of 50 payments of ETH in the category "Gas" were booked as A to the account lac_1.`},
		"an amount alone": {amount, booked(amount, times(50, "A lac_1")...), "", 0, ""},
		"weak ones together, once": {classify.Subject{Description: "cloud", Category: "Gas", Asset: "USD", Quantity: money.FromInt(7)},
			booked(classify.Subject{Description: "cloud", Category: "Gas", Asset: "USD", Quantity: money.FromInt(7)}, "A lac_1"), "", 0, ""},
		"all together":       {every, booked(every, times(50, "A lac_1")...), "lac_1", 98, ""},
		"all together, once": {every, booked(every, "A lac_1"), "lac_1", 50, ""},
		"an amount tells": {aws1250, append(booked(aws99, times(6, "A lac_2")...), booked(aws1250, times(3, "A lac_1")...)...),
			"lac_1", 64, ""},
		"another payee":       {aws, booked(classify.Subject{Vendor: "AWS"}, times(9, "A lac_1")...), "", 0, ""},
		"the other direction": {aws, booked(classify.Subject{Vendor: "Amazon Web Services", Inflow: true}, times(9, "A lac_1")...), "", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := propose(c.of, c.past)
			if p == nil {
				p = &classify.Proposal{}
			}
			if p.LedgerAccountID != c.account || p.Confidence != c.percent {
				t.Errorf("%+v", p)
			}
			if got := strings.Join(p.Reasons, "\n"); c.reasons != "" && got != c.reasons {
				t.Errorf("because %s\nwant    %s", got, c.reasons)
			}
		})
	}
}

func TestAProposalSaysWhy(t *testing.T) {
	t.Parallel()
	s := classify.Subject{Vendor: "Hetzner Online", To: "0xAB", Category: "Hosting", Asset: "USDC", Quantity: money.MustParse("20.00"),
		Description: "server 0411"}
	other := s
	other.To, other.Quantity = "0xCD", money.FromInt(3)
	past := append(booked(s, times(6, "EXPENSE lac_1")...), booked(other, "FEE lac_2", "EXPENSE lac_1")...)
	got := propose(s, past)
	want := &classify.Proposal{LedgerAccountID: "lac_1", TransactionType: "EXPENSE", Confidence: 85,
		Reasons: []string{
			`6 of 6 payments of exactly 20 USDC to "hetzner online" were booked as EXPENSE to the account lac_1.`,
			`6 of 6 payments to the address 0xab were booked as EXPENSE to the account lac_1.`,
			`7 of 8 payments to "hetzner online" were booked as EXPENSE to the account lac_1.`,
			`7 of 8 payments described as "server" were booked as EXPENSE to the account lac_1.`,
			`7 of 8 payments of USDC in the category "Hosting" were booked as EXPENSE to the account lac_1.`,
		},
		Examples: []string{"txn_Hetzner Online0xAB2005", "txn_Hetzner Online0xAB2004", "txn_Hetzner Online0xAB2003",
			"txn_Hetzner Online0xAB2002", "txn_Hetzner Online0xAB2001"},
		Features: classify.Features(s),
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

func TestOnlyTheLatestCount(t *testing.T) {
	t.Parallel()
	s := classify.Subject{Vendor: "aws"}
	past := booked(s, append(times(40, "A lac_old"), times(50, "A lac_new")...)...)
	if p := propose(s, past); p == nil || p.LedgerAccountID != "lac_new" ||
		p.Reasons[0] != `50 of 50 payments to "aws" were booked as A to the account lac_new.` {
		t.Errorf("%+v", p)
	}
}

func TestATransactionCountsOnce(t *testing.T) {
	t.Parallel()
	s := classify.Subject{Vendor: "aws"}
	past := booked(s, "A lac_1", "A lac_2")
	if got, want := propose(s, append(past, past[0], past[0])), propose(s, past); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func drawBooked(t *rapid.T) (classify.Subject, []record) {
	pick := func(name string, from ...string) string { return rapid.SampledFrom(from).Draw(t, name) }
	subject := func(inflow bool) classify.Subject {
		return classify.Subject{Inflow: inflow, Vendor: pick("vendor", "", "a", "A", "b"), From: pick("from", "", "0x1"),
			To: pick("to", "", "0x1", "0x2"), Description: pick("text", "", "rent 1", "rent 2", "food"),
			Category: pick("category", "", "x", "y"), Asset: pick("asset", "ETH", "eth", "USD"),
			Quantity: money.MustParse(pick("quantity", "0", "1", "1.0", "2"))}
	}
	s := subject(rapid.Bool().Draw(t, "in"))
	var past []record
	for n := range rapid.IntRange(0, 70).Draw(t, "past") {
		of := s
		if rapid.IntRange(0, 2).Draw(t, "another") > 0 {
			of = subject(rapid.IntRange(0, 9).Draw(t, "way") > 0 == s.Inflow)
		}
		past = append(past, record{classify.Precedent{TransactionID: fmt.Sprintf("t%02d", n), LedgerAccountID: pick("account", "l1", "l1",
			"l2", "l3"), TransactionType: pick("type", "A", "A", "B"),
			At: start.Add(time.Duration(rapid.IntRange(0, 20).Draw(t, "hour")) * time.Hour)}, of})
	}
	return s, past
}

func TestAnotherPrecedentThatAgreesNeverLowersTheConfidence(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, past := drawBooked(t)
		before := propose(s, past)
		_, more := drawBooked(t)
		if before == nil || len(more) == 0 {
			return
		}
		p := more[0]
		if rapid.Bool().Draw(t, "alike") {
			p.Subject = s
		}
		p.TransactionID, p.LedgerAccountID, p.TransactionType = rapid.SampledFrom([]string{"a", "z"}).Draw(t,
			"id"), before.LedgerAccountID, before.TransactionType
		after := propose(s, append(past, p))
		if after == nil || after.LedgerAccountID != before.LedgerAccountID || after.TransactionType != before.TransactionType ||
			after.Confidence < before.Confidence {
			t.Fatalf("%+v becomes %+v", before, after)
		}
	})
}

func TestProposalsKeepTheirPromises(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, past := drawBooked(t)
		p := propose(s, past)
		if again := propose(s, rapid.Permutation(past).Draw(t, "permuted")); !reflect.DeepEqual(p, again) {
			t.Fatalf("in another order %+v is %+v", p, again)
		}
		other := record{classify.Precedent{TransactionID: "other", LedgerAccountID: "l9", At: start.Add(time.Hour * 1000)}, s}
		other.Subject.Inflow = !s.Inflow
		if again := propose(s, append(slices.Clone(past), other)); !reflect.DeepEqual(p, again) {
			t.Fatalf("with one of the other direction %+v is %+v", p, again)
		}
		if p == nil {
			return
		}
		if p.Confidence < classify.ConfidenceMin || p.Confidence > classify.ConfidenceMax || len(p.Reasons) == 0 ||
			len(p.Features) == 0 || len(p.Examples) == 0 || len(p.Examples) > 5 {
			t.Fatalf("%+v", p)
		}
		for _, id := range p.Examples {
			n := slices.IndexFunc(past, func(e record) bool { return e.TransactionID == id })
			if e := past[n]; e.LedgerAccountID != p.LedgerAccountID || e.TransactionType != p.TransactionType || e.Subject.Inflow != s.Inflow {
				t.Fatalf("%s is no example of %+v", id, p)
			}
		}
		for _, f := range p.Features {
			if !slices.Contains(classify.Features(s), f) {
				t.Fatalf("%v is not of the transaction", f)
			}
		}
	})
}
