package page

import (
	"slices"
	"strconv"
	"testing"
)

func TestAPageIsCutFromOneRowMoreThanItsLimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		rows   []int
		limit  int
		items  []int
		more   bool
		cursor string
	}{
		{"no rows", nil, 2, []int{}, false, ""},
		{"fewer rows", []int{1}, 2, []int{1}, false, ""},
		{"exactly the limit", []int{1, 2}, 2, []int{1, 2}, false, ""},
		{"one row more", []int{1, 2, 3}, 2, []int{1, 2}, true, "after 2"},
		{"many rows more", []int{1, 2, 3, 4}, 1, []int{1}, true, "after 1"},
	} {
		got := FromRows(c.rows, c.limit, func(row int) string { return "after " + strconv.Itoa(row) })
		if got.Items == nil || !slices.Equal(got.Items, c.items) || got.HasMore != c.more || got.NextCursor != c.cursor || got.TotalCount != nil {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestAppendingToAPageLeavesTheRowsAlone(t *testing.T) {
	t.Parallel()
	rows := []int{1, 2, 3}
	cut := FromRows(rows, 2, strconv.Itoa)
	_ = append(cut.Items, 99)
	if rows[2] != 3 {
		t.Errorf("the row cut off became %d", rows[2])
	}
}

func TestALimitBelowOnePanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if got := recover(); got != "page: limit 0, want at least 1" {
			t.Errorf("panic says %v", got)
		}
	}()
	FromRows([]int{1}, 0, strconv.Itoa)
}
