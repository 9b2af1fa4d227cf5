package classify_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/classify"
)

func feature(s classify.Subject, kind classify.Kind) string {
	for _, f := range classify.Features(s) {
		if f.Kind == kind {
			return f.Value
		}
	}
	return ""
}

func TestWhatATransactionHasInCommonWithOthers(t *testing.T) {
	t.Parallel()
	one := money.MustParse("1.50")
	for name, c := range map[string]struct {
		kind classify.Kind
		of   classify.Subject
		want string
	}{
		"a name with an order":     {classify.KindPayee, classify.Subject{Vendor: "AMZN Mktp US*2K4"}, "out/amzn mktp us"},
		"an order with few digits": {classify.KindPayee, classify.Subject{Vendor: "AMZN Mktp US*RTXY4"}, "out/amzn mktp us"},
		"a name after a star":      {classify.KindPayee, classify.Subject{Vendor: "SQ *BLUE BOTTLE"}, "out/sq blue bottle"},
		"the number of a store":    {classify.KindPayee, classify.Subject{Vendor: "Starbucks #00412 Seattle"}, "out/starbucks seattle"},
		"a name with a digit": {classify.KindPayee, classify.Subject{Vendor: "Web3 Foundation, 1Password"},
			"out/web3 foundation 1password"},
		"a name of digits": {classify.KindPayee, classify.Subject{Vendor: " 365 / 24"}, "out/365 24"},
		"an apostrophe":    {classify.KindPayee, classify.Subject{Vendor: "Joe's  Diner."}, "out/joes diner"},
		"another alphabet": {classify.KindPayee, classify.Subject{Vendor: "ООО «Ромашка» ΣΑΣ"}, "out/ооо ромашка σασ"},
		"a counterparty": {classify.KindPayee, classify.Subject{Vendor: " - ", Counterparty: "ACME", Merchant: "x",
			Inflow: true}, "in/acme"},
		"a vendor before others":   {classify.KindPayee, classify.Subject{Vendor: "A", Counterparty: "B", Merchant: "C"}, "out/a"},
		"a merchant":               {classify.KindPayee, classify.Subject{Merchant: "Shop"}, "out/shop"},
		"nobody":                   {classify.KindPayee, classify.Subject{Vendor: "*#!"}, ""},
		"whom it goes to":          {classify.KindAddress, classify.Subject{From: "0xA", To: " 0xB"}, "out/0xb"},
		"whom it comes from":       {classify.KindAddress, classify.Subject{From: "0xA", To: "0xB", Inflow: true}, "in/0xa"},
		"no address on that side":  {classify.KindAddress, classify.Subject{From: "0xA"}, ""},
		"a category":               {classify.KindCategory, classify.Subject{Category: " Gas  Fees", Asset: "ETH"}, "out/eth/gas fees"},
		"a category without asset": {classify.KindCategory, classify.Subject{Category: "Gas"}, "out//gas"},
		"an asset alone":           {classify.KindCategory, classify.Subject{Category: " ", Asset: "ETH"}, ""},
		"a text": {classify.KindText,
			classify.Subject{Description: "Invoice INV-2024/117, Rent 3rd level (ref A1B2)"}, "out/invoice inv rent level ref"},
		"a text of numbers": {classify.KindText, classify.Subject{Description: "2024-01-01 #4 ab"}, ""},
		"an amount": {classify.KindStanding, classify.Subject{Asset: "USDC", Quantity: one, Inflow: true, Vendor: "A"},
			"in/usdc/1.5/a"},
		"an amount that is negative": {classify.KindStanding, classify.Subject{Asset: "USDC", Quantity: one.Neg(), Merchant: "A"},
			"out/usdc/1.5/a"},
		"an amount of nothing": {classify.KindStanding, classify.Subject{Quantity: one, Vendor: "A"}, ""},
		"no amount":            {classify.KindStanding, classify.Subject{Asset: "USDC", Vendor: "A"}, ""},
		"an amount to nobody":  {classify.KindStanding, classify.Subject{Asset: "USDC", Quantity: one, Vendor: "*"}, ""},
	} {
		if got := feature(c.of, c.kind); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestFeaturesComeInTheirOrderAndHaveAnEnd(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 500)
	var kinds []classify.Kind
	for _, f := range classify.Features(classify.Subject{Vendor: long, To: long, Category: long, Description: long, Asset: "ETH",
		Quantity: money.FromInt(1)}) {
		kinds = append(kinds, f.Kind)
		if len(f.Value) > 240 || !utf8.ValidString(f.Value) {
			t.Errorf("%s is %q", f.Kind, f.Value)
		}
	}
	if want := []classify.Kind{classify.KindAddress, classify.KindPayee, classify.KindText, classify.KindCategory,
		classify.KindStanding}; !slices.Equal(kinds, want) {
		t.Errorf("they are %v", kinds)
	}
	if got := classify.Features(classify.Subject{}); len(got) > 0 {
		t.Errorf("nothing has %v", got)
	}
}
