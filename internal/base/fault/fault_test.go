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
		fault.RateLimitedFor(1):                         fault.RateLimited,
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
