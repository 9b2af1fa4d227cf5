package treasury

import (
	"context"
	"fmt"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/rules/transfer"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
	"github.com/bursarhq/bursar/internal/treasury/transfers"
)

// linksTransactions is a request to link two transactions.
type linksTransactions struct{ Body LinkTransactions }

// IsDryRun reports whether nothing is to be written.
func (l *linksTransactions) IsDryRun() bool { return l.Body.DryRun }

func (h handlers) linkTransactions(ctx context.Context, in *linksTransactions) (wire.Data[TransactionGroup], error) {
	g, err := h.app.Transfers.Link(ctx, transfers.LinkParams{
		TransactionIDs: in.Body.TransactionIDs,
		Kind:           transfer.Kind(db.OrEmpty(in.Body.Kind)),
	})
	if in.Body.DryRun {
		g.ID = "" // the group does not exist
	}
	return wire.DataOf(viewTransactionGroup(g)), err
}

func viewTransactionGroup(g transfers.Group) TransactionGroup {
	out := TransactionGroup{
		GroupID:   db.OrNull(g.ID),
		Kind:      string(g.Kind),
		MatchedBy: string(g.By),
		Legs:      []TransactionLeg{viewTransactionLeg(g.Out), viewTransactionLeg(g.In)},
	}
	if g.Shortfall != nil {
		out.Shortfall = new(g.Shortfall.String())
	}
	return out
}

func viewTransactionLeg(t transaction.Transaction) TransactionLeg {
	side := transfers.Out
	if transaction.IsInflow(t.Direction) {
		side = transfers.In
	}
	return TransactionLeg{TransactionID: t.ID, SequenceNumber: t.SequenceNumber(), Side: string(side), TransactionType: string(t.Type)}
}

func (h handlers) unlinkTransactions(ctx context.Context, in *struct{ Body UnlinkTransactions }) (wire.Data[UnlinkedTransactions], error) {
	all, err := h.app.Transfers.Unlink(ctx, in.Body.TransactionIDs)
	out := UnlinkedTransactions{Legs: make([]TransactionLeg, len(all))}
	for i, t := range all {
		out.Legs[i] = viewTransactionLeg(t)
	}
	return wire.DataOf(out), err
}

// matchDaysMax limits the range of dates of one request, which is one database transaction. New transactions are matched automatically.
const matchDaysMax = 366

func (h handlers) matchTransactions(ctx context.Context, in *struct{ Body MatchTransactions }) (wire.Data[MatchedTransactions], error) {
	from, _ := time.Parse(time.DateOnly, in.Body.StartDate) // the decoder lets only dates through
	to, _ := time.Parse(time.DateOnly, in.Body.EndDate)
	end := to.AddDate(0, 0, 1)
	switch {
	case to.Before(from):
		return wire.Data[MatchedTransactions]{}, fault.Invalidf("end_date", "must not be before start_date")
	case end.After(from.AddDate(0, 0, matchDaysMax)):
		return wire.Data[MatchedTransactions]{}, fault.Invalidf("end_date", "must be within %d days of start_date", matchDaysMax)
	}
	m, err := h.app.Transfers.Match(ctx, from, end, in.Body.DryRun)
	if want := in.Body.ExpectedCount; err == nil && want != nil && *want != int64(m.Linked) {
		err = fault.ConflictAt([]fault.Field{{Name: "expected_count", Message: fmt.Sprintf("the dates now match %d", m.Linked)}},
			"%d pairs would be linked, not %d: review them in a dry run and send the new expected_count", m.Linked, *want)
	}
	out := MatchedTransactions{Linked: int64(m.Linked), Ambiguous: int64(m.Ambiguous), Pairs: make([]MatchedPair, len(m.Pairs))}
	for i, p := range m.Pairs {
		out.Pairs[i] = MatchedPair{OutTransactionID: p.Out, InTransactionID: p.In, Kind: string(p.Kind), MatchedBy: string(p.Evidence)}
		if p.Kind != transfer.Swap {
			out.Pairs[i].Shortfall = new(p.Shortfall.String())
		}
	}
	return wire.DataOf(out), err
}

func (h handlers) listAmbiguousTransactions(ctx context.Context, in *struct{ wire.Paging }) (wire.List[AmbiguousTransaction], error) {
	found, err := h.app.Transfers.Ambiguous(ctx, in.Request())
	return wire.ListOf(found, viewAmbiguousTransaction), err
}

func viewAmbiguousTransaction(a transfers.Ambiguity) AmbiguousTransaction {
	return AmbiguousTransaction{
		TransactionID:  a.TransactionID,
		SequenceNumber: transaction.SequenceNumber(a.Number),
		Candidates:     a.Candidates,
		Why:            a.Why,
		FoundAt:        wire.Timestamp(a.FoundAt),
	}
}
