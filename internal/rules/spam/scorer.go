package spam

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// scorer computes the verdict on one arrival.
type scorer struct {
	a         Arrival // by value: a pointer would put every arrival on the heap
	k         *Knowledge
	chain     string
	asset     contract // of the token; without address for a native coin
	party     address  // the counterparty: sender of an inflow, recipient of an outflow
	known     bool     // the token is genuine or in use
	entry     string   // description of the list entry that matched
	deceptive bool     // It imitates something, so nothing that it says about itself counts in its favour.
	reasons   []Reason
}

func (s *scorer) add(code Code, weight int, text string) {
	s.reasons = append(s.reasons, Reason{code, weight, text})
}

// identify resolves the token and the counterparty.
func (s *scorer) identify() {
	s.asset = contract{s.chain, parse(s.a.Contract)}
	if s.asset.address == placeholder {
		s.asset.address = address{}
	}
	s.party = parse(s.a.From)
	if !s.a.Inflow {
		s.party = parse(s.a.To)
	}
	s.known = s.k.genuine(s.asset, s.a.Symbol) || s.k.used[s.asset] != ""
}

// onList reports whether the token, the counterparty or the symbol is on a list.
func (s *scorer) onList(l *list) bool {
	switch {
	case !s.asset.missing() && l.hasContract(s.asset):
		s.entry = "contract " + s.asset.String()
	case !s.party.missing() && l.addresses[s.party]:
		s.entry = "counterparty " + s.party.String()
	case len(l.symbols) > 0 && l.symbols[strings.ToUpper(s.a.Symbol)]:
		s.entry = "symbol " + quote(s.a.Symbol)
	default:
		return false
	}
	return true
}

// couldBeForged reports whether anybody could have made this transfer out of the organization's wallet: token contracts
// let everyone transfer a zero amount. Genuine ones go to a known counterparty, or the organization paid their fee.
func (s *scorer) couldBeForged() bool {
	return s.a.Quantity.IsZero() && !s.asset.missing() && !s.a.PaidFee && !s.k.own[s.party] && !s.k.counterparties[s.party]
}

// scoreToken scores the token.
func (s *scorer) scoreToken() {
	if s.known {
		if !s.a.Quantity.IsZero() { // a zero amount of a known token proves nothing
			s.add(KnownToken, weightKnownToken, s.knownText())
		}
		return
	}
	if s.asset.missing() && s.k.contracts[symbolOn{s.chain, strings.ToUpper(s.a.Symbol)}] != "" {
		return // the source does not report contracts, so the token can be neither confirmed nor rejected
	}
	s.add(UnknownToken, weightUnknownToken, "The organization has never used "+quote(s.a.Symbol)+" "+s.asset.place()+
		", and it is not a well-known token.")
	plain, concealed, posed := skeleton(s.a.Symbol)
	imitated, text := "", ""
	switch guess, ok := s.k.imitates(plain); {
	case ok:
		imitated, text = guess, " imitates "+guess+"."
	case (concealed || posed) && s.k.symbols[plain]:
		imitated, text = plain, " imitates "+plain+": "+unusualCharacters(s.a.Symbol)+"."
	case concealed && ascii(plain): // not emoji, which contain invisible characters too
		imitated, text = plain, " contains invisible characters: "+unusualCharacters(s.a.Symbol)+"."
	case !s.asset.missing():
		if real := s.k.contracts[symbolOn{s.chain, plain}]; real != "" {
			imitated, text = plain, " on "+s.chain+" is "+real+", but this contract is "+s.asset.String()+"."
		}
	}
	if imitated != "" {
		s.deceptive = true
		s.add(LookalikeSymbol, weightLookalikeSymbol, quote(s.a.Symbol)+text)
	}
	if lure, found := lureIn(s.a.Symbol, s.a.TokenName); found {
		s.deceptive = s.deceptive || lure.Weight >= weightStrongLure
		s.reasons = append(s.reasons, lure)
	}
}

func (s *scorer) knownText() string {
	if s.asset.missing() {
		return quote(s.a.Symbol) + " is the native coin of " + s.chain + "."
	}
	return quote(s.a.Symbol) + " " + cmp.Or(s.k.tokens[s.asset], s.k.used[s.asset])
}

// unusualCharacters lists the characters of a symbol that are not printable ASCII.
func unusualCharacters(s string) string {
	var out []string
	for _, r := range s {
		if r >= 0x80 || r < ' ' {
			out = append(out, fmt.Sprintf("U+%04X", r))
		}
	}
	return shorten(strings.Join(out, ", "))
}

// scoreValue scores the value of the arrival. The value of a deceptive token does not count: an imitation may have been
// priced like the original, and a spammer can set a price by trading with himself.
func (s *scorer) scoreValue() {
	switch {
	case s.a.Quantity.IsZero() && s.asset.missing():
		s.add(ZeroTransfer, weightZeroCoin, "Nothing was transferred.")
	case s.a.Quantity.IsZero():
		s.add(ZeroTransfer, weightZeroToken,
			"It transfers 0 "+quote(s.a.Symbol)+": such transfers are made to place an address in the transaction history.")
	case s.a.Value == nil:
	case s.a.Value.Cmp(s.k.dust) < 0:
		s.add(Dust, weightDust,
			"It is worth "+s.valueText()+", less than the "+s.k.dust.Fixed(s.a.Currency)+" below which incoming assets count as dust.")
	default:
		if !s.deceptive {
			s.add(Valued, weightValued, "It is worth "+s.valueText()+", which is more than dust.")
		}
	}
}

func (s *scorer) valueText() string {
	text := s.a.Value.Fixed(s.a.Currency)
	if s.a.Currency != "" {
		text += " " + s.a.Currency
	}
	return text
}

// scoreCounterparty scores the counterparty, and whether the organization initiated the transaction itself.
func (s *scorer) scoreCounterparty() {
	if s.a.PaidFee && !s.deceptive {
		s.add(Requested, weightRequested, "The organization paid the network fee of the transaction.")
	}
	if s.party.isUnowned() {
		return
	}
	if s.k.own[s.party] || s.k.counterparties[s.party] {
		// A deceptive contract can report any sender, so its sender does not count.
		if !s.deceptive {
			s.add(Counterparty, weightCounterparty, s.party.String()+" is a known counterparty.")
		}
		return
	}
	if real, first, last, ok := s.k.lookalikes.imitated(s.party); ok {
		s.add(LookalikeAddress, weightLookalikeAddress, s.party.String()+" shares its first "+strconv.Itoa(first)+" and last "+strconv.Itoa(last)+
			" characters with "+real.String()+", a known counterparty, but is a different address.")
	}
}

// scoreDescription scores the description. Legitimate ones name websites too, so it weighs less than the token's name.
func (s *scorer) scoreDescription() {
	if s.a.Description == "" {
		return
	}
	text := readable(s.a.Description)
	if found, ok := link(text); ok {
		s.add(Link, weightLinkDescription, "Its description contains the link "+quote(found)+".")
	} else if w, ok := lureWord(text, strong); ok && !s.known {
		s.add(Lure, weightLureDescription, "Its description contains "+quote(w)+".")
	}
}

// lureIn finds a link or phishing words in the names of an unknown token. Known tokens may be called yearn.finance.
func lureIn(texts ...string) (Reason, bool) {
	best, found := Reason{}, false
	consider := func(code Code, weight int, text string) {
		if weight > best.Weight {
			best, found = Reason{code, weight, text}, true
		}
	}
	for _, s := range texts {
		if s == "" {
			continue
		}
		text := readable(s)
		if hit, ok := link(text); ok {
			consider(Link, weightLink, "The token calls itself "+quote(s)+", which contains the link "+quote(hit)+".")
		}
		if w, ok := lureWord(text, strong); ok {
			consider(Lure, weightStrongLure, "The token calls itself "+quote(s)+", which contains "+quote(w)+".")
		} else if w, ok := lureWord(text, weak); ok {
			consider(Lure, weightWeakLure, "The token calls itself "+quote(s)+", which contains "+quote(w)+".")
		}
	}
	return best, found
}

// scoreAirdrop scores how many addresses got the token at once. For a known token that is normal, such as a payroll.
func (s *scorer) scoreAirdrop() {
	if s.known || s.asset.missing() {
		return
	}
	if s.a.Recipients >= recipientsMany {
		s.add(MassAirdrop, weightMassAirdrop, "The same transaction sent it to "+strconv.Itoa(s.a.Recipients)+" addresses.")
	} else if n := s.k.transfersByHash[transferred{s.asset, s.a.Hash}]; s.a.Hash != "" && n >= transfersMany {
		s.add(MassAirdrop, weightMassAirdrop, "The same transaction made "+strconv.Itoa(n)+" such transfers to the organization.")
	} else if n := s.k.sourcesReached(s.asset, s.a.At); n >= sourcesMany {
		s.add(MassAirdrop, weightMassAirdrop, "It reached "+strconv.Itoa(n)+" of the organization's wallets within "+airdropWindow.String()+".")
	}
}

// quote quotes untrusted text for use in a sentence: shortened, with invisible characters escaped.
func quote(s string) string {
	s = shorten(s)
	if ascii(s) && !strings.ContainsAny(s, "\"\\\x7f") {
		return `"` + s + `"` // the common case, faster than below
	}
	return strconv.QuoteToGraphic(s)
}

func lower(s string) string { return strings.ToLower(s) }
