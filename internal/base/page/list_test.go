package page_test

import (
	"errors"
	"slices"
	"strconv"
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
)

func numbers(n, limit int, cursor string) (page.Page[int], error) {
	return page.List("numbers", nil, page.Request{Limit: limit, Cursor: cursor}, func(i int) []string { return []string{strconv.Itoa(i)} },
		func(after []string, limit int) (rows []int, err error) {
			from := 0
			if after != nil {
				if from, err = strconv.Atoi(after[0]); err != nil {
					return nil, err
				}
			}
			for i := from + 1; i <= n && len(rows) < limit; i++ {
				rows = append(rows, i)
			}
			return rows, nil
		})
}

func TestAListIsWalkedToItsEndWithoutLossOrRepeat(t *testing.T) {
	t.Parallel()
	for n := range 12 {
		var walked []int
		cursor := ""
		for {
			p, err := numbers(n, 3, cursor)
			if err != nil {
				t.Fatal(err)
			}
			walked = append(walked, p.Items...)
			if cursor = p.NextCursor; !p.HasMore {
				break
			}
		}
		want := make([]int, n)
		for i := range want {
			want[i] = i + 1
		}
		if !slices.Equal(walked, want) {
			t.Errorf("of %d: %v", n, walked)
		}
	}
}

func TestAListRefusesACursorThatIsNotItsOwnBeforeItReads(t *testing.T) {
	t.Parallel()
	other := page.Encode(page.Fingerprint("letters", nil), "1")
	long := page.Encode(page.Fingerprint("numbers", nil), "1", "2")
	for _, cursor := range []string{"x", other, long} {
		if _, err := numbers(5, 2, cursor); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q: %v", cursor, err)
		}
	}
	boom := errors.New("boom")
	_, err := page.List("x", nil, page.Request{Limit: 1}, func(string) []string {
		return []string{""}
	}, func([]string, int) ([]string, error) { return nil, boom })
	if !errors.Is(err, boom) {
		t.Errorf("%v", err)
	}
}

func TestAListByKeyBeginsWithTheFirstKeyAndContinuesAfterTheLast(t *testing.T) {
	t.Parallel()
	var asked []string
	cursor := ""
	for range 2 {
		p, err := page.ListByKey("letters", nil, page.Request{Limit: 1, Cursor: cursor}, "~", func(s string) string { return s },
			func(after string, limit int) ([]string, error) {
				asked = append(asked, after)
				return []string{"b", "a"}, nil
			})
		if err != nil {
			t.Fatal(err)
		}
		cursor = p.NextCursor
	}
	if want := []string{"~", "b"}; !slices.Equal(asked, want) {
		t.Errorf("the pages were read after %q, want %q", asked, want)
	}
}
