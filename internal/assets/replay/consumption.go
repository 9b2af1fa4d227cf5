package replay

import (
	"fmt"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/lot"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

// consumption is a consumption with its stored and its computed uses.
type consumption struct {
	lots.Consumption
	stored  []lots.Use    // as stored, with corrections
	before  []lots.Use    // stored, with corrections applied
	after   []lots.Use    // as computed
	done    bool          // after is known
	named   bool          // the request named the account that it leaves; known for new and loaded entries
	to      posting.Place // destination of a relocation, once it is known
	toChain string
}

// newConsumption returns a consumption of an effect, without its order key.
func newConsumption(e *Effect, position int, t posting.LotRequest, p lots.Pool) *consumption {
	c := &consumption{Consumption: lots.Consumption{
		Pool: p.Key, EntryID: e.EntryID, Position: position, TransactionID: e.TransactionID, SourceID: t.From.Source,
		LedgerAccountID: t.From.Account, Chain: t.Asset.Chain, At: t.At, Block: e.Block, Number: e.Number, Kind: t.Kind,
		Quantity: t.Quantity, FeeQuantity: t.Fee, Proceeds: t.Proceeds, FeeProceeds: t.FeeProceeds, Costs: t.Costs,
		NetFees: e.Input.Policy.NetFees,
	}, named: t.AccountOnly}
	if t.Kind != posting.Unparked && len(e.Picks) > 0 && c.Principal().Sign() > 0 {
		c.Picks = e.Picks
	}
	return c
}

// eventKinds are the kinds of events that consumptions are for the engine.
var eventKinds = map[posting.Kind]lot.Kind{
	posting.Consumed: lot.Dispose, posting.Moved: lot.Move, posting.Parked: lot.Move, posting.Unparked: lot.Move,
	posting.Converted: lot.Convert, lots.Relocated: lot.Move,
}

// place returns the place of the consumption among the events of its pool. One that only pays a fee is a fee.
func (c *consumption) place() lot.Place {
	p := lot.Place{At: c.At, Kind: eventKinds[c.Kind], Block: c.Block, Sequence: c.Number, Request: int64(c.Position),
		ID: fmt.Sprintf("%s.%03d", c.TransactionID, c.Position)}
	if c.Principal().Sign() <= 0 {
		p.Kind = lot.Fee
	}
	return p
}

// setOrderKey sets the order key that follows from the other fields.
func (c *consumption) setOrderKey() {
	p := c.place()
	c.OrderKey = p.OrderKey()
}

// events returns the consumption as events of rules/lot: the fee, then what it was paid for. A relocation consumes no lots and
// is not an event.
func (c *consumption) events() []lot.Event {
	feePicks, picks := splitPicks(c.Picks, c.FeeQuantity)
	principal := c.Principal()
	var out []lot.Event
	if c.FeeQuantity.Sign() > 0 {
		e := lot.Event{Place: c.place(), Quantity: c.FeeQuantity, Proceeds: c.FeeProceeds, Picks: feePicks}
		e.Kind = lot.Fee
		if principal.Sign() > 0 {
			e.Principal = eventKinds[c.Kind]
		}
		out = append(out, e)
	}
	if principal.Sign() > 0 && c.Kind != lots.Relocated {
		out = append(out, lot.Event{Place: c.place(), Quantity: principal, Proceeds: c.Proceeds, Fee: c.Costs, Picks: picks})
	}
	return out
}

// splitPicks splits picks into those that pay the fee, which come first, and the rest.
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

// use converts a use of the engine to the form in which it is stored.
func (c *consumption) use(p *lots.Pool, u lot.Use) lots.Use {
	out := lots.Use{
		Pool: c.Pool, OrderKey: c.OrderKey, Position: int64(c.Position), LotID: u.Lot, Kind: string(u.Kind),
		TransactionID: c.TransactionID, LegalEntityID: p.LegalEntityID, SourceID: c.SourceID, LedgerAccountID: c.LedgerAccountID,
		Chain: c.Chain, AssetType: p.AssetType, TokenID: p.TokenID, Quantity: u.Quantity, Basis: u.Basis, Proceeds: u.Proceeds,
		Fee: u.Fee, Gain: u.Gain, Currency: p.Currency, AcquiredAt: u.AcquiredAt, DisposedAt: u.At, Days: int64(u.Days),
		Term: string(u.Term), Method: string(u.Method), Marks: u.Marks,
	}
	if u.Empties {
		out.LotCount = -1
	}
	if c.NetFees {
		out.Gain = u.NetGain()
	}
	return out
}

// findDestination looks up the destination of a stored relocation, and reports whether it is known.
func (c *consumption) findDestination() bool {
	for _, u := range c.before {
		if u.Kind == lots.Relocated && u.Quantity.Sign() < 0 {
			c.to, c.toChain = posting.Place{Source: u.SourceID, Account: u.LedgerAccountID, Entity: u.LegalEntityID}, u.Chain
		}
	}
	return c.to.Account != ""
}

// setDestination sets the destination of a relocation from its effect.
func (c *consumption) setDestination(e *Effect) {
	c.to, c.toChain = e.Plan.LotRequests[c.Position].To, c.Chain
	if e.Input.In != nil {
		c.toChain = e.Input.In.Asset.Chain
	}
}

// wholePool represents all lots of a pool, if no lot in particular is meant.
const wholePool = "*"

var methodNames = map[lot.Method]string{
	lot.FIFO: "FIFO", lot.LIFO: "LIFO", lot.HIFO: "HIFO", lot.LOFO: "LOFO", lot.WeightedAverage: "Weighted average",
	lot.SpecificID: "Specific lots",
}

// answer returns uses in the terms of rules/posting.
func answer(uses []lots.Use) posting.Answer {
	var a posting.Answer
	for _, u := range uses {
		if u.Kind == lots.Relocated && u.Quantity.Sign() < 0 { // the side of the destination
			continue
		}
		a.Method = methodNames[lot.Method(u.Method)]
		s := posting.Slice{
			Lot: u.LotID, Account: u.LedgerAccountID, Quantity: u.Quantity, Basis: u.Basis, AcquiredAt: u.AcquiredAt,
			Fee: u.Kind == string(lot.Fee), BasisPending: u.Marks.BasisPending, Provisional: u.Marks.Provisional,
		}
		if u.Kind == lots.Relocated {
			s.Lot, a.Method = wholePool, ""
		}
		a.Slices = append(a.Slices, s)
	}
	return a
}
