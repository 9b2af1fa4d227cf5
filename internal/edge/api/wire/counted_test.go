package wire

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/base/fault"
)

var moreFaults = regexp.MustCompile(`: (\d+) faults? (?:is|are) listed, and (at least )?([\d,]+|there may be) more`)

// reported returns how many faults an answer reports, listed and others, and whether it says that this is all.
func reported(t *testing.T, detail ErrorDetail) (count int, all bool) {
	t.Helper()
	parts := moreFaults.FindStringSubmatch(detail.Message)
	if parts == nil {
		return len(detail.Fields), true
	}
	if parts[1] != strconv.Itoa(len(detail.Fields)) {
		t.Errorf("%d are listed, but %s", len(detail.Fields), detail.Message)
	}
	more, _ := strconv.Atoi(strings.ReplaceAll(parts[3], ",", ""))
	return len(detail.Fields) + more, parts[2] == "" && !strings.HasPrefix(parts[3], "there")
}

// The faults of a request are found in two steps: by its schema, and by the use case in what is left of it. A fault that both find, or that
// is in a value which is at fault already, counts once.
func TestNoFaultIsCountedTwiceHoweverManyStepsFindIt(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 11))
	sizes := []int{0, 1, 5, 99, 100, 101, 999, 1000, 1001, 1500}
	for range 300 {
		items := 1 + r.IntN(1500)
		random := func() fault.Field {
			return fault.Field{Name: fmt.Sprintf("entries[%d].%s", r.IntN(items), []string{"amount", "memo", "lines", "lines[2].amount"}[r.IntN(4)]),
				Message: []string{"is wrong", "not found"}[r.IntN(2)]}
		}
		truth, named := map[fault.Field]bool{}, map[string]bool{}
		var schema, semantics fault.List
		for range sizes[r.IntN(len(sizes))] {
			f := random()
			truth[f], named[f.Name] = true, true
			schema.Addf(f.Name, "%s", f.Message)
		}
		others := sizes[r.IntN(len(sizes))]
		if len(truth) > repairedMax { // the use case does not run then
			others = 0
		}
		for range others {
			f := random()
			semantics.Addf(f.Name, "%s", f.Message)
			lines := strings.TrimSuffix(f.Name, "[2].amount")
			if !named[f.Name] && !named[lines] && !(strings.HasSuffix(f.Name, ".lines") && named[f.Name+"[2].amount"]) {
				truth[f] = true
			}
		}
		if len(truth) == 0 {
			continue
		}
		_, detail := Describe(schema.With(semantics.Err()))
		count, all := reported(t, detail)
		if count > len(truth) || all && count != len(truth) {
			t.Fatalf("%d faults are reported (all of them: %v) of %d: %s", count, all, len(truth), detail.Message)
		}
	}
}

// A body is looked at twice: by the parser, which leaves values out, and by the validation of what it kept.
func TestNoFaultOfABodyIsCountedTwice(t *testing.T) {
	t.Parallel()
	limit := 50
	item := &huma.Schema{Type: huma.TypeObject, AdditionalProperties: false, Properties: map[string]*huma.Schema{
		"name": {Type: huma.TypeString}, "count": {Type: huma.TypeInteger}}}
	item.PrecomputeMessages()
	schema := &huma.Schema{Type: huma.TypeObject, AdditionalProperties: false, Properties: map[string]*huma.Schema{
		"items": {Type: huma.TypeArray, Items: item, MaxItems: &limit}}}
	schema.PrecomputeMessages()
	r := rand.New(rand.NewPCG(3, 5))
	for range 200 {
		truth := 0
		var items []string
		for n := range r.IntN(limit + 20) {
			var fields []string
			for i := range []int{0, 0, 1, 30, 1005}[r.IntN(5)] {
				fields = append(fields, fmt.Sprintf(`"unknown%d":[1,{"deep":2}]`, i))
			}
			fields = append(fields, []string{`"name":"x"`, `"name":7`, `"name":"\u0000"`, `"name":{"a":[1,2]}`, `"name":1e999`}[r.IntN(5)],
				[]string{`"count":1`, `"count":"1"`, `"count":1.0`, `"count":[[],[]]`}[r.IntN(4)])
			if n < limit { // what comes after that is one fault, of the list
				for _, f := range fields {
					if f != `"name":"x"` && f != `"count":1` {
						truth++
					}
				}
			} else if n == limit {
				truth++
			}
			items = append(items, "{"+strings.Join(fields, ",")+"}")
		}
		text := `{"items":[` + strings.Join(items, ",") + `]}`
		if !json.Valid([]byte(text)) {
			t.Fatal(text)
		}
		d := &Decoder{rules: newRules(nil)}
		var faults, values fault.List
		read, err := d.rules.parse([]byte(text), schema, nil)
		if err := faults.Merge(err); err != nil {
			t.Fatal(err)
		}
		found, cut := d.rules.validate(schema, read.value)
		for _, f := range found {
			values.Addf(strings.TrimPrefix(f.Name, "."), "%s", f.Message)
		}
		values.MarkCut(cut || read.cut)
		if truth == 0 {
			if len(found) > 0 || err != nil {
				t.Errorf("%s has faults: %v %v", text, found, err)
			}
			continue
		}
		_, detail := Describe(faults.With(values.Err()))
		count, all := reported(t, detail)
		if count > truth || all && !read.stopped && count != truth {
			t.Fatalf("%d faults are reported (all of them: %v) of %d: %s in %.3000s", count, all, truth, detail.Message, text)
		}
	}
}
