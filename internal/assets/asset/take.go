package asset

import (
	"fmt"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/lot"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

// Relocated is the kind of a use that only moves what is held from one source to another of the same pool.
const Relocated = "relocate"

const relocate posting.Kind = Relocated

// take is what an entry asks of a pool.
type take struct {
	pool          string
	place         Place
	entryID       string
	position      int
	transactionID string
	sourceID      string // where it is held
	accountID     string // of the source, or the one that was named
	chain         string
	at            time.Time
	block, number int64
	kind          posting.Kind
	quantity      money.Decimal // all of it
	feeQuantity   money.Decimal // the part that pays the fee
	proceeds      money.Decimal
	feeProceeds   money.Decimal
	costs         money.Decimal
	net           bool // the costs are taken off the gain
	picks         []lot.Pick
}

var principals = map[posting.Kind]lot.Kind{
	posting.Consumed: lot.Dispose, posting.Moved: lot.Move, posting.Parked: lot.Move, posting.Unparked: lot.Move,
	posting.Converted: lot.Convert, relocate: lot.Move,
}

// rest is what remains of the quantity when the fee is paid.
func (t *take) rest() money.Decimal { return t.quantity.Sub(t.feeQuantity) }

// settle finds the place of the request.
func (t *take) settle() {
	kind := principals[t.kind]
	if t.rest().Sign() <= 0 {
		kind = lot.Fee
	}
	t.place = placeOf(t.at, kind, t.block, t.number, t.position)
}

// events is the request in the words of rules/lot: the fee, then what it was paid for.
func (t *take) events() []lot.Event {
	at := lot.Place{At: t.at, Block: t.block, Sequence: t.number, ID: fmt.Sprintf("%s.%03d", t.transactionID, t.position)}
	feePicks, picks := splitPicks(t.picks, t.feeQuantity)
	var out []lot.Event
	rest := t.rest()
	if t.feeQuantity.Sign() > 0 {
		e := lot.Event{Place: at, Quantity: t.feeQuantity, Proceeds: t.feeProceeds, Picks: feePicks}
		e.Kind = lot.Fee
		if rest.Sign() > 0 {
			e.Principal = principals[t.kind]
		}
		out = append(out, e)
	}
	if rest.Sign() > 0 && t.kind != relocate {
		e := lot.Event{Place: at, Quantity: rest, Proceeds: t.proceeds, Fee: t.costs, Picks: picks}
		e.Kind = principals[t.kind]
		out = append(out, e)
	}
	return out
}

// splitPicks gives the first of the chosen lots to the fee.
func splitPicks(picks []lot.Pick, fee money.Decimal) (forFee, rest []lot.Pick) {
	for _, p := range picks {
		part := p.Quantity
		if part.Cmp(fee) > 0 {
			part = fee
		}
		if part.Sign() > 0 {
			forFee = append(forFee, lot.Pick{Lot: p.Lot, Quantity: part})
			fee = fee.Sub(part)
		}
		if left := p.Quantity.Sub(part); left.Sign() > 0 {
			rest = append(rest, lot.Pick{Lot: p.Lot, Quantity: left})
		}
	}
	return forFee, rest
}

// answer is what was taken, in the words of rules/posting.
func answer(uses []Use) posting.Answer {
	var a posting.Answer
	for _, u := range uses {
		if u.Kind == string(relocate) && u.Quantity.Sign() < 0 { // where it went to
			continue
		}
		a.Method = methodName(u.Method)
		s := posting.Slice{
			Lot: u.LotID, Account: u.LedgerAccountID, Quantity: u.Quantity, Basis: u.Basis, AcquiredAt: u.AcquiredAt, Fee: u.Kind == string(lot.Fee),
			BasisPending: u.pending, Provisional: u.provisional,
		}
		if u.Kind == string(relocate) {
			s.Lot, a.Method = everything, ""
		}
		a.Slices = append(a.Slices, s)
	}
	return a
}

// everything stands for the lots of a pool where none in particular is meant.
const everything = "*"

var methodNames = map[lot.Method]string{
	lot.FIFO: "FIFO", lot.LIFO: "LIFO", lot.HIFO: "HIFO", lot.LOFO: "LOFO", lot.WeightedAverage: "Weighted average",
	lot.SpecificID: "Specific lots",
}

func methodName(method string) string { return methodNames[lot.Method(method)] }

// useOf is what the engine took, as it is written down.
func (t *take) useOf(p *pool, u lot.Use) Use {
	out := Use{
		Pool: t.pool, Place: t.place, Position: int64(t.position), LotID: u.Lot, Kind: string(
			u.Kind), TransactionID: t.transactionID, LegalEntityID: p.LegalEntityID,
		SourceID: t.sourceID, LedgerAccountID: t.accountID, Chain: t.chain, AssetType: p.AssetType, TokenID: p.TokenID,
		Quantity: u.Quantity, Basis: u.Basis, Proceeds: u.Proceeds, Fee: u.Fee, Gain: u.Gain, Currency: p.Currency,
		AcquiredAt: u.AcquiredAt, DisposedAt: u.At, Days: int64(u.Days), Term: string(u.Term), Method: string(u.Method),
		pending: u.BasisPending, provisional: u.Provisional,
	}
	if u.Empties {
		out.Lots = -1
	}
	if t.net {
		out.Gain = out.Gain.Sub(out.Fee)
	}
	return out
}

// sameUses tells that two answers to a request are one, in whatever order.
func sameUses(a, b []Use) bool {
	if len(a) != len(b) {
		return false
	}
	at := make(map[useKey]*Use, len(b))
	for i := range b {
		at[b[i].key()] = &b[i]
	}
	for i := range a {
		x := &a[i]
		y := at[x.key()]
		if y == nil || !x.Quantity.Equal(y.Quantity) || !x.Basis.Equal(y.Basis) || !x.Proceeds.Equal(y.Proceeds) || !x.Fee.Equal(y.Fee) ||
			!x.Gain.Equal(y.Gain) ||
			!x.AcquiredAt.Equal(y.AcquiredAt) || x.Term != y.Term || x.Method != y.Method || x.Lots != y.Lots ||
			x.LedgerAccountID != y.LedgerAccountID {
			return false
		}
	}
	return true
}

// useKey tells the uses of one request apart.
type useKey struct{ lot, kind, source, account string }

func (u *Use) key() useKey { return useKey{u.LotID, u.Kind, u.SourceID, u.LedgerAccountID} }

// effective adds the corrections of a request to what they correct.
func effective(rows []Use) []Use {
	var out []Use
	at := map[useKey]int{}
	for _, r := range rows {
		i, there := at[r.key()]
		if !there {
			at[r.key()] = len(out)
			out = append(out, r)
			continue
		}
		out[i] = out[i].plus(r, 1)
	}
	return slices.DeleteFunc(out, func(u Use) bool { return u.Quantity.IsZero() && u.Basis.IsZero() })
}

// plus adds the amounts of a use to those of another, or takes them off.
func (u Use) plus(o Use, sign int64) Use {
	n := money.FromInt(sign)
	u.Quantity, u.Basis = u.Quantity.Add(o.Quantity.Mul(n)), u.Basis.Add(o.Basis.Mul(n))
	u.Proceeds, u.Fee, u.Gain = u.Proceeds.Add(o.Proceeds.Mul(n)), u.Fee.Add(o.Fee.Mul(n)), u.Gain.Add(o.Gain.Mul(n))
	u.Lots += sign * o.Lots
	return u
}

// differences is what must be added to some uses to make them others.
func differences(was, is []Use) (out []Use) {
	old := make(map[useKey]Use, len(was))
	for _, u := range was {
		old[u.key()] = u
	}
	for _, u := range is {
		d := u
		if o, there := old[u.key()]; there {
			d = u.plus(o, -1)
			delete(old, u.key())
		}
		out = append(out, d)
	}
	for _, u := range was {
		if o, left := old[u.key()]; left {
			d := u
			d.Quantity, d.Basis, d.Proceeds, d.Fee, d.Gain, d.Lots =
				money.Decimal{}, money.Decimal{}, money.Decimal{}, money.Decimal{}, money.Decimal{}, 0
			out = append(out, d.plus(o, -1))
		}
	}
	return slices.DeleteFunc(out, func(u Use) bool {
		return u.Quantity.IsZero() && u.Basis.IsZero() && u.Gain.IsZero() && u.Proceeds.IsZero() && u.Fee.IsZero() && u.Lots == 0
	})
}
