package binance

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

const (
	// requestsMax and recordsMax bound a page. It may have the records of one more request.
	requestsMax = 5
	recordsMax  = 2000
	// dustMax is how many conversions of small amounts Binance shows.
	dustMax = 100
)

// dustSince is since when Binance shows conversions of small amounts.
var dustSince = time.Date(2020, 12, 1, 0, 0, 0, 0, time.UTC)

// position is a cursor. Times are in milliseconds since 1970.
type position struct {
	From   map[string]int64 `json:"from,omitempty"`   // from when on each list is read
	Trades map[string]int64 `json:"trades,omitempty"` // from which trade on each market is read
	Assets []string         `json:"assets,omitempty"` // that were in any list
	Told   []string         `json:"told,omitempty"`   // lists that Binance refuses to show, which was reported

	// What follows is the synchronization in progress. Its lists end at a time, so that new rows do not move others.
	Until   int64         `json:"until,omitempty"`
	Step    int           `json:"step,omitempty"`  // the list that is being read
	Start   int64         `json:"start,omitempty"` // the range of time that is being read
	End     int64         `json:"end,omitempty"`
	Longest time.Duration `json:"longest,omitempty"` // of ranges, if Binance has refused a longer one
	Page    int           `json:"page,omitempty"`
	Markets []market      `json:"markets,omitempty"` // that are left to be read
	Listed  bool          `json:"listed,omitempty"`
	Next    int64         `json:"next,omitempty"` // the trade at which the next page of the first market begins
}

// reader reads a page.
type reader struct {
	ctx     context.Context
	session *provider.Session
	ledger  string
	at      *position
	out     provider.Page
}

// Read returns the next rows of the lists of a ledger, one list after the other.
func (Connector) Read(ctx context.Context, s *provider.Session, ledger, cursor string) (provider.Page, error) {
	at := position{}
	if err := provider.ParseCursor(cursor, &at); err != nil {
		return provider.Page{}, err
	}
	if at.From == nil {
		at.From = map[string]int64{}
	}
	if at.Trades == nil {
		at.Trades = map[string]int64{}
	}
	r := reader{ctx: ctx, session: s, ledger: ledger, at: &at}
	if at.Until == 0 {
		if begins, err := r.begin(); err != nil || !begins {
			return provider.Page{}, err
		}
	}
	done := false
	for n := 0; n < requestsMax && len(r.out.Records) < recordsMax && !done; n++ {
		var err error
		if done, err = r.step(); err != nil {
			return provider.Page{}, err
		}
	}
	return r.finish(!done), nil
}

// begin begins a synchronization. It reports whether there is anything to read.
func (r *reader) begin() (bool, error) {
	now := r.session.Now()
	r.at.Until = now.UnixMilli()
	if r.ledger != transfers {
		return true, nil
	}
	var wallets map[string]json.RawMessage
	if err := get(r.ctx, r.session, request{path: "/sapi/v1/account/info", signed: true}, &wallets); err != nil {
		return false, err
	}
	others := allows(wallets, "isMarginEnabled", "isFutureEnabled", "isOptionsEnabled", "isPortfolioMarginRetailEnabled")
	if others && len(r.at.From) == 0 {
		r.gap(launch, now.Add(-transfersShown), "Binance shows transfers between the spot or funding wallet and those for margin, futures and "+
			"options for six months only")
	}
	return others, nil
}

// step sends one request, or a few to find the markets, and reports whether the synchronization is done.
func (r *reader) step() (done bool, err error) {
	all := sources[r.ledger]
	if r.at.Step < len(all) {
		err = r.readRange(all[r.at.Step])
		return err == nil && r.at.Step == len(all) && r.ledger != spot, err
	}
	if r.ledger != spot {
		return true, nil
	}
	return r.readTrades()
}

// readRange reads a page of a range of time of a list.
func (r *reader) readRange(s source) error {
	at := r.at
	if at.Start == 0 {
		at.Start = max(at.From[s.name], s.since.UnixMilli())
		if r.ledger == transfers {
			at.Start = max(at.Start, at.Until-transfersShown.Milliseconds())
		}
	}
	longest := cmp.Or(at.Longest, s.longest)
	if at.End == 0 {
		at.End = min(at.Start+longest.Milliseconds(), at.Until)
	}
	var answer json.RawMessage
	err := get(r.ctx, r.session, request{path: s.path, query: s.query(at.Start, at.End, at.Page), signed: true, cost: s.cost}, &answer)
	width := time.Duration(at.End-at.Start) * time.Millisecond
	switch {
	case errors.Is(err, errRange) && width > day:
		at.Longest, at.End = width/2, 0
		return nil
	case errors.Is(err, errRange), errors.As(err, &refusedError{}):
		r.refused(s, err)
		return nil
	case err != nil:
		return err
	}
	rows, more, err := s.rows(answer)
	if err != nil {
		return provider.Nonsense(title, err)
	}
	if more && s.paged == byTime && width > time.Millisecond {
		at.End = at.Start + (at.End-at.Start)/2
		return nil
	}
	oldest := time.UnixMilli(at.Until).UTC()
	for _, row := range rows {
		records, err := s.records(row)
		r.add(s.name, row, records, err)
		if len(records) > 0 && records[0].Timestamp.Before(oldest) {
			oldest = records[0].Timestamp
		}
	}
	switch {
	case more && s.paged != byTime:
		at.Page++
		return nil
	case more:
		r.gap(time.UnixMilli(at.Start).UTC(), time.UnixMilli(at.End).UTC(), "Binance shows no more than a part of the "+s.title)
	case s.name == "dust" && len(rows) >= dustMax && at.From[s.name] == 0:
		r.gap(launch, oldest, "Binance shows the last 100 conversions of small amounts only")
	}
	if at.Start, at.End, at.Page = at.End, 0, 0; at.Start >= at.Until {
		r.finishSource(s)
	}
	return nil
}

// finishSource goes on to the next list. The next synchronization reads a list again from where it began this time, because rows may change
// for a while, unless that was long ago.
func (r *reader) finishSource(s source) {
	at := r.at
	if span := time.Duration(at.Until-at.From[s.name]) * time.Millisecond; span > s.late+patience {
		at.From[s.name] = at.Until - s.late.Milliseconds()
	}
	at.Told = slices.DeleteFunc(at.Told, func(name string) bool { return name == s.name })
	at.Step, at.Start, at.End, at.Page, at.Longest = at.Step+1, 0, 0, 0, 0
}

// refused goes on to the next list after Binance has refused one, such as for an account of a country in which it offers no such product.
// The next synchronization asks again.
func (r *reader) refused(s source, err error) {
	if at := r.at; !slices.Contains(at.Told, s.name) {
		r.gap(time.UnixMilli(at.Start).UTC(), time.UnixMilli(at.Until).UTC(), "Binance does not show the "+s.title+": "+err.Error())
		at.Told = append(at.Told, s.name)
	}
	r.at.Step, r.at.Start, r.at.End, r.at.Page, r.at.Longest = r.at.Step+1, 0, 0, 0, 0
}

func (r *reader) gap(from, through time.Time, reason string) {
	r.out.Gaps = append(r.out.Gaps, provider.Gap{From: from, Through: through, Reason: reason})
}

// add adds the records of a row to the page.
func (r *reader) add(list string, original json.RawMessage, records []intake.Record, err error) {
	if errors.Is(err, errIdle) {
		return
	}
	if err != nil {
		sum := sha256.Sum256(original)
		r.out.Omitted = append(r.out.Omitted, provider.Omission{ID: list + ":" + hex.EncodeToString(sum[:8]),
			Reason: provider.Clean(err.Error()), Original: original})
		return
	}
	for _, one := range records {
		r.out.Records = append(r.out.Records, provider.Record{Record: one, Original: original})
		if at, known := slices.BinarySearch(r.at.Assets, one.Currency); !known && r.ledger == spot {
			r.at.Assets = slices.Insert(r.at.Assets, at, one.Currency)
		}
	}
}

// finish sorts the page and sets its cursor.
func (r *reader) finish(more bool) provider.Page {
	slices.SortFunc(r.out.Records, func(a, b provider.Record) int {
		return cmp.Or(a.Timestamp.Compare(b.Timestamp), cmp.Compare(a.ExternalID, b.ExternalID))
	})
	r.out.Records = slices.CompactFunc(r.out.Records, func(a, b provider.Record) bool { return a.ExternalID == b.ExternalID })
	if !more {
		*r.at = position{From: r.at.From, Trades: r.at.Trades, Assets: r.at.Assets, Told: r.at.Told}
	}
	r.out.More, r.out.Cursor = more, provider.FormatCursor(r.at)
	return r.out
}
