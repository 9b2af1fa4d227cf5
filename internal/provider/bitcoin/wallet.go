package bitcoin

import (
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/provider"
)

const (
	// gapDefault is how many addresses without transactions end a chain of addresses, as in most wallets.
	gapDefault = 20
	gapMax     = 1000
	// ahead is how many addresses behind those are recognized in transactions. A payment to one of them extends the chain.
	ahead = 100
)

// branch is a chain of addresses, such as those for payments to others' change. One that is not ranged is a single address.
type branch struct {
	ranged bool
	at     func(index uint32) (output, error)
}

// place says which address of a wallet an output has.
type place struct{ branch, index int }

// before reports whether a place precedes another. A transaction is read at the first of its places.
func (p place) before(other place) bool {
	return p.branch < other.branch || p.branch == other.branch && p.index < other.index
}

// wallet is the addresses of a connection, as far as they were derived.
type wallet struct {
	branches []branch
	gap      int
	bare     bool // an xpub alone, which does not say of which kind its addresses are

	outputs [][]output // by branch
	places  map[string]place
}

// open returns the wallet of a session.
func open(s *provider.Session) (*wallet, error) {
	w := &wallet{gap: gapDefault, places: map[string]place{}}
	if text := s.Text(gapLimit); text != "" {
		gap, err := strconv.Atoi(text)
		if err != nil || gap < 1 || gap > gapMax {
			return nil, fault.Invalidf(gapLimit, "%q is not a number from 1 to %d", provider.Clean(text), gapMax)
		}
		w.gap = gap
	}
	var err error
	text := s.Text(provider.Address)
	if w.branches, w.bare, err = parse(text); err != nil {
		return nil, fault.Invalidf(provider.Address, "%v", err)
	}
	w.outputs = make([][]output, len(w.branches))
	return w, nil
}

// parse returns the chains of addresses that a text stands for: an address, an extended public key, or a descriptor.
func parse(text string) (branches []branch, bare bool, err error) {
	if isPrivate(text) {
		return nil, false, errPrivate
	}
	if found, ok := toAddress(text); ok {
		return []branch{{at: func(uint32) (output, error) { return found, nil }}}, false, nil
	}
	version, key, ok := parseExtended(text)
	kind := map[uint32]string{xpub: "/pkh", ypub: "/sh/wpkh", zpub: "/wpkh"}[version]
	switch {
	case ok && kind != "" && key.point != nil:
		for chain := range uint32(2) { // addresses for payments, and for change
			b, err := branchOf([]path{{key: key, steps: [][]uint32{{chain}}, wild: true}}, 0, payment(kind, 0))
			if err != nil {
				return nil, false, errKey
			}
			branches = append(branches, b)
		}
		return branches, version == xpub, nil
	case strings.Contains(text, "("):
		branches, err = parseDescriptor(text)
		return branches, false, err
	}
	return nil, false, errAddress
}

// single reports whether the wallet is one address.
func (w *wallet) single() bool { return len(w.branches) == 1 && !w.branches[0].ranged }

// output returns the output of a place.
func (w *wallet) output(at place) (output, error) {
	if at.index < len(w.outputs[at.branch]) {
		return w.outputs[at.branch][at.index], nil
	}
	made, err := w.branches[at.branch].at(uint32(at.index))
	if err != nil {
		return output{}, fault.Conflictf("address %d of the wallet cannot be derived: %v", at.index, err)
	}
	return made, nil
}

// derive derives the first addresses of a branch.
func (w *wallet) derive(branch, count int) error {
	for i := len(w.outputs[branch]); i < count; i++ {
		made, err := w.output(place{branch, i})
		if err != nil {
			return err
		}
		w.outputs[branch] = append(w.outputs[branch], made)
		if key := hex.EncodeToString(made.script); !w.has(key) {
			w.places[key] = place{branch, i}
		}
	}
	return nil
}

// has reports whether a script in hexadecimal digits is one of the wallet.
func (w *wallet) has(script string) bool {
	_, ok := w.places[script]
	return ok
}

// count returns how many addresses of a branch are looked at if a number of them was used.
func (w *wallet) count(branch, used int) int {
	if !w.branches[branch].ranged {
		return 1
	}
	return used + w.gap
}

// recognize derives the addresses that are looked at and those that follow, so that they are recognized in transactions. It is not called
// before there are any, because most addresses have none, and each key takes a tenth of a millisecond.
func (w *wallet) recognize(used []int) error {
	for i, b := range w.branches {
		count := w.count(i, used[i])
		if b.ranged {
			count += ahead
		}
		if err := w.derive(i, count); err != nil {
			return err
		}
	}
	return nil
}
