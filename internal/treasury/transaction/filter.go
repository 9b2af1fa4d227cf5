package transaction

import (
	"context"
	"regexp"
	"slices"
	"strconv"
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

// Filter narrows a list of transactions; what is empty does not. Names on the wire are those of GET /v1/transactions.
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
	// IDsMax is how many ids a filter may name.
	IDsMax = 1000
	// NumbersMax is how many sequence numbers a filter may name.
	NumbersMax = 100
	// AddressesMax is how many addresses a filter may name.
	AddressesMax = 100
	// SearchMax is how many characters a search may have.
	SearchMax = 200
)

var (
	amountRe = regexp.MustCompile(`^[0-9]+(?:\.[0-9]+)?$`)
	numberRe = regexp.MustCompile(`^OT-\d+$`)
)

// wanted is a filter as the database sees it: everything resolved. A nil list does not narrow; an empty one lets nothing through.
type wanted struct {
	visibilities []int64
	status       string // of those that are listed; spam has but one
	ids          []string
	excluded     []string
	numbers      []int64
	sources      []string // those that all of class, type, account, entity and the key leave
	types        []string
	assets       []string
	chains       []string
	categories   []string // keys
	addresses    []string // keys
	owners       []string // sources that have one of the addresses
	kept         *keptSources
	direction    string
	search       string
	rare         []string // the letters to look the search up by
	price        bounds
	amount       bounds
	first, last  time.Time
	since        time.Time
	upTo         int64 // the last number that is wanted; 0 does not narrow
}

// bounds are sort keys, both included.
type bounds struct{ low, high string }

// validate finds every fault of a filter in itself, and every combination that is not allowed.
func (f Filter) validate() (w wanted, err error) {
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
		oneOf("transaction_types", t, Types...)
	}
	for _, t := range f.SourceTypes {
		oneOf("source_types", t, "wallet", "exchange", "bank", "card", "other")
	}
	most := func(field string, list []string, n int) {
		if len(list) > n {
			faults.Addf(field, "must have at most %d items", n)
		}
	}
	most("transaction_ids", f.TransactionIDs, IDsMax)
	most("exclude_transaction_ids", f.ExcludeTransactionIDs, IDsMax)
	most("sequence_numbers", f.SequenceNumbers, NumbersMax)
	most("addresses", f.Addresses, AddressesMax)
	for _, n := range f.SequenceNumbers {
		number, err := strconv.ParseInt(strings.TrimPrefix(n, "OT-"), 10, 64)
		switch {
		case !numberRe.MatchString(n):
			faults.Addf("sequence_numbers", "must be numbers such as OT-17")
		case err == nil: // one that is too large for any is none
			w.numbers = append(w.numbers, number)
		}
		if w.numbers == nil {
			w.numbers = []int64{}
		}
	}
	validateText(&faults, "search", f.Search, SearchMax)
	w.price = f.bounds(&faults, "gross_price", f.GrossPriceMin, f.GrossPriceMax)
	w.amount = f.bounds(&faults, "gross_amount", f.GrossAmountMin, f.GrossAmountMax)
	w.first, w.last = page.Bound(&faults, "start_date", f.StartDate, false), page.Bound(&faults, "end_date", f.EndDate, true)
	if !w.first.IsZero() && !w.last.IsZero() && w.first.After(w.last) {
		faults.Addf("start_date", "must not be after end_date")
	}
	w.since = page.Bound(&faults, "updated_since", f.UpdatedSince, false)
	f.combinations(&faults)
	w.ids, w.excluded, w.types, w.assets, w.direction =
		f.TransactionIDs, f.ExcludeTransactionIDs, f.TransactionTypes, f.AssetTypes, f.Direction
	w.chains, w.search = lower(f.Chains), strings.ToLower(f.Search)
	w.status, w.visibilities = f.visibilities()
	return w, faults.Err()
}

// combinations refuses filters that contradict each other.
func (f Filter) combinations(faults *fault.List) {
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
	case f.Status == string(Spam) && has != nil && *has, f.Status == string(Pending) && has != nil &&
		*has, f.Status == string(Posted) && has != nil && !*has:
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

// resolve finds what a filter names: sources by class, type, account, legal entity and address, and the categories
// that hold a text. What is named and not there is refused: an empty answer would read as if nothing had happened.
func (f Filter) resolve(ctx context.Context, tx *db.Tx, w *wanted) error {
	who := actor.From(ctx)
	narrow := f.SourceClass != "" || len(f.SourceTypes)+len(f.AccountIDs)+len(f.LegalEntityIDs) > 0 || f.SourceID != "" ||
		len(who.LegalEntityIDs) > 0
	if narrow || len(f.Addresses) > 0 {
		all, err := source.All(ctx, tx)
		if err != nil {
			return err
		}
		if err := f.requireKnown(ctx, tx, all); err != nil {
			return err
		}
		w.addresses = []string{}
		for _, a := range f.Addresses {
			w.addresses = append(w.addresses, source.AddressKey(a))
		}
		w.sources = []string{}
		for _, s := range all {
			if f.acceptsSource(s) && who.Sees(s.LegalEntityID) {
				w.sources = append(w.sources, s.ID)
			}
			if s.Address != "" && slices.Contains(w.addresses, source.AddressKey(s.Address)) {
				w.owners = append(w.owners, s.ID)
			}
		}
		if !narrow {
			w.sources = nil
		}
		if len(f.Addresses) == 0 {
			w.addresses = nil
		}
	}
	if trigrams := db.Trigrams(tx.DB().Engine(), w.search); len(trigrams) > 0 {
		texts, err := selectTexts(ctx, tx, sampled)
		if err != nil {
			return err
		}
		w.rare = rarest(trigrams, texts)
	}
	if len(f.ProviderCategory) > 0 {
		keys, err := selectCategories(ctx, tx)
		if err != nil {
			return err
		}
		w.categories = []string{}
		for _, k := range keys {
			if slices.ContainsFunc(f.ProviderCategory, func(text string) bool { return categoryMatches(k, text) }) {
				w.categories = append(w.categories, k)
			}
		}
	}
	return nil
}

const (
	// sampled is how many texts are looked at to tell which letters are rare.
	sampled = 200
	// rareMax is how many of them a text is looked up by: more would only take longer to read.
	rareMax = 4
)

// rarest picks the trigrams that the fewest of some texts have, of equals those far apart.
func rarest(trigrams, texts []string) []string {
	times := make(map[string]int, len(trigrams))
	for i, t := range trigrams {
		for _, text := range texts {
			if strings.Contains(text, t) {
				times[t] += len(trigrams)
			}
		}
		times[t] += i * 7919 % len(trigrams) // scatters
	}
	slices.SortStableFunc(trigrams, func(a, b string) int { return times[a] - times[b] })
	return trigrams[:min(len(trigrams), rareMax)]
}

// requireKnown refuses sources and legal entities that are not there.
func (f Filter) requireKnown(ctx context.Context, tx *db.Tx, all []source.Source) error {
	who := actor.From(ctx)
	named := func(id string) bool {
		return slices.ContainsFunc(all, func(s source.Source) bool { return (s.ID == id || s.AccountID == id) && who.Sees(s.LegalEntityID) })
	}
	var missing []string
	if f.SourceID != "" && !named(f.SourceID) {
		missing = append(missing, "source_id")
	}
	if slices.ContainsFunc(f.AccountIDs, func(id string) bool { return !named(id) }) {
		missing = append(missing, "account_ids")
	}
	if len(missing) > 0 {
		return fault.MissingAt("source", missing...)
	}
	if len(f.LegalEntityIDs) == 0 {
		return nil
	}
	there, err := entity.Known(ctx, tx, f.LegalEntityIDs)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(f.LegalEntityIDs, func(id string) bool { return !slices.Contains(there, id) || !who.Sees(id) }) {
		return fault.MissingAt("legal entity", "legal_entity_ids")
	}
	return nil
}

// acceptsSource tells whether a source passes everything a filter says of sources.
func (f Filter) acceptsSource(s source.Source) bool {
	return (f.SourceClass == "" || f.SourceClass == string(s.Type.Class())) &&
		(len(f.SourceTypes) == 0 || slices.Contains(f.SourceTypes, string(s.Type))) &&
		(len(f.LegalEntityIDs) == 0 || slices.Contains(f.LegalEntityIDs, s.LegalEntityID)) &&
		(len(f.AccountIDs) == 0 || slices.Contains(f.AccountIDs, s.ID) || slices.Contains(f.AccountIDs, s.AccountID)) &&
		(f.SourceID == "" || f.SourceID == s.ID || f.SourceID == s.AccountID)
}

// categoryMatches tells whether a category holds every label of a text; labels are joined by semicolons.
func categoryMatches(key, text string) bool {
	for label := range strings.SplitSeq(text, ";") {
		if !strings.Contains(key, strings.ToLower(strings.TrimSpace(label))) {
			return false
		}
	}
	return true
}
