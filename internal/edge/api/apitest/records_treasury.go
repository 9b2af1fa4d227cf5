package apitest

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// NewOutflow creates an outflow of ETH from a source with the current time.
func (n *Tenant) NewOutflow(t *testing.T, sourceID, quantity string) client.Transaction {
	t.Helper()
	return n.NewCrypto(t, sourceID, "debit", "ETH", quantity, time.Now())
}

// NewCrypto creates a transaction of a crypto asset. The direction is credit for an inflow and debit for an outflow.
func (n *Tenant) NewCrypto(t *testing.T, sourceID, direction, asset, quantity string, at time.Time) client.Transaction {
	t.Helper()
	made, err := n.Client.CreateTransactions(t.Context(), client.CreateTransaction{SourceID: sourceID,
		ExternalID: client.NewIdempotencyKey(), External: client.CreateTransactionExternal{
			Timestamp: at, Description: "Payment", Direction: direction, Quantity: &quantity, Currency: asset,
		}})
	if err != nil {
		t.Fatal(err)
	}
	return made.Data[0]
}

// BankStatement is a file with two valid rows and a faulty one.
const BankStatement = "Transaction ID,Date,Description,Amount,Currency\n1,2026-01-31,Rent,-1200.50,USD\n2,2026-02-01,Invoice " +
	"7,99,USD\n3,2026-02-30,No such day,1,USD\n"

// NewImport uploads a file, which is not read until the test runs the import.
func (n *Tenant) NewImport(t *testing.T) client.Import {
	t.Helper()
	made, err := n.Client.CreateImport(t.Context(), client.CreateImport{File: strings.NewReader(BankStatement), FileName: "bank.csv",
		SourceID: n.NewSource(t, client.CreateSource{}).ID})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// NewConnection connects an account at Stripe, by default one of its own. It is not read until the test does so.
func (n *Tenant) NewConnection(t *testing.T, c client.CreateConnection) client.Connection {
	t.Helper()
	if c.Provider == "" {
		c.Provider = "stripe"
	}
	if c.Name == "" {
		c.Name = "Stripe"
	}
	if c.LegalEntityIDs == nil {
		c.LegalEntityIDs = []string{n.LegalEntity.ID}
	}
	if c.APIKey == "" {
		c.APIKey = "sk_test_" + client.NewIdempotencyKey()
	}
	made, err := n.Client.CreateConnection(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// ConnectKraken connects the account at Kraken. It is not read until the test does so.
func (n *Tenant) ConnectKraken(t *testing.T, c client.CreateConnection) client.Connection {
	t.Helper()
	with := n.service.Kraken.Credentials()
	c.Provider, c.APIKey, c.APISecret = "kraken", cmp.Or(c.APIKey, with["api_key"]), cmp.Or(c.APISecret, with["api_secret"])
	c.Name = cmp.Or(c.Name, "Kraken")
	return n.NewConnection(t, c)
}

// BeginBank begins to connect the bank: somebody has to sign in at redirect_url.
func (n *Tenant) BeginBank(t *testing.T) client.Connection {
	t.Helper()
	made, err := n.Client.CreateConnection(t.Context(), client.CreateConnection{Provider: "plaid", LegalEntityIDs: []string{n.LegalEntity.ID}})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// ConnectRillet connects the general ledger in Rillet for all legal entities, and reads its accounts.
func (n *Tenant) ConnectRillet(t *testing.T, c client.CreateConnection) client.Connection {
	t.Helper()
	c.Provider, c.Name = "rillet", cmp.Or(c.Name, "Rillet")
	c.APIKey = cmp.Or(c.APIKey, n.service.Rillet.Credentials()["api_key"])
	if c.LegalEntityIDs == nil {
		c.LegalEntityIDs = []string{}
	}
	return n.Sync(t, n.NewConnection(t, c).ID)
}

// Sync reads the data of a connection to its end.
func (n *Tenant) Sync(t *testing.T, connectionID string) client.Connection {
	t.Helper()
	if err := n.service.App.Connections.Run(t.Context(), n.Organization.ID, connectionID); err != nil {
		t.Fatal(err)
	}
	c, err := n.Client.Connection(t.Context(), connectionID)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// NewSource creates a source, by default a bank account named Test.
func (n *Tenant) NewSource(t *testing.T, s client.CreateSource) client.Source {
	t.Helper()
	if s.Name == "" {
		s.Name = "Test"
	}
	if s.SourceType == "" {
		s.SourceType = "bank"
	}
	if s.LegalEntityID == "" {
		s.LegalEntityID = n.LegalEntity.ID
	}
	made, err := n.Client.CreateSource(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// NewTransaction creates a transaction of a bank account of its own.
func (n *Tenant) NewTransaction(t *testing.T) client.Transaction {
	t.Helper()
	made, err := n.Client.CreateTransactions(t.Context(), client.CreateTransaction{
		SourceID: n.NewSource(t, client.CreateSource{}).ID, ExternalID: client.NewIdempotencyKey(), ProviderCategory: "Sales",
		TransactionType: "INVOICE",
		External: client.CreateTransactionExternal{
			Timestamp: time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC), Description: "ACME INC", Direction: "credit", Currency: "USD",
			ValueFiat: &client.ValuedFiat{Gross: "1200.00", Fee: "25.10", Net: "1174.90", Currency: "USD"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return made.Data[0]
}

// NewTransfer creates two transactions that are one transfer and returns their ids, the outflow first.
func (n *Tenant) NewTransfer(t *testing.T) []string {
	t.Helper()
	when, quantity, hash := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC), money.FromInt(5), client.NewIdempotencyKey()
	var all []transaction.CreateParams
	for _, direction := range []transaction.Direction{transaction.Debit, transaction.Credit} {
		at := n.NewSource(t, client.CreateSource{SourceType: "exchange"})
		all = append(all, transaction.CreateParams{SourceID: at.ID, Params: transaction.Params{
			ExternalID: hash, At: when, Description: "Transfer", Direction: direction, Quantity: &quantity, Currency: "ETH",
			Crypto: &transaction.Crypto{TransactionHash: hash},
		}})
	}
	made, err := n.Service().App.Transactions.Create(n.Context(t), all)
	if err != nil {
		t.Fatal(err)
	}
	return []string{made.Transactions[0].ID, made.Transactions[1].ID}
}
