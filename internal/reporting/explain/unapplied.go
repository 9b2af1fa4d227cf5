package explain

import (
	"context"
	"fmt"
	"strconv"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/receivables/application"
	"github.com/bursarhq/bursar/internal/receivables/customer"
	"github.com/bursarhq/bursar/internal/reporting/ageing"
)

const unappliedColumn = "unapplied_amount"

// unapplied explains what was unapplied by deposit, and what was unapplied of a deposit by the entries that changed it.
func (i *inquiry) unapplied(ctx context.Context) error {
	q := i.q
	if q.DocumentID != "" && q.CustomerID != "" {
		return fault.Invalidf("customer_id", "cannot be combined with document_id")
	}
	day, end, err := ageing.Day(ctx, i.tx, q.AsOf)
	if err != nil {
		return err
	}
	f := application.RestsFilter{DepositID: q.DocumentID, Currency: q.Currency}
	if who := actor.From(ctx); who.Limited() {
		f.LegalEntityIDs = who.LegalEntityIDs
	}
	if q.LegalEntityID != "" {
		if _, err := entity.Get(ctx, i.tx, q.LegalEntityID); err != nil {
			return err
		}
		f.LegalEntityIDs = []string{q.LegalEntityID}
	}
	if q.CustomerID != "" {
		if f.CustomerIDs, err = customer.Resolve(ctx, i.tx, q.CustomerID); err != nil {
			return err
		}
		if len(f.CustomerIDs) == 0 {
			return fault.MissingAt("customer", "customer_id")
		}
	}
	found, err := application.Rests(ctx, i.tx, f, end)
	if err != nil {
		return err
	}
	unit := q.Currency
	for _, r := range found {
		if unit == "" {
			unit = r.Currency
		}
		if r.Currency != unit {
			return fault.Invalidf("currency", "is required, because there is unapplied cash in several currencies")
		}
	}
	switch {
	case q.DocumentID != "" && len(found) == 0:
		return fault.MissingAt("deposit with unapplied cash", "document_id")
	case q.DocumentID != "":
		moved, err := application.RestMovements(ctx, i.tx, found[0], end)
		if err != nil {
			return err
		}
		i.out.setValue(found[0].Amount, unit)
		for _, m := range moved {
			i.out.add("JE-"+strconv.FormatInt(m.Number, 10), m.Amount, &Query{Report: "general-ledger", JournalEntryID: m.EntryID}, NoList)
		}
		return nil
	case unit == "":
		return fault.MissingAt("unapplied cash", "legal_entity_id")
	}
	i.rests(found, unit, day)
	return nil
}

// rests explains a sum of what was unapplied of deposits.
func (i *inquiry) rests(found []application.Rest, unit, day string) {
	var sum money.Decimal
	for n, r := range found {
		if sum = sum.Add(r.Amount); n < documentsMax {
			i.out.add("deposit "+r.DepositNumber, r.Amount, &Query{Report: i.q.Report, DocumentID: r.DepositID, Currency: unit, AsOf: day}, NoList)
		}
	}
	i.out.setValue(sum, unit)
	if len(found) > documentsMax {
		i.out.addRemainder(fmt.Sprintf("%d more", len(found)-documentsMax))
	}
}
