package demo

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/app/demo/activity"
	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/posting"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
	"github.com/bursarhq/bursar/internal/treasury/transfers"
)

// treatment is how a transaction is booked: its type and the account on its other side, by code or role. A pair has none.
type treatment struct {
	kind   posting.Type
	target string
	tags   []string
}

// byCategory is the treatment of transactions by the category that the source gave.
var byCategory = map[string]treatment{
	"payroll": {kind: posting.Bill, target: "2040"}, "taxes": {kind: posting.Bill, target: "2040"},
	"hosting": {kind: posting.Bill, target: "2010", tags: []string{"Cloudhost"}}, "equipment": {kind: posting.Bill, target: "2010",
		tags: []string{"Engineering"}},
	"rent": {kind: posting.Expense, target: "6080"}, "utilities": {kind: posting.Expense,
		target: "6080"}, "facilities": {kind: posting.Expense, target: "6080"},
	"insurance": {kind: posting.Expense, target: "6900"}, "recruiting": {kind: posting.Expense,
		target: "6900"}, "legal": {kind: posting.Expense, target: "6040"},
	"accounting": {kind: posting.Expense, target: "6050"}, "software": {kind: posting.Expense, target: "6030", tags: []string{"Engineering"}},
	"contractor": {kind: posting.Expense, target: "6020", tags: []string{"Engineering"}}, "contractors": {kind: posting.Expense,
		target: "6020", tags: []string{"Engineering"}},
	"grant": {kind: posting.Expense, target: grants}, "bank_fee": {kind: posting.TypeFee}, "network_fee": {kind: posting.TypeFee},
	"wire": {kind: posting.Invoice, target: "1310"}, "receive": {kind: posting.Invoice, target: "1310"},
	"transfer_in": {kind: posting.Income, target: "4010", tags: []string{"Sales"}}, "charge": {kind: posting.Income, target: "4010",
		tags: []string{"Sales"}},
	"refund": {kind: posting.Refund, target: "4080"}, "chargeback": {kind: posting.Chargeback,
		target: "4090"}, "interest": {kind: posting.Income, target: "4540"},
	"staking_reward": {kind: posting.StakingReward, target: "4020",
		tags: []string{"Validators"}}, "claim_reward": {kind: posting.ClaimReward, target: "4040"},
	"sale":  {kind: posting.Withdrawal, target: "1010"}, // to a bank account, which makes it a sale
	"bonus": {kind: posting.Income, target: "4590"}, "nft": {kind: posting.Income, target: "4590"},
}

// byVendor overrides the category for some vendors.
var byVendor = map[string]treatment{
	"Founders": {kind: posting.Deposit, target: "3010"}, "Grayson Audit": {kind: posting.Bill,
		target: "2020"}, "Tidewater Lending": {kind: posting.Borrow, target: "2220"},
}

// byMerchant is the account of card purchases, by the category of the merchant.
var byMerchant = map[string]string{
	"Software": "6030", "Airlines": "6070", "Lodging": "6070", "Taxi and rides": "6070", "Railways": "6070", "Parking": "6070",
	"Advertising": "6060", "Office supplies": "6080", "Printing": "6080",
	"Groceries": "6080", "Restaurants": "6900", "Electronics": "6900", "Education": "6900",
}

// byGroup is the type of two linked transactions, by the first part of their group.
var byGroup = map[string]posting.Type{
	"wire": posting.Internal, "withdrawal": posting.Internal, "deposit": posting.Internal, "bridge": posting.Bridge,
	"wrap": posting.Conversion, "nft": posting.NFT, "sale": posting.NFT,
	"coinbase": posting.Swap, "kraken": posting.Swap,
}

// capital is the group of the capital that the parent paid to its subsidiary: an outflow in dollars and an inflow in euros, which are
// not linked. It is an investment of the parent and equity of the subsidiary, and is not owed.
const capital = "capital"

// treatmentOf returns how a transaction is booked. Of a pair, the outflow is booked.
func (c *company) treatmentOf(x activity.Transaction) treatment {
	group, _, _ := strings.Cut(x.Truth.TransferGroup, "-")
	switch {
	case group == capital && x.Direction == activity.Debit:
		return treatment{kind: posting.Withdrawal, target: investments}
	case group == capital:
		return treatment{kind: posting.Deposit, target: "3010"}
	case group != "":
		return treatment{kind: byGroup[group]}
	case x.Card != nil && x.Direction == activity.Credit:
		return treatment{kind: posting.Refund, target: byMerchant[x.Card.Category]}
	case x.Card != nil:
		return treatment{kind: posting.Expense, target: byMerchant[x.Card.Category]}
	}
	if t, known := byVendor[x.Vendor]; known {
		if t.kind == posting.Borrow && x.Direction == activity.Debit {
			t.kind = posting.Repayment
		}
		return t
	}
	return byCategory[x.Category]
}

// supplied are the types whose counterparty is a supplier.
var supplied = map[posting.Type]bool{posting.Bill: true, posting.Expense: true}

// paramsFor returns the booking of the n-th transaction.
func (c *company) paramsFor(n int) booking.Params {
	x := c.activity.Transactions[n]
	t := c.treatmentOf(x)
	p := booking.Params{TransactionID: c.transactions[n], Type: string(t.kind), LedgerAccountID: c.accounts[t.target],
		Memo: &x.Description, AutoPost: true}
	if t.kind == posting.Internal &&
		c.activity.Sources[x.Source].Entity != c.activity.Sources[c.activity.Transactions[c.partners[n]].Source].Entity {
		p.Type = string(posting.Intercompany)
	}
	if len(t.tags) > 0 {
		var tags []string
		for _, name := range t.tags {
			tags = append(tags, c.tags[name])
		}
		p.TagIDs = &tags
	}
	if supplied[t.kind] && x.Bank != nil {
		p.VendorName = x.Vendor
	}
	if x.Category == sharedCost && n == slices.IndexFunc(c.activity.Transactions, func(x activity.Transaction) bool {
		return x.Category == sharedCost
	}) {
		p.LedgerAccountID, p.Splits = "", []booking.Split{
			{LedgerAccountID: c.accounts[t.target], Percent: "65", Memo: "Desks of Engineering", TagIDs: []string{c.tags["Engineering"]}},
			{LedgerAccountID: c.accounts[t.target], Percent: "35", Memo: "Desks of Sales", TagIDs: []string{c.tags["Sales"]}},
		}
	}
	return p
}

// sharedCost is the category of costs of which the first is split between two departments.
const sharedCost = "rent"

// pair finds the partner of each transaction that has one, and links the pairs that the matcher could not.
func (c *company) pair(ctx context.Context) error {
	c.partners = map[int]int{}
	first, ids := map[string]int{}, []string{}
	for n, x := range c.activity.Transactions {
		group := x.Truth.TransferGroup
		if group == "" || strings.HasPrefix(group, capital) {
			continue
		}
		ids = append(ids, c.transactions[n])
		if other, known := first[group]; known {
			c.partners[n], c.partners[other] = other, n
		}
		first[group] = n
	}
	linked := map[string]bool{}
	err := c.app.DB.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		found, err := transaction.FindSomeUnchecked(ctx, tx, ids)
		for _, t := range found {
			linked[t.ID] = t.GroupID != ""
		}
		return err
	})
	if err != nil {
		return err
	}
	for n, x := range c.activity.Transactions {
		if other, paired := c.partners[n]; paired && x.Direction == activity.Debit && !linked[c.transactions[n]] {
			if _, err := c.app.Transfers.Link(ctx, transfers.LinkParams{TransactionIDs: []string{c.transactions[n],
				c.transactions[other]}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// bookingMax is how many transactions are booked at once.
const bookingMax = 1000

// book books all transactions except spam and late ones, in chronological order. Those of the last days stay pending, some of them
// with drafts.
func (c *company) book(ctx context.Context) error {
	var all []booking.Params
	count := 0
	for n, x := range c.activity.Transactions {
		if _, paired := c.partners[n]; x.Truth.Spam || x.Truth.Late || paired && x.Direction == activity.Credit {
			continue
		}
		p := c.paramsFor(n)
		if c.waits(x) {
			if count++; count%draftEvery != 0 {
				continue
			}
			p.AutoPost = false
		}
		all = append(all, p)
	}
	for len(all) > 0 {
		n := min(len(all), bookingMax)
		if _, err := c.create(ctx, all[:n]); err != nil {
			return err
		}
		all = all[n:]
		c.progress("  %d left", len(all))
	}
	return nil
}

// Transactions that wait for review: those of the last days, of which every fourth has a draft.
const (
	waitingDays = 5
	draftEvery  = 4
)

// waits reports whether a transaction waits for review.
func (c *company) waits(x activity.Transaction) bool {
	return !x.At.Before(c.month(months).Start(time.UTC).AddDate(0, 0, -waitingDays))
}

func (c *company) create(ctx context.Context, all []booking.Params) ([]booking.Booked, error) {
	return c.app.Bookings.Create(ctx, all, func(i int) string { return fmt.Sprintf("journal_entries[%d].", i) })
}
