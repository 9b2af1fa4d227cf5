package binance

import (
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"time"

	"github.com/bursarhq/bursar/internal/rules/intake"
)

const (
	day = 24 * time.Hour
	// anyLength is longer than any range of time.
	anyLength = 100 * 365 * day
)

// How a list continues if there are more rows than an answer has.
const (
	byOffset  = "offset"  // of the first row
	byPage    = "page"    // counted from 1
	byCurrent = "current" // the same
	byTime    = ""        // not at all, so that a shorter range of time has to be asked for
)

// source is a list of rows in ranges of time.
type source struct {
	name  string // in the cursor
	title string // for people
	path  string
	fixed string // parameters that are always the same
	cost  int

	since   time.Time     // there is nothing before
	longest time.Duration // of a range of time
	late    time.Duration // how long after its time a row may change from one that has moved nothing, or appear

	from, until string // the names of the parameters for the range of time
	limit       string // the name of the parameter for the number of rows
	size        int    // how many rows an answer has at most
	paged       string

	list    string // the name of the list in the answer; empty if that is the list itself
	records func(json.RawMessage) ([]intake.Record, error)
}

// query returns the parameters for a page of a range of time, in milliseconds since 1970.
func (s source) query(from, until int64, page int) string {
	q, err := url.ParseQuery(s.fixed)
	if err != nil {
		panic("binance: " + err.Error())
	}
	if s.from != "" {
		q.Set(s.from, strconv.FormatInt(from, 10))
		q.Set(s.until, strconv.FormatInt(until, 10))
	}
	if s.limit != "" {
		q.Set(s.limit, strconv.Itoa(s.size))
	}
	switch s.paged {
	case byOffset:
		q.Set(s.paged, strconv.Itoa(page*s.size))
	case byPage, byCurrent:
		q.Set(s.paged, strconv.Itoa(page+1))
	}
	return q.Encode()
}

var errList = errors.New("the answer has no list")

// rows returns the rows of an answer, and whether there are more.
func (s source) rows(answer json.RawMessage) (rows []json.RawMessage, more bool, err error) {
	if s.list != "" {
		var o map[string]json.RawMessage
		if err := json.Unmarshal(answer, &o); err != nil {
			return nil, false, err
		}
		if len(o) == 0 {
			return nil, false, errList
		}
		answer, more = o[s.list], string(o["moreData"]) == "true"
		if answer == nil { // Binance leaves out lists of fiat payments that are empty
			return nil, false, nil
		}
	}
	err = json.Unmarshal(answer, &rows)
	return rows, more || s.size > 0 && len(rows) >= s.size, err
}

const (
	// late is how long after its time a row of most lists may change, and earnLate one of Simple Earn.
	late     = 75 * day
	earnLate = 15 * day
	// convertLate is the same for conversions, which may wait for a price for up to 30 days.
	convertLate = 31 * day
	// patience is for how long a cursor stays as it is if nothing happens. Except for conversions, one request reads what is late and what
	// happens in this time.
	patience = 14 * day
)

// Costs of requests, in units of the limit of Binance for an address of the internet, which allows 6000 in a minute. Costs that Binance
// counts for an account, of which it allows 180,000 in a minute, are divided by 30; those of the limit of 12,000 by 2.
const (
	accountCost    = 20
	tradesCost     = 20
	pricesCost     = 4
	marketsCost    = 20
	withdrawalCost = 600
	fiatOrderCost  = 1500
	convertCost    = 100
	dividendCost   = 5
	earnCost       = 75
)

// sources are the lists of each ledger. Those of the spot ledger precede its trades, because they tell which markets to ask for.
var sources = map[string][]source{
	spot: {
		{name: "deposits", title: "deposits", path: "/sapi/v1/capital/deposit/hisrec", fixed: "includeSource=true", since: launch,
			longest: 89 * day, late: late, from: "startTime", until: "endTime", limit: "limit", size: 1000, paged: byOffset, records: deposit},
		{name: "withdrawals", title: "withdrawals", path: "/sapi/v1/capital/withdraw/history", cost: withdrawalCost, since: launch,
			longest: 89 * day, late: late, from: "startTime", until: "endTime", limit: "limit", size: 1000, paged: byOffset, records: withdrawal},
		fiatSource("fiat-deposits", "fiat deposits", "orders", "0", fiatOrderCost, fiatOrder(false)),
		fiatSource("fiat-withdrawals", "fiat withdrawals", "orders", "1", fiatOrderCost, fiatOrder(true)),
		fiatSource("purchases", "purchases for fiat money", "payments", "0", 1, payment(false)),
		fiatSource("sales", "sales for fiat money", "payments", "1", 1, payment(true)),
		{name: "conversions", title: "conversions", path: "/sapi/v1/convert/tradeFlow", cost: convertCost,
			since: time.Date(2019, 8, 1, 0, 0, 0, 0, time.UTC), longest: 29 * day, late: convertLate, from: "startTime", until: "endTime",
			limit: "limit", size: 1000, paged: byTime, list: "list", records: conversion},
		{name: "dust", title: "conversions of small amounts", path: "/sapi/v1/asset/dribblet", since: dustSince, longest: anyLength,
			late: late, list: "userAssetDribblets", records: dust},
		{name: "dividends", title: "payouts", path: "/sapi/v1/asset/assetDividend", cost: dividendCost, since: launch, longest: 179 * day,
			late: late, from: "startTime", until: "endTime", limit: "limit", size: 500, paged: byTime, list: "rows", records: payout},
	},
	earn: {
		earnSource("flexible-subscriptions", "/flexible/history/subscriptionRecord", "", subscription("flexible")),
		earnSource("flexible-redemptions", "/flexible/history/redemptionRecord", "", redemption("flexible")),
		earnSource("flexible-rewards", "/flexible/history/rewardsRecord", "type="+kindRealTime, realTime),
		earnSource("locked-subscriptions", "/locked/history/subscriptionRecord", "", subscription("locked")),
		earnSource("locked-redemptions", "/locked/history/redemptionRecord", "", redemption("locked")),
	},
	transfers: transferSources(),
}

// fiatSource returns a list of fiat orders or payments of one type. Binance documents no longest range of time.
func fiatSource(name, title, path, kind string, cost int, records func(json.RawMessage) ([]intake.Record, error)) source {
	return source{name: name, title: title, path: "/sapi/v1/fiat/" + path, fixed: "transactionType=" + kind, cost: cost, since: launch,
		longest: anyLength, late: late, from: "beginTime", until: "endTime", limit: "rows", size: 500, paged: byPage, list: "data",
		records: records}
}

// earnSince is when Simple Earn began.
var earnSince = time.Date(2022, 1, 1, 0, 0, 0, 0, time.UTC)

// earnSource returns a list of Simple Earn.
func earnSource(name, path, fixed string, records func(json.RawMessage) ([]intake.Record, error)) source {
	return source{name: name, title: "Simple Earn " + name, path: "/sapi/v1/simple-earn" + path, fixed: fixed, cost: earnCost,
		since: earnSince, longest: 29 * day, late: earnLate, from: "startTime", until: "endTime", limit: "size", size: 100, paged: byCurrent,
		list: "rows", records: records}
}

// transfersShown is how far back Binance shows transfers between wallets: six months, of which some are shorter.
const transfersShown = 180 * day

// transferSources returns the lists of transfers between a wallet that is read here and one that is not, each in both directions.
func transferSources() (all []source) {
	for _, here := range []string{"MAIN", "FUNDING"} {
		for _, other := range []string{"MARGIN", "UMFUTURE", "CMFUTURE", "OPTION", "PORTFOLIO_MARGIN"} {
			if here == "FUNDING" && other == "PORTFOLIO_MARGIN" {
				continue // there is no such transfer
			}
			all = append(all, transferSource(here+"_"+other, true), transferSource(other+"_"+here, false))
		}
	}
	return all
}

// transferSource returns the list of transfers of one type.
func transferSource(kind string, out bool) source {
	return source{name: kind, title: "transfers of the type " + kind, path: "/sapi/v1/asset/transfer", fixed: "type=" + kind, since: launch,
		longest: anyLength, late: late, from: "startTime", until: "endTime", limit: "size", size: 100, paged: byCurrent, list: "rows",
		records: transfer(kind, out)}
}
