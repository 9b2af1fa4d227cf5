package transaction

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// Filter restricts a list of transactions; empty fields do not. The JSON names are those of GET /v1/transactions.
type Filter struct {
	SourceClass           string   `json:"source_class,omitempty"`
	Status                string   `json:"status,omitempty"`
	HasPostedJournalEntry *bool    `json:"has_posted_journal_entry,omitempty"`
	IncludeSpam           bool     `json:"include_spam,omitempty"`
	GrossPriceMin         string   `json:"gross_price_min,omitempty"`
	GrossPriceMax         string   `json:"gross_price_max,omitempty"`
	GrossAmountMin        string   `json:"gross_amount_min,omitempty"`
	GrossAmountMax        string   `json:"gross_amount_max,omitempty"`
	LegalEntityIDs        []string `json:"legal_entity_ids,omitempty"`
	TransactionIDs        []string `json:"transaction_ids,omitempty"`
	ExcludeTransactionIDs []string `json:"exclude_transaction_ids,omitempty"`
	SequenceNumbers       []string `json:"sequence_numbers,omitempty"`
	AccountIDs            []string `json:"account_ids,omitempty"`
	TransactionTypes      []string `json:"transaction_types,omitempty"`
	SourceTypes           []string `json:"source_types,omitempty"`
	AssetTypes            []string `json:"asset_types,omitempty"`
	Chains                []string `json:"chains,omitempty"`
	Addresses             []string `json:"addresses,omitempty"`
	ProviderCategory      []string `json:"provider_category,omitempty"`
	Search                string   `json:"search,omitempty"`
	SourceID              string   `json:"source_id,omitempty"`
	Direction             string   `json:"direction,omitempty"`
	StartDate             string   `json:"start_date,omitempty"`
	EndDate               string   `json:"end_date,omitempty"`
	UpdatedSince          string   `json:"updated_since,omitempty"`
}

const (
	// IDsMax is the maximum number of ids in a filter.
	IDsMax = 1000
	// numbersMax is the maximum number of sequence numbers in a filter.
	numbersMax = 100
	// addressesMax is the maximum number of addresses in a filter.
	addressesMax = 100
	// searchMax is the maximum length of a search text in characters.
	searchMax = 200
)

var (
	amountRe = regexp.MustCompile(`^[0-9]+(?:\.[0-9]+)?$`)
	numberRe = regexp.MustCompile(`^OT-\d+$`)
)

// query is a filter with all names resolved to stored values. A nil list does not restrict; an empty one matches
// nothing.
type query struct {
	visibilities []int64
	status       string // of listed transactions; spam has only one
	ids          []string
	excluded     []string
	numbers      []int64
	sources      []string // those that satisfy class, type, account, legal entity and the actor's key
	types        []string
	assets       []string
	chains       []string
	categories   []string // keys
	addresses    []string // keys
	owners       []string // sources that have one of the addresses
	cache        *sourceCache
	direction    string
	search       string
	trigrams     []string // trigrams to search the index by
	price        bounds
	amount       bounds
	first, last  time.Time
	since        time.Time
	lastNumber   int64 // the last number to include; 0 means no limit
}

// bounds are sort keys, both inclusive.
type bounds struct{ low, high string }

// validate collects every fault of the filter, including combinations that are not allowed.
func (f Filter) validate() (q query, err error) {
	var faults fault.List
	oneOf := func(field, value string, allowed ...string) {
		if value != "" && !slices.Contains(allowed, value) {
			faults.Addf(field, "must be one of %s", strings.Join(allowed, ", "))
		}
	}
	oneOf("source_class", f.SourceClass, "crypto", "fiat", "exchange", "card", "other")
	oneOf("status", f.Status, "pending", "posted", "spam")
	oneOf("direction", f.Direction, "debit", "credit")
	for _, t := range f.TransactionTypes {
		oneOf("transaction_types", t, types...)
	}
	for _, t := range f.SourceTypes {
		oneOf("source_types", t, "wallet", "exchange", "bank", "card", "other")
	}
	maxItems := func(field string, list []string, n int) {
		if len(list) > n {
			faults.Addf(field, "must have at most %d items", n)
		}
	}
	maxItems("transaction_ids", f.TransactionIDs, IDsMax)
	maxItems("exclude_transaction_ids", f.ExcludeTransactionIDs, IDsMax)
	maxItems("sequence_numbers", f.SequenceNumbers, numbersMax)
	maxItems("addresses", f.Addresses, addressesMax)
	for _, n := range f.SequenceNumbers {
		number, err := ParseNumber(n)
		switch {
		case !numberRe.MatchString(n):
			faults.Addf("sequence_numbers", "must be numbers such as OT-17")
		case err == nil: // a number too large to exist matches nothing
			q.numbers = append(q.numbers, number)
		}
		if q.numbers == nil {
			q.numbers = []int64{}
		}
	}
	validateText(&faults, "search", f.Search, searchMax)
	q.price = f.bounds(&faults, "gross_price", f.GrossPriceMin, f.GrossPriceMax)
	q.amount = f.bounds(&faults, "gross_amount", f.GrossAmountMin, f.GrossAmountMax)
	q.first, q.last = page.ParseTimeBound(&faults, "start_date", f.StartDate, false), page.ParseTimeBound(&faults, "end_date", f.EndDate, true)
	if !q.first.IsZero() && !q.last.IsZero() && q.first.After(q.last) {
		faults.Addf("start_date", "must not be after end_date")
	}
	q.since = page.ParseTimeBound(&faults, "updated_since", f.UpdatedSince, false)
	f.validateCombinations(&faults)
	q.ids, q.excluded, q.types, q.assets, q.direction =
		f.TransactionIDs, f.ExcludeTransactionIDs, f.TransactionTypes, f.AssetTypes, f.Direction
	q.chains, q.search = lower(f.Chains), strings.ToLower(f.Search)
	q.status, q.visibilities = f.visibilities()
	return q, faults.Err()
}

// validateCombinations collects fields that contradict each other.
func (f Filter) validateCombinations(faults *fault.List) {
	if len(f.TransactionIDs) > 0 {
		if f.HasPostedJournalEntry != nil {
			faults.Addf("has_posted_journal_entry", "cannot be combined with transaction_ids")
		}
		if f.Status == string(Posted) || f.Status == string(Pending) {
			faults.Addf("status", "%s cannot be combined with transaction_ids", f.Status)
		}
	}
	if len(f.SequenceNumbers) > 0 && f.HasPostedJournalEntry != nil && !*f.HasPostedJournalEntry {
		faults.Addf("has_posted_journal_entry", "false cannot be combined with sequence_numbers")
	}
}

// visibilities returns the visibilities to read, and the status to look for among listed transactions. A transaction has a posted
// entry exactly while its status is posted.
func (f Filter) visibilities() (status string, visibilities []int64) {
	has := f.HasPostedJournalEntry
	switch {
	case f.Status == string(Spam) && has != nil && *has, f.Status == string(Pending) && has != nil && *has,
		f.Status == string(Posted) && has != nil && !*has:
		return "", []int64{}
	case f.Status == string(Spam):
		return "", []int64{spammed}
	case f.Status != "":
		return f.Status, []int64{listed}
	case has != nil && *has:
		return string(Posted), []int64{listed}
	case has != nil && f.IncludeSpam:
		return string(Pending), []int64{listed, spammed}
	case has != nil:
		return string(Pending), []int64{listed}
	case f.IncludeSpam:
		return "", []int64{listed, spammed}
	}
	return "", []int64{listed}
}

func (f Filter) bounds(faults *fault.List, field, low, high string) (b bounds) {
	key := func(field, text string) string {
		if text == "" {
			return ""
		}
		d, err := money.Parse(text)
		if err != nil || !amountRe.MatchString(text) {
			faults.Addf(field, "must be a decimal number without sign, such as 1200.50")
			return ""
		}
		return d.SortKey()
	}
	b = bounds{key(field+"_min", low), key(field+"_max", high)}
	if b.low != "" && b.high != "" && b.low > b.high {
		faults.Addf(field+"_min", "must not be more than %s_max", field)
	}
	return b
}

func lower(list []string) (out []string) {
	for _, s := range list {
		out = append(out, strings.ToLower(s))
	}
	return out
}

// resolve finds the records that a filter names: sources by class, type, account, legal entity and address, and the
// categories that contain a text. A named record that does not exist is an error, because an empty list would read as if
// nothing had happened.
func (f Filter) resolve(ctx context.Context, tx *db.Tx, q *query) error {
	who := actor.From(ctx)
	// With addresses, account_ids name further transactions: those that touch an address or belong to one of the accounts.
	either := len(f.Addresses) > 0 && len(f.AccountIDs) > 0
	narrow := f.SourceClass != "" || len(f.SourceTypes)+len(f.LegalEntityIDs) > 0 || f.SourceID != "" || len(who.LegalEntityIDs) > 0 ||
		len(f.AccountIDs) > 0 && !either
	if narrow || len(f.Addresses) > 0 {
		all, err := source.AllUnchecked(ctx, tx)
		if err != nil {
			return err
		}
		if err := f.requireKnown(ctx, tx, all); err != nil {
			return err
		}
		q.addresses = []string{}
		for _, a := range f.Addresses {
			q.addresses = append(q.addresses, source.AddressKey(a))
		}
		q.sources = []string{}
		for _, s := range all {
			named := len(f.AccountIDs) == 0 || slices.Contains(f.AccountIDs, s.ID) || slices.Contains(f.AccountIDs, s.AccountID)
			if f.acceptsSource(s) && (named || either) && who.Sees(s.LegalEntityID) {
				q.sources = append(q.sources, s.ID)
			}
			if either && named || s.Address != "" && slices.Contains(q.addresses, source.AddressKey(s.Address)) {
				q.owners = append(q.owners, s.ID)
			}
		}
		if !narrow {
			q.sources = nil
		}
		if len(f.Addresses) == 0 {
			q.addresses = nil
		}
	}
	if trigrams := db.Trigrams(tx.DB().Engine(), q.search); len(trigrams) > 0 {
		texts, err := selectTexts(ctx, tx, sampleMax)
		if err != nil {
			return err
		}
		q.trigrams = rarest(trigrams, texts)
	}
	if len(f.ProviderCategory) > 0 {
		keys, err := selectCategories(ctx, tx)
		if err != nil {
			return err
		}
		q.categories = []string{}
		for _, k := range keys {
			if slices.ContainsFunc(f.ProviderCategory, func(text string) bool { return categoryMatches(k, text) }) {
				q.categories = append(q.categories, k)
			}
		}
	}
	return nil
}

const (
	// sampleMax is how many texts are read to estimate which trigrams are rare.
	sampleMax = 200
	// trigramsMax is how many trigrams the index is searched by: more would only take longer.
	trigramsMax = 4
)

// rarest returns the trigrams that occur in the fewest of some texts; among equals, those far apart.
func rarest(trigrams, texts []string) []string {
	times := make(map[string]int, len(trigrams))
	for i, t := range trigrams {
		for _, text := range texts {
			if strings.Contains(text, t) {
				times[t] += len(trigrams)
			}
		}
		times[t] += i * 7919 % len(trigrams) // spreads equally rare ones over the text
	}
	slices.SortStableFunc(trigrams, func(a, b string) int { return times[a] - times[b] })
	return trigrams[:min(len(trigrams), trigramsMax)]
}

// requireKnown returns an error for sources and legal entities that do not exist.
func (f Filter) requireKnown(ctx context.Context, tx *db.Tx, all []source.Source) error {
	who := actor.From(ctx)
	named := func(id string) bool {
		return slices.ContainsFunc(all, func(s source.Source) bool { return (s.ID == id || s.AccountID == id) && who.Sees(s.LegalEntityID) })
	}
	var faults fault.List
	if f.SourceID != "" && !named(f.SourceID) {
		faults.AddMissing("source", "source_id")
	}
	if slices.ContainsFunc(f.AccountIDs, func(id string) bool { return !named(id) }) {
		faults.AddMissing("source", "account_ids")
	}
	if len(f.LegalEntityIDs) == 0 {
		return faults.Err()
	}
	existing, err := entity.ExistingIDs(ctx, tx, f.LegalEntityIDs)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(f.LegalEntityIDs, func(id string) bool { return !slices.Contains(existing, id) || !who.Sees(id) }) {
		faults.AddMissing("legal entity", "legal_entity_ids")
	}
	return faults.Err()
}

// acceptsSource reports whether a source satisfies the conditions of the filter on sources, except account_ids.
func (f Filter) acceptsSource(s source.Source) bool {
	return (f.SourceClass == "" || f.SourceClass == string(s.Type.Class())) &&
		(len(f.SourceTypes) == 0 || slices.Contains(f.SourceTypes, string(s.Type))) &&
		(len(f.LegalEntityIDs) == 0 || slices.Contains(f.LegalEntityIDs, s.LegalEntityID)) &&
		(f.SourceID == "" || f.SourceID == s.ID || f.SourceID == s.AccountID)
}

// categoryMatches reports whether a category contains every label of a text. Labels are separated by semicolons.
func categoryMatches(key, text string) bool {
	for label := range strings.SplitSeq(text, ";") {
		if !strings.Contains(key, strings.ToLower(strings.TrimSpace(label))) {
			return false
		}
	}
	return true
}
