package wire

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/base/fault"
)

func TestMemoryIsSharedByRequestsAndNoOrganizationOrCallerGetsAll(t *testing.T) {
	t.Parallel()
	m := NewMemory(6 * memoryStep)
	one, same, other, stranger := m.Reserve("a", "1"), m.Reserve("a", "1"), m.Reserve("a", "2"), m.Reserve("b", "3")
	for _, c := range []struct {
		what string
		of   *Reservation
		take int
		kind fault.Kind // Internal means that there is no fault
		left int
	}{
		{"what is free", one, memoryFree, fault.Internal, 0},
		{"three parts", one, 3 * memoryStep, fault.Internal, 3 * memoryStep},
		{"more than a caller gets", same, memoryFree + memoryStep, fault.Unavailable, 3 * memoryStep},
		{"more than an organization gets", other, memoryFree + 2*memoryStep, fault.Unavailable, 3 * memoryStep},
		{"what another organization gets", stranger, memoryFree + 3*memoryStep, fault.Internal, 6 * memoryStep},
		{"more than there is", m.Reserve("b", "5"), memoryFree + 1, fault.Unavailable, 6 * memoryStep},
	} {
		if err := c.of.Take(c.take); fault.KindOf(err) != c.kind || err == nil != (c.kind == fault.Internal) || m.Taken() != c.left {
			t.Errorf("%s: %v, %d taken", c.what, err, m.Taken())
		}
	}
	if err := m.Reserve("c", "4").Take(memoryFree + 5*memoryStep); err != errTooMuch {
		t.Errorf("more than a request may ever take: %v", err)
	}
	if err := m.Reserve("c", "4").Announce(memoryStep); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("an announced body for which there is no memory: %v", err)
	}
	for _, r := range []*Reservation{one, same, other, stranger, one} {
		r.Close()
	}
	announced := m.Reserve("a", "1")
	if err := announced.Announce(memoryStep); err != nil || m.Taken() != 3*memoryStep { // beside what is free
		t.Errorf("an announced body: %v, %d taken", err, m.Taken())
	}
	if err := announced.Take(bodyFactor * memoryStep); err != nil || m.Taken() != 3*memoryStep {
		t.Errorf("what was announced: %v, %d taken", err, m.Taken())
	}
	announced.Close()
	if m.Taken() != 0 || len(m.byOwner) != 0 {
		t.Errorf("%d of %d owners still taken", m.Taken(), len(m.byOwner))
	}
}

// Only what the schema allows is kept of a body, so that what it takes depends on the schema.
func TestWhatASchemaDoesNotAllowIsNotKeptAndSoonNotReadAnyMore(t *testing.T) {
	t.Parallel()
	UseStrictSchemas()
	registry := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	schema := registry.Schema(reflect.TypeFor[validated](), true, "")
	many := 400_000
	for text, want := range map[string]string{
		`{"tags":[` + strings.Repeat(`"a",`, many) + `"b"]}`:       ".tags must have at most 2 items, but has more than 10,002",
		`{"lines":[` + strings.Repeat("0,", many) + "0]}":          ".lines must have at most 1,000 items, but has more than 11,000",
		`{"lines":{"a":[` + strings.Repeat("[],", many) + "0]}}":   ".lines must be a list, but is an object",
		`{"name":[` + strings.Repeat("{},", many) + "0]}":          ".name must be a string, but is a list",
		`{"surprise":[` + strings.Repeat(`{"a":1},`, many) + `0]}`: ".surprise is not a property of this request",
	} {
		rules, memory := newRules(registry), NewMemory(6*memoryStep).Reserve("a", "1")
		read, err := rules.parse([]byte(text), schema, memory)
		if err != nil || read.cut || !read.stopped {
			t.Fatalf("%.40s: %v, %+v", text, err, read)
		}
		if found, _ := rules.validate(schema, read.value); len(found) == 0 || found[0].Name+" "+found[0].Message != want {
			t.Errorf("%.40s: %v, want %s", text, found, want)
		}
	}
}

func TestUnknownPropertiesThatAreNotListedAreNoticed(t *testing.T) {
	t.Parallel()
	UseStrictSchemas()
	registry := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	schema := registry.Schema(reflect.TypeFor[validated](), true, "")
	var b strings.Builder
	for i := range fault.ListMax + 345 {
		fmt.Fprintf(&b, `"x%d":0,`, i)
	}
	rules := newRules(registry)
	read, err := rules.parse([]byte("{"+b.String()+`"name":"x"}`), schema, nil)
	if found, _ := rules.validate(schema, read.value); err != nil || !read.cut || len(found) != fault.ListMax {
		t.Errorf("%v, %d found, others: %v", err, len(found), read.cut)
	}
}

func TestRowsAndAnswersTakeMemoryOfTheirRequest(t *testing.T) {
	t.Parallel()
	m := NewMemory(30 << 20)
	r := m.Reserve("a", "1")
	r.reading(true)
	if err := r.readRow(m.page); err != nil {
		t.Fatal(err)
	}
	if err := r.readRow(1); err != errPageFull {
		t.Errorf("a page that is too large: %v", err)
	}
	full := m.Taken()
	if full < m.page*readFactor-memoryFree {
		t.Errorf("%d bytes are taken for %d", full, m.page)
	}
	r.reading(false)
	if err := r.readRow(m.page + 1); err != nil {
		t.Errorf("a single record: %v", err)
	}
	if err := r.readRow(m.caller); err != errLongAnswer {
		t.Errorf("more than there can ever be: %v", err)
	}
	other := m.Reserve("a", "1")
	if err := other.Take(m.caller - m.Taken()); err != nil {
		t.Fatal(err)
	}
	if err := r.readRow(m.page); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("more than there is at present: %v", err)
	}
	other.Close()
	if err := r.Answer(1 << 20); err != nil || m.Taken() > 2<<20 || m.Taken() < 1<<20 {
		t.Errorf("%d bytes are taken for an answer of 1 MiB, %v", m.Taken(), err)
	}
	if err := r.Answer(10); err != nil || m.Taken() != 0 {
		t.Errorf("%d bytes are taken for a small answer, %v", m.Taken(), err)
	}
	if err := r.Answer(m.caller); err != errLongAnswer {
		t.Errorf("an answer that is too large: %v", err)
	}
	r.Close()
	if m.Taken() != 0 {
		t.Errorf("%d bytes are still taken", m.Taken())
	}
}

func TestOnlyAListIsReadAgainWithALowerLimitIfItsPageIsTooLarge(t *testing.T) {
	t.Parallel()
	m := NewMemory(30 << 20)
	for whole, want := range map[bool]string{false: "[100 12 1]", true: "[100]"} {
		var limits []int64
		r := Get("/", func(ctx context.Context, in *Paging) (NoContent, error) {
			limits = append(limits, in.Limit)
			return NoContent{}, ReservationFrom(ctx).readRow(m.page + 1)
		}, "")
		if whole {
			r = r.ReadWhole()
		}
		memory := m.Reserve("a", "1")
		if _, err := r.Run(WithReservation(t.Context(), memory), &Paging{Limit: 100}); err != nil || fmt.Sprint(limits) != want {
			t.Errorf("whole %t: read with limits %v, want %s: %v", whole, limits, want, err)
		}
		memory.Close()
	}
}

func TestLongNamesThatBeginTheSameWayAreUnknownAndNotGivenTwice(t *testing.T) {
	t.Parallel()
	UseStrictSchemas()
	registry := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	schema := registry.Schema(reflect.TypeFor[validated](), true, "")
	begin := strings.Repeat("n", nameMax-1)
	rules := newRules(registry)
	read, err := rules.parse([]byte(`{"`+begin+`日a":0,"`+begin+`日b":0}`), schema, nil)
	if err != nil || !read.cut {
		t.Fatalf("%v, others: %t", err, read.cut)
	}
	found, _ := rules.validate(schema, read.value)
	if want := (fault.Field{Name: "." + begin + "…", Message: "is not a property of this request"}); !slices.Contains(found, want) {
		t.Errorf("%v", found)
	}
	if _, err := rules.parse([]byte(`{"surprise":0,"surprise":0}`), schema, nil); err == nil || !strings.Contains(err.Error(), "is given twice") {
		t.Errorf("a name that is given twice: %v", err)
	}
}
