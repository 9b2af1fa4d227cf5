package providertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/provider"
)

// nonsense are values that replace others in answers.
var nonsense = []any{nil, true, "", "x", "-", "1e400", "NaN", "９", -1, 1e300, 0, []any{}, map[string]any{}, []any{nil}, "\u0000",
	"99999999999999999999999999999999999999999999", map[string]any{"": nil}}

// Nonsense answers with one value of the answer changed, which follows from a seed.
func Nonsense(seed uint64) Failure {
	return Changed(func(body []byte) []byte { return change(body, seed) })
}

// answersChanged is how many answers are changed.
const answersChanged = 400

// survivesNonsense changes values in answers. The connector must return an error, or leave the records out, and must not stop for ever.
func survivesNonsense(w *world, s Suite) {
	w.add(history(min(s.PageSize, 30))...)
	random := rand.New(rand.NewPCG(1, 2))
	for range answersChanged {
		w.cursors = map[string]string{}
		seed := random.Uint64()
		w.FailAt(1+random.IntN(2), Nonsense(seed))
		before := w.Requests()
		for _, ledger := range w.connector.Describe().Ledgers {
			cursor := ""
			for range 20 {
				p, err := w.connector.Read(w.Context(), w.session(false), ledger, cursor)
				if kind := fault.KindOf(err); err != nil && !slices.Contains([]fault.Kind{fault.Unavailable, fault.Conflict, fault.Unauthorized,
					fault.Forbidden}, kind) {
					w.Errorf("seed %d: %s error: %v", seed, kind, err)
				}
				for _, r := range p.Records {
					if r.ExternalID == "" || r.Quantity == nil || r.Quantity.Sign() < 0 || r.Currency == "" || r.Timestamp.IsZero() {
						w.Errorf("seed %d: incomplete: %+v", seed, r)
					}
				}
				if cursor = p.Cursor; err != nil || !p.More {
					break
				}
			}
		}
		if n := w.Requests() - before; n > 1000 {
			w.Fatalf("seed %d: %d requests", seed, n)
		}
	}
	_, err := w.connector.Check(w.Context(), w.session(true))
	if err != nil {
		w.Error(err)
	}
}

// balancesMax is how many requests a connector sends for balances in these tests, at most.
const balancesMax = 8

// wantsBalances leaves out a list of an answer. The connector must return an error, and must not say that the account holds nothing.
func wantsBalances(w *world, s Suite) {
	w.add(history(min(s.PageSize, 30))...)
	b, ok := w.connector.(provider.Balancer)
	if !ok {
		return
	}
	want, err := b.Balances(w.Context(), w.session(false))
	if err != nil || len(want.Balances) == 0 {
		w.Fatalf("%+v %v", want, err)
	}
	for n := range balancesMax {
		w.FailAt(n+1, Changed(withoutLists))
		got, err := b.Balances(w.Context(), w.session(false))
		if err == nil && got.Complete && !slices.Equal(sum(got.Balances), sum(want.Balances)) {
			w.Errorf("without the lists of the answer %d the account holds %+v, and it holds %+v", n+1, got, want)
		}
	}
}

// withoutLists replaces all lists of a document by null.
func withoutLists(body []byte) []byte {
	var document any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if d.Decode(&document) != nil {
		return body
	}
	var without func(v any) any
	without = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for key := range v {
				v[key] = without(v[key])
			}
		case []any:
			return nil
		}
		return v
	}
	out, err := json.Marshal(without(document))
	if err != nil {
		panic(fmt.Sprint("providertest: ", err))
	}
	return out
}

// change replaces one value of a document.
func change(body []byte, seed uint64) []byte {
	random := rand.New(rand.NewPCG(seed, 3))
	var document any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if d.Decode(&document) != nil {
		return []byte("{")
	}
	var places []func(any)
	var visit func(v any, set func(any))
	visit = func(v any, set func(any)) {
		places = append(places, set)
		switch v := v.(type) {
		case map[string]any:
			for _, key := range sorted(v) {
				visit(v[key], func(with any) { v[key] = with })
			}
		case []any:
			for i := range v {
				visit(v[i], func(with any) { v[i] = with })
			}
		}
	}
	visit(document, func(with any) { document = with })
	places[random.IntN(len(places))](nonsense[random.IntN(len(nonsense))])
	out, err := json.Marshal(document)
	if err != nil {
		panic(fmt.Sprint("providertest: ", err))
	}
	return out
}

func sorted(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
