package transfers

import (
	"context"
	"fmt"
	"slices"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// Verify returns the violated invariants of an organization's links.
func Verify(ctx context.Context, tx *db.Tx) (out []string, err error) {
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	odd, err := selectOddGroups(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, g := range odd {
		say("transaction group %s: it has %d outflows, %d inflows and %d kinds instead of one each", g.GroupID, g.Outs, g.Ins, g.Kinds)
	}
	stray, err := selectStrayLinks(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, id := range stray {
		say("transaction link %s: the transaction is not in its group", id)
	}
	clear, err := selectResolvedAmbiguities(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, id := range clear {
		say("transfer ambiguity %s: the transaction is linked", id)
	}
	err = eachMember(ctx, tx, func(m memberRow) {
		number := transaction.SequenceNumber(m.Number)
		switch {
		case m.Side == nil:
			say("transaction %s: it is in group %s without a link", number, m.GroupID)
		case (*m.Side == string(In)) != transaction.IsInflow(transaction.Direction(m.Direction)):
			say("transaction %s: it is a %s, but is linked as the %s side", number, m.Direction, *m.Side)
		case m.Visibility != 0:
			say("transaction %s: it is linked, but is spam or deleted", number)
		}
	})
	slices.Sort(out)
	return out, err
}
