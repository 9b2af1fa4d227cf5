package spam

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// judge is one arrival under judgement.
type scorer struct {
	a         Arrival // itself, not a pointer to it, which would put every arrival on the heap
	k         *Knowledge
	chain     string
	asset     contract // of a token; without address for the coin of a chain
	party     address  // who it came from or went to
	known     bool     // the token is what it says it is
	entry     string   // of the list that matched
	deceptive bool     // it passes itself off as something else, so nothing that it says about itself counts for it
	reasons   []Reason
}

func (j *scorer) add(code Code, weight int, text string) {
	j.reasons = append(j.reasons, Reason{code, weight, text})
}

// identify finds out what arrived and from whom.
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

// listed looks for the token, the counterparty or the symbol in a list.
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

// planted tells a transfer out of the organization's wallet that anybody could have made: contracts let everyone move
// nothing. Real ones go to somebody the organization deals with, or it paid for them.
func (j *scorer) couldBeForged() bool {
	return j.a.Quantity.IsZero() && !j.asset.missing() && !j.a.PaidFee && !j.k.own[j.party] && !j.k.counterparties[j.party]
}

// token judges what the asset is.
func (j *scorer) scoreToken() {
	if j.known {
		if !j.a.Quantity.IsZero() { // nothing of a known token is still nothing
			j.add(KnownToken, weightKnownToken, j.knownText())
		}
		return
	}
	if j.asset.missing() && j.k.contracts[symbolOn{j.chain, strings.ToUpper(j.a.Symbol)}] != "" {
		return // the source does not tell contracts, so nothing can be said for it or against it
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
	case concealed && ascii(plain): // emoji are made of several characters, some of which cannot be seen alone
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

// strangers lists the characters of a symbol that are not what they seem.
func unusualCharacters(s string) string {
	var out []string
	for _, r := range s {
		if r >= 0x80 || r < ' ' {
			out = append(out, fmt.Sprintf("U+%04X", r))
		}
	}
	return shorten(strings.Join(out, ", "))
}

// value judges what the arrival is worth. The price of a cheat does not count: what only looks like a known token may
// have been given that one's price, and whoever sends millions of a token can also trade it with himself.
func (j *scorer) scoreValue() {
	switch {
	case j.a.Quantity.IsZero() && j.asset.missing():
		j.add(ZeroTransfer, weightZeroCoin, "Nothing was transferred.")
	case j.a.Quantity.IsZero():
		j.add(ZeroTransfer, weightZeroToken, "It transfers 0 "+quote(j.a.Symbol)+": such transfers are made to place an address in the transaction history.")
	case j.a.Value == nil:
	case j.a.Value.Cmp(j.k.dust) < 0:
		j.add(Dust, weightDust, "It is worth "+j.worth()+", less than the "+j.k.dust.Fixed(j.a.Currency)+" below which incoming assets count as dust.")
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

// counterparty judges who it came from, or whom a planted transfer went to, and whether the organization itself had it brought.
func (j *scorer) scoreCounterparty() {
	if j.a.PaidFee && !j.deceptive {
		j.add(Requested, weightRequested, "The organization paid the network fee of the transaction.")
	}
	if j.party.isUnowned() {
		return
	}
	if j.k.own[j.party] || j.k.counterparties[j.party] {
		// A contract can report any sender: one that cheats is not believed.
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

// description judges what the transaction says. Honest ones name a customer's website too, so it weighs less than what the token says.
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

// lureIn finds a link or words that lure in what an unknown token calls itself. Known ones may well be called yearn.finance.
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

// airdrop judges how many got the same at once. Of a known token that is a payroll.
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

// quote puts text that others chose into a sentence: short, and with nothing hidden in it.
func quote(s string) string {
	s = shorten(s)
	if ascii(s) && !strings.ContainsAny(s, "\"\\\x7f") {
		return `"` + s + `"` // as below, but most texts are like this
	}
	return strconv.QuoteToGraphic(s)
}

func lower(s string) string { return strings.ToLower(s) }
