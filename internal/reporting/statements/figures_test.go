package statements

import (
	"errors"
	"slices"
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/account"
)

func TestAStatementWithTooManyFiguresIsRefusedBeforeItIsRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		accounts, periods int
		params            Params
		want              []string
	}{
		{2000, 683, Params{}, []string{"start_date", "end_date"}},
		{2000, 51, Params{StartDate: "2020-01-01", EndDate: "2024-03-31"}, []string{"start_date", "end_date"}},
		{2000, 100, Params{FromInception: true, EndDate: "2024-03-31"}, []string{"from_inception", "end_date"}},
		{2000, 100, Params{PeriodIDs: []string{"ap_1", "ap_2"}}, []string{"accounting_period_ids"}},
		{2000, 50, Params{}, nil},
		{140, 683, Params{}, nil},
	} {
		r := &reading{chart: make([]account.Account, c.accounts), columns: make([]int, c.periods)}
		err := r.requireFewFigures(c.params)
		var blamed *fault.Error
		if !errors.As(err, &blamed) {
			if err != nil || c.want != nil {
				t.Errorf("%d accounts in %d periods: %v", c.accounts, c.periods, err)
			}
			continue
		}
		var names []string
		for _, f := range blamed.Fields {
			names = append(names, f.Name)
		}
		if blamed.Kind != fault.Invalid || !slices.Equal(names, c.want) {
			t.Errorf("%d accounts in %d periods: %v", c.accounts, c.periods, err)
		}
	}
}
