package transaction_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// combinations is how many filters are tested on each engine: go test -args -combinations 5000 tests more.
var combinations = flag.Int("combinations", 300, "how many random filters to try")

var sorts = []string{"transaction_date", "created_at", "updated_at", "gross_amount", "net_amount", "gross_price", "asset_type", "chain"}

// ask sets one filter, most often so that a given transaction passes it.
type ask struct {
	field string
	set   func(r *rand.Rand, w transaction.Transaction, f *transaction.Filter)
}

// some returns a list that contains a value, and perhaps others.
func some(r *rand.Rand, value string, others ...string) []string {
	out := []string{value}
	for _, o := range others {
		if r.IntN(3) == 0 {
			out = append(out, o)
		}
	}
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// odds returns a text in another case.
func odds(r *rand.Rand, text string) string {
	return []string{text, strings.ToUpper(text), strings.ToLower(text)}[r.IntN(3)]
}

// part returns a piece of a text.
func part(r *rand.Rand, text string) string {
	runes := []rune(text)
	if len(runes) == 0 {
		return "nothing like it"
	}
	from := r.IntN(len(runes))
	return string(runes[from : from+1+r.IntN(len(runes)-from)])
}

func asks(all []transaction.Transaction, accounts []string) []ask {
	return []ask{
		{"source_class", func(_ *rand.Rand, w transaction.Transaction, f *transaction.Filter) {
			f.SourceClass = string(w.Source.Type.Class())
		}},
		{"status", func(_ *rand.Rand, w transaction.Transaction, f *transaction.Filter) { f.Status = string(w.Status) }},
		{"has_posted_journal_entry", func(_ *rand.Rand, w transaction.Transaction, f *transaction.Filter) {
			f.HasPostedJournalEntry = new(w.Status == transaction.Posted)
		}},
		{"include_spam", func(_ *rand.Rand, _ transaction.Transaction, f *transaction.Filter) { f.IncludeSpam = true }},
		{"gross_price_min", func(r *rand.Rand, _ transaction.Transaction, f *transaction.Filter) {
			f.GrossPriceMin = pick(r, amountPool)
		}},
		{"gross_price_max", func(r *rand.Rand, _ transaction.Transaction, f *transaction.Filter) {
			f.GrossPriceMax = pick(r, amountPool)
		}},
		{"gross_amount_min", func(r *rand.Rand, _ transaction.Transaction, f *transaction.Filter) {
			f.GrossAmountMin = "00" + pick(r, amountPool[:11])
		}},
		{"gross_amount_max", func(r *rand.Rand, _ transaction.Transaction, f *transaction.Filter) {
			f.GrossAmountMax = pick(r, amountPool)
		}},
		{"legal_entity_ids", func(r *rand.Rand, w transaction.Transaction, f *transaction.Filter) {
			f.LegalEntityIDs = []string{w.Source.LegalEntityID}
		}},
		{"transaction_ids", func(r *rand.Rand, w transaction.Transaction, f *transaction.Filter) {
			f.TransactionIDs = some(r, w.ID, pick(r, all).ID, pick(r, all).ID, "txn_none", w.ID)
		}},
		{"exclude_transaction_ids", func(r *rand.Rand, w transaction.Transaction, f *transaction.Filter) {
			f.ExcludeTransactionIDs = some(r, pick(r, all).ID, pick(r, all).ID, w.ID, "txn_none")
		}},
		{"sequence_numbers", func(r *rand.Rand, w transaction.Transaction, f *transaction.Filter) {
			f.SequenceNumbers = some(r, w.SequenceNumber(), pick(r, all).SequenceNumber(), "OT-0", "OT-99999999999999999999")
		}},
		{"account_ids", func(r *rand.Rand, w transaction.Transaction, f *transaction.Filter) {
			f.AccountIDs = some(r, w.Source.Account(), w.Source.ID, pick(r, accounts), pick(r, accounts))
		}},
		{"transaction_types", func(r *rand.Rand, w transaction.Transaction, f *transaction.Filter) {
			f.TransactionTypes = some(r, string(w.Type), "UNKNOWN", "DEPOSIT", "NFT")
		}},
		{"source_types", func(r *rand.Rand, w transaction.Transaction, f *transaction.Filter) {
			f.SourceTypes = some(r, string(w.Source.Type), "bank", "wallet")
		}},
		{"asset_types", func(r *rand.Rand, w transaction.Transaction, f *transaction.Filter) {
			f.AssetTypes = some(r, asset(w), "ETH", "USD", "x")
		}},
		{"chains", func(r *rand.Rand, w transaction.Transaction, f *transaction.Filter) {
			if f.Chains = some(r, "base", "Solana", "none"); chain(w) != "" {
				f.Chains = append(f.Chains, odds(r, chain(w)))
			}
		}},
		{"addresses", func(r *rand.Rand, w transaction.Transaction, f *transaction.Filter) {
			f.Addresses = some(r, odds(r, pick(r, addressPool[2:])), "0xnone", odds(r, pick(r, addressPool[2:])), "0xNone2")
		}},
		{"provider_category", func(r *rand.Rand, w transaction.Transaction, f *transaction.Filter) {
			f.ProviderCategory = some(r, odds(r, pick(r, []string{"travel", "hotel;travel", "%", `\`, "_", "été;food", "o", "none",
				"50%_off"})), "food", part(r, w.Category))
		}},
		{"search", func(r *rand.Rand, w transaction.Transaction, f *transaction.Filter) {
			f.Search = odds(r, part(r, pick(r, []string{w.Description, w.Vendor, w.Memo, pick(r, textPool), pick(r, categoryPool)})))
		}},
		{"source_id", func(r *rand.Rand, w transaction.Transaction, f *transaction.Filter) {
			f.SourceID = pick(r, []string{w.Source.ID, w.Source.Account()})
		}},
		{"direction", func(_ *rand.Rand, w transaction.Transaction, f *transaction.Filter) {
			f.Direction = string(w.Direction)
		}},
		{"start_date", func(r *rand.Rand, w transaction.Transaction, f *transaction.Filter) {
			f.StartDate = pick(r, []string{clock.Format(w.At), w.At.Format("2006-01-02"), "2026-01-02T01:00:00+01:00"})
		}},
		{"end_date", func(r *rand.Rand, w transaction.Transaction, f *transaction.Filter) {
			f.EndDate = pick(r, []string{clock.Format(w.At), w.At.Format("2006-01-02"), "2026-01-03T00:59:59.4+01:00"})
		}},
		{"updated_since", func(_ *rand.Rand, w transaction.Transaction, f *transaction.Filter) {
			f.UpdatedSince = clock.Format(w.UpdatedAt)
		}},
	}
}

// sensible removes combinations that are not allowed.
func sensible(f transaction.Filter) transaction.Filter {
	if len(f.TransactionIDs) > 0 {
		if f.HasPostedJournalEntry = nil; f.Status != "spam" {
			f.Status = ""
		}
	}
	if len(f.SequenceNumbers) > 0 && f.HasPostedJournalEntry != nil && !*f.HasPostedJournalEntry {
		f.HasPostedJournalEntry = nil
	}
	if low, high := f.GrossPriceMin, f.GrossPriceMax; low != "" && high != "" && number(low).Cmp(number(high)) > 0 {
		f.GrossPriceMin, f.GrossPriceMax = high, low
	}
	if low, high := f.GrossAmountMin, f.GrossAmountMax; low != "" && high != "" && number(low).Cmp(number(high)) > 0 {
		f.GrossAmountMin, f.GrossAmountMax = high, low
	}
	if f.StartDate != "" && f.EndDate != "" && instant(f.StartDate, false).After(instant(f.EndDate, true)) {
		f.StartDate = ""
	}
	return f
}

// viewer reads a world with a key for all of it or for some legal entities.
type viewer struct {
	ctx      context.Context
	entities []string
	all      []transaction.Transaction // that it sees
	accounts []string
}

func (w *world) eye(entities ...string) viewer {
	e := viewer{ctx: w.ctx, entities: entities}
	if entities != nil {
		e.ctx = w.limited(entities...)
	}
	for _, s := range w.sources {
		if entities == nil || slices.Contains(entities, s.LegalEntityID) {
			e.accounts = append(e.accounts, s.Account(), s.ID)
		}
	}
	for _, t := range w.all {
		if entities == nil || slices.Contains(entities, t.Source.LegalEntityID) {
			e.all = append(e.all, t)
		}
	}
	return e
}

// same reads all pages, the first few of them small, and compares them with the reference. It returns the number of
// rows.
func (w *world) same(t *testing.T, e viewer, f transaction.Filter, s transaction.Sort, limit int) int {
	t.Helper()
	want := answer(w.all, e.entities, f, s)
	text, _ := json.Marshal(f)
	call := fmt.Sprintf("%s by %s %s, %d a page, for %v", text, s.By, s.Order, limit, e.entities)
	p := transaction.ListParams{Filter: f, Sort: s, Request: page.Request{Limit: limit}, WithCount: true}
	var got []string
	for n := 0; ; n++ {
		if n == 4 {
			p.Limit = page.LimitMax
		}
		out, err := w.List(e.ctx, p)
		if err != nil {
			t.Errorf("%s: %v", call, err)
			return 0
		}
		if p.WithCount && *out.TotalCount != int64(len(want)) {
			t.Errorf("%s: total_count is %d, want %d", call, *out.TotalCount, len(want))
		}
		p.WithCount = false
		for _, found := range out.Items {
			got = append(got, found.SequenceNumber())
		}
		if more := len(got) < len(want); out.HasMore != more || (out.NextCursor != "") != more {
			t.Errorf("%s: has_more is %v after %d of %d", call, out.HasMore, len(got), len(want))
		}
		if !out.HasMore {
			break
		}
		p.Cursor = out.NextCursor
	}
	var numbers []string
	for _, found := range want {
		numbers = append(numbers, found.SequenceNumber())
	}
	if !slices.Equal(got, numbers) {
		t.Errorf("%s:\n got %v\nwant %v", call, got, numbers)
	}
	only, err := w.List(e.ctx, transaction.ListParams{Filter: f, Sort: s, Request: page.Request{Limit: 1}, WithCount: true, CountOnly: true})
	if err != nil || *only.TotalCount != int64(len(want)) || only.Items == nil || len(only.Items) != 0 || only.HasMore ||
		only.NextCursor != "" {
		t.Errorf("%s: count_only gives %+v %v", call, only, err)
	}
	return len(want)
}

func TestEveryFilterAndSortReturnsWhatTheContractSays(t *testing.T) {
	t.Parallel()
	t.Cleanup(func() {
		for _, strategy := range []string{"scan", "window", "lookup", "few"} {
			if n := transaction.Strategies.Times(strategy); n < 10 {
				t.Errorf("pages were read by %s only %d times: the test has lost its teeth", strategy, n)
			}
		}
	})
	eachTimed(t, func(t *testing.T, c company) {
		w := newWorld(t, c, 300)
		w.sound(t)
		r := rand.New(rand.NewPCG(1, 2))
		eyes := []viewer{w.eye(), w.eye(), w.eye(w.other), w.eye(w.mine, w.other)}
		for _, by := range sorts {
			for _, order := range []string{"asc", "desc", ""} {
				w.same(t, eyes[0], transaction.Filter{}, transaction.Sort{By: by, Order: order}, 40)
			}
			for _, a := range asks(w.all, eyes[0].accounts) {
				var f transaction.Filter
				a.set(r, pick(r, w.all), &f)
				w.same(t, eyes[0], f, transaction.Sort{By: by, Order: pick(r, []string{"asc", "desc"})}, 1+r.IntN(20))
			}
		}
		found := 0
		for n := range *combinations {
			e := eyes[n%len(eyes)]
			var f transaction.Filter
			witness := pick(r, e.all)
			for _, a := range asks(e.all, e.accounts) {
				if r.IntN(8) == 0 {
					a.set(r, witness, &f)
				}
			}
			if w.same(t, e, sensible(f), transaction.Sort{By: pick(r, sorts), Order: pick(r, []string{"asc", "desc"})},
				pick(r, []int{1, 2, 3, 5, 8, 20, 100})) > 1 {
				found++
			}
			if t.Failed() && n > 20 {
				t.Fatal("and so on")
			}
		}
		if found < *combinations/4 {
			t.Errorf("only %d of %d combinations found more than one transaction", found, *combinations)
		}
	})
}
