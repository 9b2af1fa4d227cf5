package stripe

import (
	"cmp"
	"time"

	api "github.com/stripe/stripe-go/v85"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// The types of transactions that balance transactions become.
const (
	invoicePayment transaction.Type = "INVOICE"
	reservesChange transaction.Type = "RESERVES CHANGE"
)

// types has the type of transaction for types of balance transactions. Others are unknown, and a person classifies them.
var types = map[api.BalanceTransactionType]transaction.Type{
	api.BalanceTransactionTypeCharge:                       invoicePayment,
	api.BalanceTransactionTypePayment:                      invoicePayment,
	api.BalanceTransactionTypePayout:                       transaction.Internal,
	api.BalanceTransactionTypePayoutCancel:                 transaction.Internal,
	api.BalanceTransactionTypePayoutFailure:                transaction.Internal,
	api.BalanceTransactionTypeTopup:                        transaction.Internal,
	api.BalanceTransactionTypeTopupReversal:                transaction.Internal,
	api.BalanceTransactionTypeRefund:                       transaction.Refund,
	api.BalanceTransactionTypeRefundFailure:                transaction.Refund,
	api.BalanceTransactionTypePaymentRefund:                transaction.Refund,
	api.BalanceTransactionTypePaymentFailureRefund:         transaction.Refund,
	api.BalanceTransactionTypePaymentReversal:              transaction.Refund,
	api.BalanceTransactionTypeReserveTransaction:           reservesChange,
	api.BalanceTransactionTypeReservedFunds:                reservesChange,
	api.BalanceTransactionTypeReserveHold:                  reservesChange,
	api.BalanceTransactionTypeReserveRelease:               reservesChange,
	api.BalanceTransactionTypePaymentNetworkReserveHold:    reservesChange,
	api.BalanceTransactionTypePaymentNetworkReserveRelease: reservesChange,
	api.BalanceTransactionTypePayoutMinimumBalanceHold:     reservesChange,
	api.BalanceTransactionTypePayoutMinimumBalanceRelease:  reservesChange,
	api.BalanceTransactionTypeStripeFee:                    transaction.Fee,
	api.BalanceTransactionTypeStripeFxFee:                  transaction.Fee,
	api.BalanceTransactionTypeTaxFee:                       transaction.Fee,
	"network_cost":                                         transaction.Fee,
}

// typeOf returns the type of the transaction for a balance transaction that flows in or out.
func typeOf(b *api.BalanceTransaction, inflow bool) transaction.Type {
	switch b.ReportingCategory {
	case api.BalanceTransactionReportingCategoryDispute, api.BalanceTransactionReportingCategoryDisputeReversal:
		return transaction.Chargeback
	}
	if b.Source != nil && b.Source.Dispute != nil {
		return transaction.Chargeback
	}
	switch found := types[b.Type]; {
	case found == invoicePayment && !inflow:
		return transaction.Fee // the fee was more than the payment
	case found == transaction.Fee && inflow:
		return transaction.Refund // a fee that was returned
	default:
		return found
	}
}

// transactionOf returns a balance transaction as a transaction of its source. What flows in is stated before fees. What flows out is all
// that left the balance, fees included.
func transactionOf(b *api.BalanceTransaction) transaction.Params {
	currency := currencyOf(b.Currency)
	inflow := b.Net > 0 || b.Net == 0 && b.Amount >= 0
	gross, fee := b.Amount, b.Fee
	if !inflow {
		gross = -b.Net
	}
	if fee < 0 || gross < fee { // a fee that was returned, or one without a payment
		gross, fee = b.Net, 0
		if !inflow {
			gross = -b.Net
		}
	}
	amounts := transaction.ValueParams{Gross: amountOf(gross, currency), Fee: amountOf(fee, currency), Net: amountOf(gross-fee, currency),
		Currency: currency}
	p := transaction.Params{
		ExternalID: b.ID, At: time.Unix(b.Created, 0).UTC(), Description: clean(cmp.Or(b.Description, string(b.Type)), textMax),
		Direction: transaction.Debit, Quantity: &amounts.Gross, Currency: currency, Category: clean(string(b.Type), nameMax),
		Type: typeOf(b, inflow),
	}
	if inflow {
		p.Direction = transaction.Credit
	}
	if money.IsFiat(currency) {
		p.Value = &amounts
	}
	if name := payerOf(b); name != "" {
		p.Bank = &transaction.Bank{BankName: "Stripe", CounterpartyName: name}
	}
	return p
}

// payerOf returns the name of who paid, if Stripe knows it.
func payerOf(b *api.BalanceTransaction) string {
	if b.Source == nil || b.Source.Charge == nil {
		return ""
	}
	c := b.Source.Charge
	name := ""
	if c.BillingDetails != nil {
		name = cmp.Or(c.BillingDetails.Name, c.BillingDetails.Email)
	}
	return clean(name, nameMax)
}
