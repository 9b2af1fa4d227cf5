package fault_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
)

func TestAnErrorNobodyClassifiedIsInternal(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]fault.Kind{
		errors.New("x"): fault.Internal,
		fault.Conflictf("period %s is closed", "x"):     fault.Conflict,
		fmt.Errorf("while: %w", fault.Missing("thing")): fault.NotFound,
		fault.UnavailableBecause(errors.New("x"), "no"): fault.Unavailable,
		fault.RateLimitedf(1, "wait"):                   fault.RateLimited,
		fault.Forbiddenf("no"):                          fault.Forbidden,
		fault.Unauthorizedf("no"):                       fault.Unauthorized,
		fault.Malformedf("no"):                          fault.Invalid,
		fault.Invalidf("lines[2].amount", "is %d", 1):   fault.Invalid,
	} {
		if got := fault.KindOf(err); got != want {
			t.Errorf("%v is %v, want %v", err, got, want)
		}
	}
}

func TestAListCollectsEveryFieldAndReturnsOtherErrors(t *testing.T) {
	t.Parallel()
	var l fault.List
	if l.Err() != nil {
		t.Error("an empty list is an error")
	}
	l.Addf("a", "is %s", "wrong")
	if rest := l.Merge(fault.Invalidf("b", "is wrong too")); rest != nil {
		t.Error(rest)
	}
	if conflict := fault.Conflictf("no"); !errors.Is(l.Merge(conflict), conflict) {
		t.Error("a conflict was swallowed")
	}
	if l.Merge(nil) != nil {
		t.Error("nothing became an error")
	}
	if got, want := l.Err().Error(), "the request is not valid: a is wrong; b is wrong too"; got != want {
		t.Errorf("%s", got)
	}
}

func TestTheCauseIsForTheLogAndNotInTheText(t *testing.T) {
	t.Parallel()
	cause := errors.New("password=hunter2")
	err := fault.UnavailableBecause(cause, "the database is not available")
	if err.Error() != "the database is not available" || !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
}

func TestPrefixFieldsSaysWhereFieldsAre(t *testing.T) {
	t.Parallel()
	err := fault.Invalidf("status", "is wrong")
	if got := fault.PrefixFields("filter.", err).Error(); got != "the request is not valid: filter.status is wrong" ||
		err.Error() != "the request is not valid: status is wrong" {
		t.Errorf("%s, and %s before", got, err)
	}
	plain := errors.New("x")
	if fault.PrefixFields("filter.", plain) != plain || fault.PrefixFields("filter.", nil) != nil {
		t.Error("an error without fields is another one")
	}
}

func TestOnlyFaultsOfTheRequestAreRefusals(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]bool{
		fault.Invalidf("a", "b"): true, fault.Missing("x"): true, fault.Conflictf("x"): true, fault.Forbiddenf("x"): true, fmt.Errorf(
			"within: %w", fault.Missing("y")): true,
		errors.New("x"): false, fault.UnavailableBecause(errors.New("y"), "x"): false,
	} {
		if got := fault.Refused(err); got != want {
			t.Errorf("%v: %t", err, got)
		}
	}
	if fault.Refused(nil) {
		t.Error("nothing is refused by nothing")
	}
}

func TestAListHasTheGravestKindAndTheFieldsOfAll(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		add  func(l *fault.List)
		kind fault.Kind
		text string
	}{
		{func(l *fault.List) { l.AddConflictf("c", "is closed") }, fault.Conflict, "is closed: c is closed"},
		{func(l *fault.List) { l.AddConflictf("c", "is closed"); l.AddMissing("tag", "b") }, fault.NotFound,
			"tag not found: b not found; c is closed"},
		{func(l *fault.List) {
			l.AddMissing("tag", "b")
			l.AddConflictf("c", "is closed")
			l.Addf("a", "is wrong")
		}, fault.Invalid,
			"the request is not valid: a is wrong; b not found; c is closed"},
		// A field that cannot be changed at all is not invalid as well.
		{func(l *fault.List) { l.AddConflictf("c", "is closed"); l.Addf("c", "is wrong") }, fault.Conflict, "is closed: c is closed"},
		{func(l *fault.List) { _ = l.MergeMissing(fault.Missing("tag"), "tag_id") }, fault.NotFound, "tag not found: tag_id not found"},
		{func(l *fault.List) { _ = l.Merge(fault.MissingAt("tag", "b")); l.Addf("a", "is wrong") }, fault.Invalid,
			"the request is not valid: a is wrong; b not found"},
	} {
		var l fault.List
		if c.add(&l); fault.KindOf(l.Err()) != c.kind || l.Err().Error() != c.text || l.Empty() {
			t.Errorf("%v: %v, want %v: %s", fault.KindOf(l.Err()), l.Err(), c.kind, c.text)
		}
	}
}

func TestAListLeavesOutWhatMayFollowFromItsFaults(t *testing.T) {
	t.Parallel()
	later := fault.List{}
	for _, field := range []string{"lines", "lines[0].amount", "lines[0].amount.x", "lines[1].amount", "lines_total", "memo"} {
		later.Addf(field, "is wrong")
	}
	known := fault.List{}
	known.Addf("lines[0].amount", "is no decimal")
	want := "the request is not valid: lines[0].amount is no decimal; lines[1].amount is wrong; lines_total is wrong; memo is wrong"
	if got := known.With(later.Err()); got.Error() != want {
		t.Errorf("%v\nwant %s", got, want)
	}
	conflict := fault.Conflictf("no")
	if known.With(conflict) == conflict || new(fault.List).With(conflict) != conflict || new(fault.List).With(nil) != nil {
		t.Error("an empty list must return the error as it is, and another one its faults")
	}
}

func TestChoicesAreListedInWords(t *testing.T) {
	t.Parallel()
	for want, all := range map[string][]string{"": nil, "a": {"a"}, "a or b": {"a", "b"}, "a, b or c": {"a", "b", "c"}} {
		if got := fault.Choices(all); got != want {
			t.Errorf("%v is listed as %q, want %q", all, got, want)
		}
	}
}

func TestRenameFieldNamesAFieldAsItWasSent(t *testing.T) {
	t.Parallel()
	var l fault.List
	l.Addf("type", "is wrong")
	l.Addf("type.x", "is wrong")
	l.Addf("types", "is wrong")
	got := fault.RenameField(l.Err(), "type", "kind").Error()
	if got != "the request is not valid: kind is wrong; kind.x is wrong; types is wrong" {
		t.Error(got)
	}
	if fault.RenameField(nil, "a", "b") != nil {
		t.Error("nothing became an error")
	}
}
