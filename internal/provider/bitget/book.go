package bitget

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"strconv"
	"time"

	"github.com/bursarhq/bursar/internal/provider"
)

const (
	// pageSize is how many records Bitget returns at a time at most.
	pageSize = 500
	// pagesMax is how many pages of a section are read for one range of time. If there are more, the range is made shorter.
	pagesMax = 20
	// day is a day in milliseconds.
	day = int64(24 * time.Hour / time.Millisecond)
)

// book is where Bitget keeps the records of a kind of account.
type book struct {
	unified  bool
	path     string
	before   string    // the parameter for the id that a page lies before
	window   int64     // how many milliseconds a request may cover
	depth    int64     // how many milliseconds the records reach back, and zero if that is not known
	sections []section // each is read with requests of its own
}

// section is a part of a book.
type section struct {
	name  string
	query url.Values
}

var (
	classic = book{path: "/api/v2/tax/spot-record", before: "idLessThan", window: 30 * day, sections: []section{{}}}
	unified = book{unified: true, path: "/api/v3/tax/records", before: "cursor", window: 7 * day, depth: 365 * day, sections: []section{
		{"SPOT", url.Values{"bizType": {"SPOT"}}},
		{"MARGIN", url.Values{"bizType": {"MARGIN"}, "marginType": {"crossed"}}},
		{"ISOLATED", url.Values{"bizType": {"MARGIN"}, "marginType": {"isolated"}}},
		{"USDT-FUTURES", url.Values{"bizType": {"USDT-FUTURES"}}},
		{"COIN-FUTURES", url.Values{"bizType": {"COIN-FUTURES"}}},
		{"USDC-FUTURES", url.Values{"bizType": {"USDC-FUTURES"}}},
		{"OTHER", url.Values{"bizType": {"OTHER"}}},
	}}
)

// bookOf returns the book of a kind of account.
func bookOf(isUnified bool) book {
	if isUnified {
		return unified
	}
	return classic
}

var errStuck = errors.New("a page of records leads to no other")

// records returns the records of a section in a range of time, and whether these are all. It reads some pages at most, and any number if
// that is zero.
func (b book) records(ctx context.Context, s *provider.Session, of section, from, until int64, pages int) ([]json.RawMessage, bool, error) {
	query := url.Values{"startTime": {strconv.FormatInt(from, 10)}, "endTime": {strconv.FormatInt(until, 10)},
		"limit": {strconv.Itoa(pageSize)}}
	maps.Copy(query, of.query)
	var all []json.RawMessage
	seen := map[string]bool{}
	for n := 1; ; n++ {
		var page []json.RawMessage
		if err := get(ctx, s, b.path, query, &page); err != nil {
			return nil, false, err
		}
		all = append(all, page...)
		if len(page) < pageSize {
			return all, true, nil
		}
		last := ""
		for _, original := range page {
			if e, err := parse(original); err == nil {
				last = e.id
			}
		}
		if last == "" || seen[last] {
			return nil, false, provider.Nonsense(title, errStuck)
		}
		if n == pages {
			return all, false, nil
		}
		seen[last] = true
		query.Set(b.before, last)
	}
}

// found is a record with the section that it is in.
type found struct {
	section  string
	original json.RawMessage
}

// read returns the records of all sections in a range of time, and whether these are all.
func (b book) read(ctx context.Context, s *provider.Session, from, until int64, pages int) (out []found, complete bool, err error) {
	for _, of := range b.sections {
		records, all, err := b.records(ctx, s, of, from, until, pages)
		if err != nil || !all {
			return nil, false, err
		}
		for _, original := range records {
			out = append(out, found{of.name, original})
		}
	}
	return out, true, nil
}
