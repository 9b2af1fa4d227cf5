package posting

import (
	"slices"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/book"
)

// Plan is an entry that lacks only the answers of the lot engine.
type Plan struct {
	LotRequests []LotRequest

	in       Input
	rule     bookingRule
	steps    []step
	feeSteps []step // fees in other assets: their lot requests come first, their lines last
}

// step is one movement. Request is the index of its lot request, or noRequest.
type step struct {
	request int
	post    func(*writer, Answer)
}

const noRequest = -1

// Prepare decides how a transaction is booked and which lots it needs. Its errors are *Refusal.
func Prepare(in Input) (*Plan, error) {
	if in.Type == TypeSpam {
		return nil, refuse(Spam, fieldType, "a transaction of the type SPAM cannot be booked; change its type first")
	}
	f, known := bookingRules[in.Type]
	if !known {
		return nil, refuse(UnknownType, fieldType, "%q is not a transaction type", in.Type)
	}
	p := &Plan{in: in, rule: f}
	if err := p.validateLegs(); err != nil {
		return nil, err
	}
	chosen, err := p.selectPlanner()
	if err != nil {
		return nil, err
	}
	if err := chosen(p); err != nil {
		return nil, err
	}
	return p, nil
}

// selectPlanner returns the planner for the type and the legs.
func (p *Plan) selectPlanner() (planner, error) {
	var chosen planner
	switch out, in := p.in.Out, p.in.In; {
	case out != nil && in != nil:
		if len(p.in.Target.Splits) > 0 {
			return nil, refuseSplits("a linked transaction is booked against the account of the other one; remove the link or the splits")
		}
		if chosen = p.rule.pair; chosen == nil {
			return nil, refuse(NotAPair, fieldType, "%s cannot be booked with a linked transaction; remove the link or change the type", p.in.Type)
		}
		if out.Entity == in.Entity && p.in.Type == Intercompany {
			return nil, refuse(WrongEntity, fieldType, "both transactions belong to one legal entity, so this is not an INTERCOMPANY TRANSFER")
		}
		if out.Entity != in.Entity && p.in.Type != Intercompany {
			return nil, refuse(WrongEntity, fieldType,
				"the two transactions belong to different legal entities; use the type INTERCOMPANY TRANSFER")
		}
	case p.in.Type == Intercompany:
		return nil, refuse(NoPartner, fieldPartner,
			"an INTERCOMPANY TRANSFER needs both its transactions; link this one to the other first")
	case out != nil:
		chosen = p.rule.out
	case in != nil:
		chosen = p.rule.in
	default:
		return nil, refuse(NoPartner, fieldPartner, "names no transaction to book")
	}
	if chosen == nil {
		way := "leaves"
		if p.in.In != nil {
			way = "comes into"
		}
		return nil, refuse(WrongDirection, fieldType, "%s does not fit a transaction that %s its source", p.in.Type, way)
	}
	return chosen, nil
}

// validateLegs refuses legs that no movement can book.
func (p *Plan) validateLegs() error {
	legs := p.legs()
	for i := range p.in.Fees {
		fee := &p.in.Fees[i]
		if len(legs) > 0 && fee.Entity != legs[0].Entity {
			return refuse(WrongEntity, fieldPartner, "a fee must be paid by the legal entity of the transaction it was paid for")
		}
		legs = append(legs, fee)
	}
	for _, l := range legs {
		if !money.IsFiat(p.currency(l)) {
			return refuse(NoCurrency, "", "the legal entity %s has no fiat base currency", l.Entity)
		}
		if l.Quantity.Sign() < 0 || l.FeeQuantity.Sign() < 0 || l.FeeQuantity.Cmp(l.Quantity) > 0 {
			return refuse(NoQuantity, fieldQuantity, "the quantity must not be negative and must include the quantity of the fee")
		}
		if l.Asset.Lots && l.Quantity.IsZero() {
			return refuse(NoQuantity, fieldQuantity, "the quantity of %s is not known", l.Asset.Symbol)
		}
		if l == p.in.In && l.Asset.Lots && l.netQuantity().IsZero() {
			return refuse(NoQuantity, fieldQuantity, "the fee takes the whole inflow, so nothing arrives")
		}
		if l.account() == "" {
			return refuse(NoTarget, "offset_ledger_account_id", "the source has no ledger account; name one with offset_ledger_account_id")
		}
	}
	return nil
}

// legs returns the legs of the transaction itself, without fees, the outflow first.
func (p *Plan) legs() []*Leg {
	var legs []*Leg
	for _, l := range []*Leg{p.in.Out, p.in.In} {
		if l != nil {
			legs = append(legs, l)
		}
	}
	return legs
}

// Entry computes the entry from the answers, one for each lot request, and settles the unit balances of the input. Its errors are
// *Refusal: a missing role, or answers that do not match the requests.
func (p *Plan) Entry(answers []Answer) (Entry, error) {
	if len(answers) != len(p.LotRequests) {
		return Entry{}, refuse(WrongAnswer, "", "the entry requests lots %d times and got %d answers", len(p.LotRequests), len(answers))
	}
	covered := make([]Answer, len(answers))
	for i, a := range answers {
		covered[i] = Answer{a.Method, slices.DeleteFunc(slices.Clone(a.Slices), func(s Slice) bool { return s.Lot == "" })}
		if err := p.LotRequests[i].validate(a, p.in.Books.Currencies[p.LotRequests[i].From.Entity]); err != nil {
			return Entry{}, err
		}
	}
	w := &writer{books: p.in.Books}
	for _, s := range slices.Concat(p.steps, p.feeSteps) {
		var a Answer
		if s.request != noRequest {
			a = covered[s.request]
		}
		s.post(w, a)
	}
	p.flagUnknownBasis(w.lots)
	p.markUnits(w)
	if w.err != nil {
		return Entry{}, w.err
	}
	return p.Settle(Entry{Lots: w.lots, atValue: w.lines}, p.in.Outstanding)
}

// flagUnknownBasis marks the basis of lots that enter at 0.00 because no leg has a value. A lot of dust has a value, which
// rounds to 0.00, and a token that the legal entity issues has no cost.
func (p *Plan) flagUnknownBasis(lots []Lot) {
	if !p.in.Units {
		return
	}
	for _, l := range p.legs() {
		if l.Value != nil && l.Value.Gross.Sign() > 0 {
			return
		}
	}
	for i, l := range lots {
		if l.Kind == Created && l.Basis.IsZero() && !l.Asset.Own {
			lots[i].BasisPending = true
		}
	}
}

// validate compares an answer with its request.
func (t LotRequest) validate(a Answer, currency string) error {
	var fee, rest money.Decimal
	for _, s := range a.Slices {
		if s.Quantity.Sign() <= 0 || s.Basis.Sign() < 0 || !s.Basis.RoundTo(currency).Equal(s.Basis) {
			return refuse(WrongAnswer, "", "a slice of lot %s has no quantity, a negative basis, or a basis finer than the minor unit", s.Lot)
		}
		if s.Fee {
			fee = fee.Add(s.Quantity)
		} else {
			rest = rest.Add(s.Quantity)
		}
	}
	if fee.Cmp(t.Fee) > 0 || rest.Cmp(t.Quantity.Sub(t.Fee)) > 0 {
		return refuse(WrongAnswer, "", "the lots provide more %s than was requested", t.Asset.Symbol)
	}
	return nil
}

// addStep plans a movement that needs no lots.
func (p *Plan) addStep(post func(*writer, Answer)) { p.steps = append(p.steps, step{noRequest, post}) }

// requestLots plans a movement that needs lots.
func (p *Plan) requestLots(t LotRequest, post func(*writer, Answer)) {
	p.LotRequests = append(p.LotRequests, t)
	p.steps = append(p.steps, step{len(p.LotRequests) - 1, post})
}

// role returns the account that has a role.
func (b Books) role(role string) (string, error) {
	if account := b.Accounts[role]; account != "" {
		return account, nil
	}
	r := refuse(MissingRole, "", "no ledger account has the role %s", role)
	r.Role = role
	return "", r
}

// feeRole returns the role of the account that the fee of a leg is booked to.
func (p *Plan) feeRole(l *Leg) string {
	switch {
	case l.FeeRole != "":
		return l.FeeRole
	case p.rule.tradingFee:
		return FeesTrading
	case l.Asset.Lots:
		return FeesNetwork
	}
	return FeesBank
}

// cost is a fee and the role of the account it is booked to.
type cost struct {
	role   string
	amount money.Decimal
}

// planFees plans the fees paid in other assets, before any other lot request: fees select their lots first. Each is booked
// as an outflow. It returns their values, which the movement they were paid for books as an expense or in another way.
func (p *Plan) planFees() ([]cost, error) {
	var costs []cost
	for i := range p.in.Fees {
		leg := &p.in.Fees[i]
		value, err := p.valueLeg(leg)
		if err != nil {
			return nil, err
		}
		role := FeesBank
		if leg.Asset.Lots {
			role = FeesNetwork
		}
		if leg.FeeRole != "" {
			role = leg.FeeRole
		}
		costs = append(costs, cost{role, value.gross})
		currency := p.currency(leg)
		if !leg.Asset.Lots {
			p.feeSteps = append(p.feeSteps, step{noRequest, func(w *writer, _ Answer) {
				w.setEntity(leg.Entity, currency)
				w.writeHolding(sourceLine, book.Credit, leg.account(), value.gross, "", leg.Asset, leg.Quantity)
			}})
			continue
		}
		t := leg.lotRequest(Consumed, leg.Quantity, Place{})
		t.FeeProceeds = value.gross
		p.LotRequests = append(p.LotRequests, t)
		p.feeSteps = append(p.feeSteps, step{len(p.LotRequests) - 1, func(w *writer, a Answer) {
			w.setEntity(leg.Entity, currency)
			basis := w.creditSource(leg, a)
			w.writeGain(value.gross.Sub(basis), RealizedGain, RealizedLoss)
		}})
	}
	return costs, nil
}

// place returns where the lots of the leg are held.
func (l *Leg) place() Place { return Place{l.Source, l.account(), l.Entity} }

// lotRequest requests the lots of a whole outflow.
func (l *Leg) lotRequest(kind Kind, fee money.Decimal, to Place) LotRequest {
	return LotRequest{
		Kind: kind, Asset: l.Asset, Quantity: l.Quantity, Fee: fee,
		From: l.place(), AccountOnly: l.Offset != "", To: to, At: l.At,
	}
}
