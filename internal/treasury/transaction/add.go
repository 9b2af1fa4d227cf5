package transaction

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	rules "github.com/bursarhq/bursar/internal/rules/spam"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/spam"
)

// Added is the result of adding one transaction.
type Added struct {
	ID        string
	Duplicate bool // it existed already, or was sent twice
}

// Add stores transactions in the order given, except those that their source reported before. They must have passed
// Validate, and their tags must exist. It is a building block and locks the organization state.
func Add(ctx context.Context, tx *db.Tx, all []New) ([]Added, error) {
	added, _, err := add(ctx, tx, all)
	return added, err
}

func add(ctx context.Context, tx *db.Tx, all []New) ([]Added, []Transaction, error) {
	state, err := orgstate.Lock(ctx, tx)
	if err != nil {
		return nil, nil, err
	}
	known, err := findExisting(ctx, tx, all)
	if err != nil {
		return nil, nil, err
	}
	out, made := make([]Added, len(all)), make([]Transaction, 0, len(all))
	var originals []originalRow
	for i, n := range all {
		key := externalKey{n.Source.ID, n.ExternalID}
		if existing := known[key]; existing != "" {
			out[i] = Added{existing, true}
			continue
		}
		state.TransactionNumber++
		t := n.transaction(tx, state.TransactionNumber)
		known[key], out[i] = t.ID, Added{ID: t.ID}
		made = append(made, t)
		if n.Original != "" {
			originals = append(originals, originalRow{t.ID, n.Original})
		}
	}
	if len(made) == 0 {
		return out, nil, nil
	}
	if err := judgeSpam(ctx, tx, made); err != nil {
		return nil, nil, err
	}
	rows, err := insertAll(ctx, tx, made)
	if err != nil {
		return nil, nil, err
	}
	if err := insertOriginals(ctx, tx, originals); err != nil {
		return nil, nil, err
	}
	c := newChange()
	for _, t := range made {
		c.add(t, 1)
	}
	if err := c.write(ctx, tx); err != nil {
		return nil, nil, err
	}
	record(ctx, tx, made, rows)
	return out, made, nil
}

// externalKey identifies a transaction by its source and the source's own id.
type externalKey struct{ sourceID, externalID string }

func findExisting(ctx context.Context, tx *db.Tx, all []New) (map[externalKey]string, error) {
	bySource := map[string][]string{}
	for _, n := range all {
		bySource[n.Source.ID] = append(bySource[n.Source.ID], n.ExternalID)
	}
	known := make(map[externalKey]string, len(all))
	for sourceID, externalIDs := range bySource {
		found, err := selectByExternalID(ctx, tx, sourceID, externalIDs)
		if err != nil {
			return nil, err
		}
		for externalID, transactionID := range found {
			known[externalKey{sourceID, externalID}] = transactionID
		}
	}
	return known, nil
}

// transaction returns the new transaction to store.
func (n New) transaction(tx *db.Tx, number int64) Transaction {
	t := Transaction{
		ID: tx.NewID(id.Transaction), Number: number, Source: n.Source, ExternalID: n.ExternalID,
		At: clock.Stamp(n.At), Description: n.Description, Direction: n.Direction,
		Quantity: n.Quantity, Currency: n.Currency, Category: n.Category, Vendor: n.Vendor, Memo: n.Memo, Crypto: n.Crypto, Bank: n.Bank,
		Card:     n.Card,
		EventKey: n.EventKey, Type: n.Type, Status: Pending, TagIDs: tagSet(n.TagIDs), CreatedAt: tx.Now(), UpdatedAt: tx.Now(),
	}
	if v := n.Value; v != nil {
		t.Value = &Value{v.Gross, v.Fee, v.Currency}
	}
	if t.Type == "" {
		t.Type = Unknown
	}
	if t.Type == TypeSpam {
		t.TypeBeforeSpam, t.Status = Unknown, Spam
	}
	return t
}

// SaysWhat reports whether a new transaction states what a stored one states, as far as money is concerned.
func (n New) SaysWhat(t Transaction) bool {
	sameQuantity := n.Quantity == nil && t.Quantity == nil || n.Quantity != nil && t.Quantity != nil && n.Quantity.Equal(*t.Quantity)
	sameValue := n.Value == nil && t.Value == nil || n.Value != nil && t.Value != nil && n.Value.Gross.Equal(t.Value.Gross) &&
		n.Value.Fee.Equal(t.Value.Fee) && n.Value.Currency == t.Value.Currency
	return n.Source.ID == t.Source.ID && clock.Stamp(n.At).Equal(t.At) && n.Direction == t.Direction && n.Currency == t.Currency &&
		sameQuantity && sameValue
}

// tagSet returns tags as they are stored: each once, sorted.
func tagSet(ids []string) []string {
	set := append([]string{}, ids...)
	slices.Sort(set)
	return slices.Compact(set)
}

// judgeSpam runs the spam filter on new transactions, marks spam and stores the verdicts. They follow only from wallets and counterparties
// of legal entities that the actor's key has access to: the verdict would otherwise tell about the others.
func judgeSpam(ctx context.Context, tx *db.Tx, made []Transaction) error {
	if !slices.ContainsFunc(made, func(t Transaction) bool { return t.Source.Type.Class() == source.Crypto }) {
		return nil
	}
	sources, err := source.AllUnchecked(ctx, tx)
	if err != nil {
		return err
	}
	who := actor.From(ctx)
	var own []string
	for _, s := range sources {
		if s.Address != "" && who.Sees(s.LegalEntityID) {
			own = append(own, s.Address)
		}
	}
	var visible []string
	if who.Limited() {
		if visible, err = source.IDsOfEntities(ctx, tx, who.LegalEntityIDs); err != nil {
			return err
		}
	}
	verdicts, err := spam.Judge(ctx, tx, own, visible, arrivals(made))
	if err != nil {
		return err
	}
	for i, v := range verdicts {
		if v.Score == 0 {
			continue
		}
		verdict := SpamScore{Score: v.Score, Reasons: make([]Reason, len(v.Reasons)), LegalEntityIDs: who.LegalEntityIDs}
		for n, r := range v.Reasons {
			verdict.Reasons[n] = Reason{string(r.Code), r.Weight, r.Text}
		}
		made[i].Spam = &verdict
		made[i] = made[i].withStatus(v.Spam || made[i].Status == Spam, made[i].Type)
	}
	return nil
}

// arrivals returns transactions as the spam filter expects them. A transaction whose network fee the organization paid
// is one that it made itself: the fee is on the transaction, or is a transaction of its own with the same hash.
func arrivals(made []Transaction) []rules.Arrival {
	paid := map[string]bool{}
	for _, t := range made {
		if t.Crypto != nil && t.Type == Fee && !IsInflow(t.Direction) {
			paid[t.Crypto.TransactionHash] = true
		}
	}
	all := make([]rules.Arrival, len(made))
	for i, t := range made {
		a := rules.Arrival{Class: string(t.Source.Type.Class()), SourceID: t.Source.ID, At: t.At, Inflow: IsInflow(t.Direction),
			Symbol: t.Asset(), Description: t.Description}
		if t.Quantity == nil {
			continue // an unknown quantity is not zero, and cannot be judged
		}
		a.Quantity = *t.Quantity
		if t.Value != nil {
			a.Value, a.Currency = &t.Value.Gross, t.Value.Currency
		}
		a.Chain = t.Source.Chain
		if c := t.Crypto; c != nil {
			a.Chain, a.Hash, a.Contract, a.TokenID, a.From, a.To = cmp.Or(c.Chain,
				a.Chain), c.TransactionHash, c.ContractAddress, c.TokenID, c.From, c.To
			a.PaidFee = c.TransactionHash != "" && paid[c.TransactionHash] || !a.Inflow && c.FeeQuantity != nil && c.FeeQuantity.Sign() > 0
		}
		all[i] = a
	}
	return all
}

// record writes one audit record for all transactions that were added, with a digest of each: a record for each would cost as
// much as the transaction.
func record(ctx context.Context, tx *db.Tx, made []Transaction, rows []keyedRow) {
	first, last := made[0], made[len(made)-1]
	var sources []string
	digests := make([]string, len(made))
	for i, t := range made {
		digests[i] = rows[i].digest()
		if !slices.Contains(sources, t.Source.ID) {
			sources = append(sources, t.Source.ID)
		}
	}
	c := audit.Change{Action: ActionCreated, ResourceType: noun, ResourceID: first.ID,
		After: map[string]any{"count": len(made), "first": first.SequenceNumber(), "last": last.SequenceNumber(), "source_ids": sources},
		State: audit.RangeState("transaction", first.Number, digests), Object: first}
	if len(made) > 1 {
		c.Action, c.Several = ActionArrived, true
	}
	audit.Record(ctx, tx, c)
}

// CreateParams is a transaction sent by a client, with the id of its source or of its source's account.
type CreateParams struct {
	SourceID string
	Params
}

// Created is the result of Create, in the order of the request.
type Created struct {
	Transactions []Transaction
	Created      int
	Duplicates   int
}

// Create adds transactions, all or none. It returns those that existed already unchanged.
func (s *Service) Create(ctx context.Context, all []CreateParams) (c Created, err error) {
	if n := len(all); n < 1 || n > AddMax {
		return c, fault.Invalidf("transactions", "must have 1 to %d items", AddMax)
	}
	var faults fault.List
	for i, p := range all {
		p.Validate(&faults, fmt.Sprintf("transactions[%d].", i))
	}
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil { // no source may be deleted while transactions are added to it
			return err
		}
		news, err := resolve(ctx, tx, all, faults)
		if err != nil {
			return err
		}
		added, made, err := add(ctx, tx, news)
		if err != nil {
			return err
		}
		c, err = created(ctx, tx, added, made)
		return err
	})
	return c, err
}

// created combines the transactions that were added with those that existed already.
func created(ctx context.Context, tx *db.Tx, added []Added, made []Transaction) (c Created, err error) {
	byID := make(map[string]Transaction, len(added))
	for _, t := range made {
		byID[t.ID] = t
	}
	var existing []string
	for _, o := range added {
		if _, new := byID[o.ID]; !new {
			existing = append(existing, o.ID)
		}
	}
	if len(existing) > 0 {
		found, err := selectSome(ctx, tx, existing)
		if err != nil {
			return c, err
		}
		for _, t := range found {
			byID[t.ID] = t
		}
	}
	for _, o := range added {
		c.Transactions = append(c.Transactions, byID[o.ID])
	}
	return Created{c.Transactions, len(made), len(added) - len(made)}, nil
}

// resolve finds the sources and tags of transactions. It returns those that do not exist together with the faults that were found before.
func resolve(ctx context.Context, tx *db.Tx, all []CreateParams, faults fault.List) ([]New, error) {
	sources := map[string]source.Source{}
	var tags []string
	news := make([]New, len(all))
	for i, p := range all {
		s, known := sources[p.SourceID]
		if !known {
			var err error
			if s, err = source.Find(ctx, tx, p.SourceID); err != nil && fault.KindOf(err) != fault.NotFound {
				return nil, err
			}
			sources[p.SourceID] = s
		}
		news[i] = New{s, p.Params}
		if s.ID == "" {
			faults.AddMissing("source", fmt.Sprintf("transactions[%d].source_id", i))
		} else {
			news[i].ValidateHolding(&faults, fmt.Sprintf("transactions[%d].", i))
		}
		if len(p.TagIDs) <= tagsMax { // a list that is too long is refused as such
			tags = append(tags, p.TagIDs...)
		}
	}
	if len(tags) == 0 {
		return news, faults.Err()
	}
	found, err := tag.ExistingIDs(ctx, tx, tags)
	if err != nil {
		return nil, err
	}
	for i, p := range all {
		for n, tagID := range p.TagIDs {
			if !slices.Contains(found, tagID) && len(p.TagIDs) <= tagsMax {
				faults.AddMissing("tag", fmt.Sprintf("transactions[%d].tag_ids[%d]", i, n))
			}
		}
	}
	return news, faults.Err()
}
