package explain

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
)

// key is where a line stands on its account.
func (l Line) key() []string {
	return []string{clock.Format(l.Date), strconv.FormatInt(l.Number, 10), strconv.FormatInt(l.Position, 10)}
}

// linePlaceOf reads what key wrote. A cursor is checked before, so that it is somebody's own doing if this fails.
func linePlaceOf(key []string) (*linePlace, error) {
	if key == nil {
		return nil, nil
	}
	var p linePlace
	var errs [3]error
	p.date, errs[0] = time.Parse(time.RFC3339, key[0])
	p.number, errs[1] = strconv.ParseInt(key[1], 10, 64)
	p.position, errs[2] = strconv.ParseInt(key[2], 10, 64)
	if errors.Join(errs[:]...) != nil {
		return nil, fault.Invalidf("cursor", "is not a cursor of this list")
	}
	return &p, nil
}

// list puts a page of lines beside the figure. Where credits add to it, their signs are turned.
func (i *inquiry) list(ctx context.Context, f lineFilter, credits bool) error {
	i.paged = true
	lines, err := page.List("explain", i.q, i.page, Line.key, func(after []string, limit int) ([]Line, error) {
		from, err := linePlaceOf(after)
		if err != nil {
			return nil, err
		}
		return selectLines(ctx, i.tx, f, from, limit)
	})
	for n := range lines.Items {
		if credits {
			lines.Items[n].Amount = lines.Items[n].Amount.Neg()
		}
	}
	i.out.Lines, i.out.HasMore, i.out.NextCursor = lines.Items, lines.HasMore, lines.NextCursor
	return err
}
