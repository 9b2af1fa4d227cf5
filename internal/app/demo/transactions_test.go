package demo_test

import (
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/app/demo"
	"github.com/bursarhq/bursar/internal/app/demo/activity"
	"github.com/bursarhq/bursar/internal/area/actor"
	"github.com/bursarhq/bursar/internal/area/txn"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

func TestTheDemoHasTransactionsOfWhichJustTheSpamIsSpamAndMostTransfersAreLinked(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		a := app.New(d, nil)
		f, err := demo.Found(t.Context(), a, t.Logf)
		if err != nil {
			t.Fatal(err)
		}
		ctx := actor.With(t.Context(), actor.Actor{OrganizationID: f.Organization.ID})
		truth := map[string]activity.Transaction{}
		zone, err := time.LoadLocation(f.Organization.Timezone)
		if err != nil {
			t.Fatal(err)
		}
		now := calendar.MonthOf(d.Clock().Now(), zone)
		for _, first := range []calendar.Month{now.Add(-activity.Months), now.Add(-activity.Months - 1)} { // the month may have turned meanwhile
			for _, x := range activity.Make(first).Transactions {
				truth[x.ExternalID+x.At.String()] = x
			}
		}
		seen, spam, linked, transfers := 0, 0, 0, 0
		p := txn.ListParams{Filter: txn.Filter{IncludeSpam: true}, Request: page.Request{Limit: page.LimitMax}}
		for {
			got, err := a.Transactions.List(ctx, p)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range got.Items {
				seen++
				real := truth[x.ExternalID+x.At.String()].Truth
				if real.Spam != (x.Status == txn.Spam) {
					t.Errorf("%s %s %q is %s: %+v", x.SequenceNumber(), x.Currency, x.Description, x.Status, x.Spam)
				}
				if real.Spam {
					spam++
				}
				if real.TransferGroup != "" {
					transfers++
				}
				if x.GroupID != "" {
					linked++
					if real.TransferGroup == "" {
						t.Errorf("%s is linked, but is no transfer", x.SequenceNumber())
					}
				}
			}
			if !got.HasMore {
				break
			}
			p.Cursor = got.NextCursor
		}
		if seen != activity.Count || spam == 0 || linked*10 < transfers*9 {
			t.Errorf("%d transactions, %d spam, %d of %d linked", seen, spam, linked, transfers)
		}
		found, err := a.Verify(t.Context(), nil)
		if err != nil || len(found) > 0 {
			t.Errorf("%v %v", found, err)
		}
	})
}
