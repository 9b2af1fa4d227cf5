package kraken

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

const (
	// pageSize is how many entries Kraken returns at a time.
	pageSize = 50
	// pagesMax is how many of them become one page here.
	pagesMax = 10
	// overlap is by how much entries are read again, because Kraken may show one some time after the time that it states.
	overlap = 15 * 60
)

// span is a cursor: a range of time, in seconds, and how much of it is left to be read. Kraken returns the newest entries first; they are
// read from the end of its list to the beginning. New entries do not move the others, because the range has an end.
type span struct {
	From   int64 `json:"from,omitempty"`
	Until  int64 `json:"until,omitempty"`
	Count  int64 `json:"count,omitempty"`
	Left   int64 `json:"left,omitempty"`
	Newest int64 `json:"newest,omitempty"` // the time of the newest entry so far
}

// entry is an entry of the ledger.
type entry struct {
	RefID   string            `json:"refid"`
	Time    json.Number       `json:"time"`
	Type    string            `json:"type"`
	Subtype string            `json:"subtype"`
	Asset   string            `json:"asset"`
	Amount  *provider.Decimal `json:"amount"`
	Fee     *provider.Decimal `json:"fee"`
}

// Why an entry is left out.
var (
	errForm   = errors.New("it is not in the form of Kraken's ledger")
	errAsset  = errors.New("it has no asset")
	errAmount = errors.New("it does not state its amount and its fee")
)

// list is what Kraken returns.
type list struct {
	Ledger map[string]json.RawMessage `json:"ledger"`
	Count  int64                      `json:"count"`
}

// readPage returns the entries of a span from an offset on.
func readPage(ctx context.Context, s *provider.Session, in span, offset int64) (list, error) {
	form := url.Values{"type": {"all"}, "end": {strconv.FormatInt(in.Until, 10)}, "ofs": {strconv.FormatInt(offset, 10)}}
	if in.From > 0 {
		form.Set("start", strconv.FormatInt(in.From, 10))
	}
	var out list
	err := post(ctx, s, "Ledgers", ledgerCost, form, &out)
	return out, err
}

// Read returns the next entries of the ledger.
func (Connector) Read(ctx context.Context, s *provider.Session, _, cursor string) (out provider.Page, err error) {
	var at span
	if err := provider.ParseCursor(cursor, &at); err != nil {
		return out, err
	}
	if at.Left == 0 {
		at.Until = s.Now().Unix()
		first, err := readPage(ctx, s, at, 0)
		if err != nil {
			return out, err
		}
		if at.Count, at.Left = first.Count, first.Count; at.Left <= int64(len(first.Ledger)) {
			at.Left = 0
			add(&out, first.Ledger, &at)
			return finish(out, at), nil
		}
	}
	for range pagesMax {
		offset := max(at.Left-pageSize, 0)
		next, err := readPage(ctx, s, at, offset)
		if err != nil {
			return out, err
		}
		if next.Count != at.Count { // an entry was added within the range, so that the others have other offsets
			at.Left, out.More = 0, true
			break
		}
		add(&out, next.Ledger, &at)
		if at.Left = offset; offset == 0 {
			break
		}
	}
	return finish(out, at), nil
}

// parse returns an entry and its time, or why it is left out.
func parse(original json.RawMessage) (e entry, at time.Time, err error) {
	if json.Unmarshal(original, &e) != nil {
		return e, at, errForm
	}
	switch at, err = provider.UnixSeconds(e.Time.String()); {
	case err != nil:
	case intake.KrakenAsset(e.Asset) == "":
		err = errAsset
	case e.Amount == nil || e.Fee == nil: // what is not stated is not zero
		err = errAmount
	}
	return e, at, err
}

// add adds entries to a page.
func add(out *provider.Page, entries map[string]json.RawMessage, at *span) {
	for id, original := range entries {
		e, when, err := parse(original)
		if err != nil {
			out.Omitted = append(out.Omitted, provider.Omission{ID: id, Reason: err.Error(), Original: original})
			continue
		}
		at.Newest = max(at.Newest, when.Unix())
		if e.Asset == feeCredits {
			continue
		}
		records, _ := intake.KrakenEntry{ID: id, RefID: e.RefID, At: when, Type: e.Type, Subtype: e.Subtype, Asset: e.Asset,
			Amount: e.Amount.Decimal, Fee: e.Fee.Decimal}.Records()
		for _, r := range records {
			out.Records = append(out.Records, provider.Record{Record: r, Original: original})
		}
	}
}

// finish sorts a page and sets its cursor.
func finish(out provider.Page, at span) provider.Page {
	slices.SortFunc(out.Records, func(a, b provider.Record) int {
		return cmp.Or(a.Timestamp.Compare(b.Timestamp), cmp.Compare(a.ExternalID, b.ExternalID))
	})
	out.Records = slices.CompactFunc(out.Records, func(a, b provider.Record) bool { return a.ExternalID == b.ExternalID })
	if at.Left == 0 { // read on from the newest entry
		at = span{From: max(at.From, at.Newest-overlap)}
	} else {
		out.More = true
	}
	out.Cursor = provider.FormatCursor(at)
	return out
}
