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

func (j *scorer) add(code Code, weight int, text string) {
	j.reasons = append(j.reasons, Reason{code, weight, text})
}

// identify resolves the token and the counterparty.
func (j *scorer) identify() {
	j.asset = contract{j.chain, parse(j.a.Contract)}
	if j.asset.address == placeholder {
		j.asset.address = address{}
	}
	j.party = parse(j.a.From)
	if !j.a.Inflow {
		j.party = parse(j.a.To)
	}
	j.known = j.k.genuine(j.asset, j.a.Symbol) || j.k.used[j.asset] != ""
}

// onList reports whether the token, the counterparty or the symbol is on a list.
func (j *scorer) onList(l *list) bool {
	switch {
	case !j.asset.missing() && l.hasContract(j.asset):
		j.entry = "contract " + j.asset.String()
	case !j.party.missing() && l.addresses[j.party]:
		j.entry = "counterparty " + j.party.String()
	case len(l.symbols) > 0 && l.symbols[strings.ToUpper(j.a.Symbol)]:
		j.entry = "symbol " + quote(j.a.Symbol)
	default:
		return false
	}
	return true
}

// couldBeForged reports whether anybody could have made this transfer out of the organization's wallet: token contracts
// let everyone transfer a zero amount. Genuine ones go to a known counterparty, or the organization paid their fee.
func (j *scorer) couldBeForged() bool {
	return j.a.Quantity.IsZero() && !j.asset.missing() && !j.a.PaidFee && !j.k.own[j.party] && !j.k.counterparties[j.party]
}

// scoreToken scores the token.
func (j *scorer) scoreToken() {
	if j.known {
		if !j.a.Quantity.IsZero() { // a zero amount of a known token proves nothing
			j.add(KnownToken, weightKnownToken, j.knownText())
		}
		return
	}
	if j.asset.missing() && j.k.contracts[symbolOn{j.chain, strings.ToUpper(j.a.Symbol)}] != "" {
		return // the source does not report contracts, so the token can be neither confirmed nor rejected
	}
	j.add(UnknownToken, weightUnknownToken, "The organization has never used "+quote(j.a.Symbol)+" "+j.asset.place()+
		", and it is not a well-known token.")
	plain, concealed, posed := skeleton(j.a.Symbol)
	imitated, text := "", ""
	switch guess, ok := j.k.imitates(plain); {
	case ok:
		imitated, text = guess, " imitates "+guess+"."
	case (concealed || posed) && j.k.symbols[plain]:
		imitated, text = plain, " imitates "+plain+": "+unusualCharacters(j.a.Symbol)+"."
	case concealed && ascii(plain): // not emoji, which contain invisible characters too
		imitated, text = plain, " contains invisible characters: "+unusualCharacters(j.a.Symbol)+"."
	case !j.asset.missing():
		if real := j.k.contracts[symbolOn{j.chain, plain}]; real != "" {
			imitated, text = plain, " on "+j.chain+" is "+real+", but this contract is "+j.asset.String()+"."
		}
	}
	if imitated != "" {
		j.deceptive = true
		j.add(LookalikeSymbol, weightLookalikeSymbol, quote(j.a.Symbol)+text)
	}
	if lure, found := lureIn(j.a.Symbol, j.a.TokenName); found {
		j.deceptive = j.deceptive || lure.Weight >= weightStrongLure
		j.reasons = append(j.reasons, lure)
	}
}

func (j *scorer) knownText() string {
	if j.asset.missing() {
		return quote(j.a.Symbol) + " is the native coin of " + j.chain + "."
	}
	return quote(j.a.Symbol) + " " + cmp.Or(j.k.tokens[j.asset], j.k.used[j.asset])
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
func (j *scorer) scoreValue() {
	switch {
	case j.a.Quantity.IsZero() && j.asset.missing():
		j.add(ZeroTransfer, weightZeroCoin, "Nothing was transferred.")
	case j.a.Quantity.IsZero():
		j.add(ZeroTransfer, weightZeroToken,
			"It transfers 0 "+quote(j.a.Symbol)+": such transfers are made to place an address in the transaction history.")
	case j.a.Value == nil:
	case j.a.Value.Cmp(j.k.dust) < 0:
		j.add(Dust, weightDust,
			"It is worth "+j.worth()+", less than the "+j.k.dust.Fixed(j.a.Currency)+" below which incoming assets count as dust.")
	default:
		if !j.deceptive {
			j.add(Valued, weightValued, "It is worth "+j.worth()+", which is more than dust.")
		}
	}
}

func (j *scorer) worth() string {
	text := j.a.Value.Fixed(j.a.Currency)
	if j.a.Currency != "" {
		text += " " + j.a.Currency
	}
	return text
}

// scoreCounterparty scores the counterparty, and whether the organization initiated the transaction itself.
func (j *scorer) scoreCounterparty() {
	if j.a.PaidFee && !j.deceptive {
		j.add(Requested, weightRequested, "The organization paid the network fee of the transaction.")
	}
	if j.party.isUnowned() {
		return
	}
	if j.k.own[j.party] || j.k.counterparties[j.party] {
		// A deceptive contract can report any sender, so its sender does not count.
		if !j.deceptive {
			j.add(Counterparty, weightCounterparty, "A known counterparty: "+j.party.String()+".")
		}
		return
	}
	if real, first, last, ok := j.k.lookalikes.imitated(j.party); ok {
		j.add(LookalikeAddress, weightLookalikeAddress, j.party.String()+" shares its first "+strconv.Itoa(first)+" and last "+strconv.Itoa(last)+
			" characters with "+real.String()+", a known counterparty, but is a different address.")
	}
}

// scoreDescription scores the description. Legitimate ones name websites too, so it weighs less than the token's name.
func (j *scorer) scoreDescription() {
	if j.a.Description == "" {
		return
	}
	text := readable(j.a.Description)
	if found, ok := link(text); ok {
		j.add(Link, weightLinkDescription, "Its description contains the link "+quote(found)+".")
	} else if w, ok := lureWord(text, strong); ok && !j.known {
		j.add(Lure, weightLureDescription, "Its description contains "+quote(w)+".")
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
func (j *scorer) scoreAirdrop() {
	if j.known || j.asset.missing() {
		return
	}
	if j.a.Recipients >= recipientsMany {
		j.add(MassAirdrop, weightMassAirdrop, "The same transaction sent it to "+strconv.Itoa(j.a.Recipients)+" addresses.")
	} else if n := j.k.transfersByHash[transferred{j.asset, j.a.Hash}]; j.a.Hash != "" && n >= transfersMany {
		j.add(MassAirdrop, weightMassAirdrop, "The same transaction made "+strconv.Itoa(n)+" such transfers to the organization.")
	} else if n := j.k.sourcesReached(j.asset, j.a.At); n >= sourcesMany {
		j.add(MassAirdrop, weightMassAirdrop, "It reached "+strconv.Itoa(n)+" of the organization's wallets within "+airdropWindow.String()+".")
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
