package companytest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// AddTransaction adds a transaction at noon of a day. It sets the external id and the time.
func (c *Company) AddTransaction(source, day string, p transaction.Params) transaction.Transaction {
	c.Helper()
	at, err := time.Parse(time.DateOnly, day)
	c.Must(err)
	c.count++
	p.ExternalID, p.At = fmt.Sprint("x", c.count), at.Add(12*time.Hour)
	made, err := c.Transactions.Create(c.Ctx, []transaction.CreateParams{{SourceID: c.Source(source).ID, Params: p}})
	c.Must(err)
	return made.Transactions[0]
}

// Book posts the entry of a transaction and returns its id. An empty account means none.
func (c *Company) Book(transactionID, kind, ledgerAccountID string) string {
	c.Helper()
	made, err := c.Bookings.Create(c.Ctx, []booking.Params{{TransactionID: transactionID, Type: kind, LedgerAccountID: ledgerAccountID,
		AutoPost: true}}, func(int) string { return "" })
	if err != nil {
		c.Fatalf("%s %s: %v", kind, transactionID, err)
	}
	return made[0].ID
}

// Transact adds a transaction, "2025-10-01 A in 2 ETH = 4000.00", and books it if the line continues with a type and perhaps an
// account, " : SWAP against Bank". It returns the transaction and the id of its entry.
func (c *Company) Transact(line string) (transaction.Transaction, string) {
	c.Helper()
	f := strings.Fields(line)
	quantity := money.MustParse(f[3])
	p := transaction.Params{Quantity: &quantity, Currency: f[4], Direction: transaction.Debit}
	if f[2] == "in" {
		p.Direction = transaction.Credit
	}
	if n := slices.Index(f, "="); n > 0 {
		gross := money.MustParse(f[n+1])
		p.Value = &transaction.ValueParams{Gross: gross, Net: gross, Currency: "USD"}
	}
	t := c.AddTransaction(f[1], f[0], p)
	_, booked, ok := strings.Cut(line, " : ")
	if !ok {
		return t, ""
	}
	kind, against, _ := strings.Cut(booked, " against ")
	accountID := ""
	if against != "" {
		accountID = c.Account(against).ID
	}
	return t, c.Book(t.ID, kind, accountID)
}
