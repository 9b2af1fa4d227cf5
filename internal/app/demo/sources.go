package demo

import (
	"context"

	"github.com/bursarhq/bursar/internal/app/demo/activity"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// accountOf maps sources to accounts of the chart. The others get an account of their own.
var accountOf = map[string]string{"Operating account": "1010", "Geschäftskonto": "1010", "Company cards": "1030",
	"Card payments": "1020", "Treasury": "1210"}

// openSources creates the sources of the company.
func (c *company) openSources(ctx context.Context) error {
	c.activity = activity.Make(c.month(0))
	for _, s := range c.activity.Sources {
		p := source.CreateParams{
			Type: source.Type(s.Type), Name: s.Name, Provider: s.Provider, LegalEntityID: map[int]string{activity.US: c.us,
				activity.DE: c.de}[s.Entity],
			Chain: s.Chain, Address: s.Address,
		}
		if p.Type != source.Wallet && p.Type != source.Exchange { // those hold many currencies
			p.Currency = s.Currency
		}
		if code := accountOf[s.Name]; code != "" {
			p.LedgerAccountID = c.accounts[code]
		}
		made, err := c.app.Sources.Create(ctx, p)
		if err != nil {
			return err
		}
		c.sources = append(c.sources, made.Source)
	}
	return nil
}

// addTransactions adds what the sources report, in chronological order, and links transfers.
func (c *company) addTransactions(ctx context.Context) error {
	all := c.activity.Transactions
	c.transactions = make([]string, len(all))
	var batch []int
	for n, x := range all {
		if !x.Truth.Late {
			batch = append(batch, n)
		}
		if len(batch) == transaction.AddMax || n == len(all)-1 {
			if err := c.add(ctx, batch); err != nil {
				return err
			}
			if err := c.app.DB.VacuumAnalyze(ctx, "transactions"); err != nil {
				return err
			}
			batch = nil
		}
	}
	if _, err := c.app.Transfers.MatchArrived(ctx, actor.From(ctx).OrganizationID, all[0].At, all[len(all)-1].At); err != nil {
		return err
	}
	return c.pair(ctx)
}

// add adds transactions by their index.
func (c *company) add(ctx context.Context, places []int) error {
	params := make([]transaction.CreateParams, len(places))
	for i, n := range places {
		x := c.activity.Transactions[n]
		params[i] = transaction.CreateParams{SourceID: c.sources[x.Source].ID, Params: paramsOf(x)}
	}
	added, err := c.app.Transactions.Create(ctx, params)
	if err != nil {
		return err
	}
	for i, n := range places {
		c.transactions[n] = added.Transactions[i].ID
	}
	return nil
}

// typeOf is the transaction type that a source reports for some categories.
var typeOf = map[string]transaction.Type{"network_fee": transaction.Fee, "refund": transaction.Refund, "chargeback": transaction.Chargeback}

// paramsOf returns a transaction as its source reports it.
func paramsOf(x activity.Transaction) transaction.Params {
	p := transaction.Params{
		ExternalID: x.ExternalID, At: x.At, Description: x.Description, Direction: transaction.Direction(x.Direction),
		Quantity: &x.Quantity, Currency: x.Currency,
		Category: x.Category, Vendor: x.Vendor, EventKey: x.TradeID, Type: typeOf[x.Category],
	}
	if v := x.Value; v != nil {
		p.Value = &transaction.ValueParams{Gross: v.Gross, Fee: v.Fee, Net: v.Net, Currency: v.Currency}
	}
	if v := x.Crypto; v != nil {
		if v.TokenName != "" { // as block explorers write it
			p.Description += ": " + v.TokenName
		}
		p.Crypto = &transaction.Crypto{Chain: v.Chain, TransactionHash: v.Hash, From: v.From, To: v.To, AssetType: v.Asset,
			ContractAddress: v.Contract, TokenID: v.TokenID, FeeAssetType: v.FeeAsset}
		if v.Block > 0 {
			p.Crypto.BlockNumber = &v.Block
		}
		if v.FeeQuantity.Sign() > 0 {
			p.Crypto.FeeQuantity = &v.FeeQuantity
		}
	}
	if v := x.Bank; v != nil {
		p.Bank = &transaction.Bank{BankName: v.Name, AccountLast4: v.Last4, CounterpartyName: v.Counterparty}
	}
	if v := x.Card; v != nil {
		p.Card = &transaction.Card{MerchantName: v.Merchant, MerchantCategory: v.Category, CardholderName: v.Holder, Last4: v.Last4}
	}
	return p
}
