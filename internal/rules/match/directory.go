package match

import (
	"slices"
	"strings"
)

// directory finds customers by what a deposit shows of its payer.
type directory struct {
	processor map[string]idSet
	addresses map[string]idSet
	emails    map[string]idSet
	learned   map[string]*tally // by name or address of earlier payers
	names     map[string][]namesake
	phrases   map[string][]phrase // names by their first word
	similar   nameIndex
}

// idSet is a sorted set of ids of customers.
type idSet []string

func (s idSet) with(id string) idSet {
	at, found := slices.BinarySearch(s, id)
	if found {
		return s
	}
	return slices.Insert(s, at, id)
}

// namesake is a customer with a name.
type namesake struct {
	name
	customer string
}

// phrase is the words of a customer's name, to be found within a text.
type phrase struct {
	namesake
	words []string
}

// at reports whether a text begins with the name, and what follows does not make it the name of a sister company: another
// legal form, or the number of a fund.
func (p *phrase) at(text []string) bool {
	n := len(p.words)
	if n > len(text) || !slices.Equal(text[:n], p.words) {
		return false
	}
	rest := text[n:min(len(text), n+formWordsMax)]
	if len(rest) > 0 && numerals[rest[0]] {
		return false
	}
	end := 0
	for end < len(rest) && (isLegalForm(rest[end]) || end > 0 && rest[end] == "and") {
		end++
	}
	return p.compatible(parseName(strings.Join(append([]string{p.words[0]}, rest[:end]...), " ")))
}

// formWordsMax is how many words after a name may be its legal form.
const formWordsMax = 5

var numerals = map[string]bool{"i": true, "ii": true, "iii": true, "iv": true, "v": true, "vi": true, "vii": true, "viii": true, "ix": true,
	"x": true}

// tally is, by customer, how many more applications of a payer's deposits were confirmed than voided.
type tally struct{ net, confirmed map[string]int }

// customers returns those to which the payer's deposits were applied and not only by mistake.
func (t *tally) customers() (ids idSet) {
	for id, n := range t.net {
		if n > 0 {
			ids = ids.with(id)
		}
	}
	return ids
}

// A name of one word is looked for within texts only if it is long enough to be no ordinary word.
const phraseLettersMin = 6

func newDirectory(customers []Customer, history []Earlier) *directory {
	d := &directory{processor: map[string]idSet{}, addresses: map[string]idSet{}, emails: map[string]idSet{},
		names: map[string][]namesake{}, phrases: map[string][]phrase{}}
	for i := range customers {
		d.addCustomer(&customers[i])
	}
	d.learnAll(history)
	return d
}

// learnAll replaces what was learned.
func (d *directory) learnAll(history []Earlier) {
	d.learned = map[string]*tally{}
	for _, h := range history {
		if n := parseName(h.PayerName); n.core != "" {
			d.learn("name "+n.String(), h)
		}
		if a := parseAddress(h.PayerAddress); a != "" {
			d.learn("address "+a, h)
		}
	}
}

func (d *directory) addCustomer(c *Customer) {
	for _, id := range c.ProcessorIDs {
		if id != "" {
			d.processor[id] = d.processor[id].with(c.ID)
		}
	}
	for _, address := range c.Addresses {
		if a := parseAddress(address); a != "" {
			d.addresses[a] = d.addresses[a].with(c.ID)
		}
	}
	for _, text := range c.Emails {
		for _, e := range emails(text) {
			d.emails[e] = d.emails[e].with(c.ID)
		}
	}
	for _, text := range append([]string{c.Name}, c.Aliases...) {
		d.addName(c.ID, parseName(text))
	}
}

func (d *directory) addName(customer string, n name) {
	if n.core == "" || slices.Contains(d.names[n.core], namesake{n, customer}) {
		return
	}
	d.names[n.core] = append(d.names[n.core], namesake{n, customer})
	d.similar.add(customer, n.core)
	if w := strings.Split(n.core, " "); len(w) > 1 || len([]rune(w[0])) >= phraseLettersMin {
		d.phrases[w[0]] = append(d.phrases[w[0]], phrase{namesake{n, customer}, w})
	}
}

func (d *directory) learn(payer string, h Earlier) {
	if h.CustomerID == "" {
		return
	}
	if d.learned[payer] == nil {
		d.learned[payer] = &tally{map[string]int{}, map[string]int{}}
	}
	d.learned[payer].net[h.CustomerID] += h.Confirmed - h.Voided
	d.learned[payer].confirmed[h.CustomerID] += h.Confirmed
}

// hint is what one kind of evidence says about the customer: one customer, or several between which it cannot decide.
type hint struct {
	basis     Basis
	customers idSet
	reason    string  // without the customer's name, which is not known here
	named     []idSet // by name in the text: the customers who have it
}

// hints returns what the payer of a deposit tells, strongest first. A similar name is consulted only if nothing else names
// exactly one customer.
func (d *directory) hints(deposit *Deposit) (all []hint, steps int, complete bool) {
	add := func(b Basis, ids idSet, reason string) {
		if len(ids) > 0 {
			all = append(all, hint{basis: b, customers: ids, reason: reason})
		}
	}
	payer, address := parseName(deposit.PayerName), parseAddress(deposit.PayerAddress)
	add(ByProcessor, d.processor[deposit.ProcessorCustomerID], "The payment processor names the customer.")
	add(ByAddress, d.addresses[address], "The deposit comes from an address of the customer.")
	payerName, memo := clip(deposit.PayerName, nameMax), clip(deposit.Memo, memoMax)
	for _, e := range emails(payerName + "\n" + memo) {
		add(ByEmail, d.emails[e], "The deposit shows an e-mail address of the customer.")
	}
	for _, key := range []string{"address " + address, "name " + payer.String()} {
		if t := d.learned[key]; t != nil {
			ids := t.customers()
			reason := ""
			if len(ids) == 1 {
				reason = earlierText(key, t.confirmed[ids[0]])
			}
			add(ByHistory, ids, reason)
		}
	}
	namesakes := d.namesakes(payer)
	add(ByName, namesakes, "The payer has the name of the customer.")
	named, steps, complete := d.namesWithin(words(payerName))
	inMemo, more, read := d.namesWithin(words(memo))
	steps, complete = steps+more, complete && read
	if len(namesakes) > 0 {
		named = nil // the name that is found is the name of the payer
	}
	if named = append(named, inMemo...); len(named) > 0 {
		h := hint{basis: ByText, reason: "The payer's name contains the name of the customer.", named: named}
		if len(inMemo) > 0 {
			h.reason = "The text of the deposit contains the name of the customer."
		}
		for _, ids := range named {
			for _, id := range ids {
				h.customers = h.customers.with(id)
			}
		}
		all = append(all, h)
	}
	if payer.core != "" && !slices.ContainsFunc(all, hint.single) {
		id, how, taken, ok := d.similar.mostSimilar(payer.core, comparedMax-steps)
		steps += taken
		complete = complete && ok
		if id != "" {
			add(BySimilarity, idSet{id}, because("", "The payer's name %q is similar to the customer's (%d %% of the letters).",
				excerpt(deposit.PayerName), how.percent()).Text)
		}
	}
	return all, steps, complete
}

func (h hint) single() bool { return len(h.customers) == 1 }

func earlierText(key string, confirmed int) string {
	what, _, _ := strings.Cut(key, " ")
	if confirmed == 1 {
		return "An earlier deposit from this payer's " + what + " was applied to invoices of the customer."
	}
	return because("", "%d earlier deposits from this payer's %s were applied to invoices of the customer.", confirmed, what).Text
}

// namesakes returns the customers with a name. If several differ in their legal form, the one with the payer's form counts.
func (d *directory) namesakes(payer name) (ids idSet) {
	if payer.core == "" {
		return nil
	}
	var same idSet
	for _, n := range d.names[payer.core] {
		if n.form == payer.form {
			same = same.with(n.customer)
		}
		if n.compatible(payer) {
			ids = ids.with(n.customer)
		}
	}
	if len(same) > 0 && payer.form != "" {
		return same
	}
	return ids
}

// namesWithin returns, for each name in a text, the customers who have it. A name within a longer one that occurs does not count.
// It gives up after too many comparisons.
func (d *directory) namesWithin(text []string) (named []idSet, steps int, complete bool) {
	for i := 0; i < len(text); {
		longest := 1
		var here idSet
		for at := range d.phrases[text[i]] {
			if steps++; steps == comparedMax {
				return nil, steps, false
			}
			p := &d.phrases[text[i]][at]
			if !p.at(text[i:]) {
				continue
			}
			n := len(p.words)
			if n > longest {
				longest, here = n, nil
			}
			if n == longest {
				here = here.with(p.customer)
			}
		}
		if len(here) > 0 {
			named = append(named, here)
		}
		i += longest
	}
	return named, steps, true
}
