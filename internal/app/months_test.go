package app_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

func TestARunningServiceCreatesTheNextPeriod(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		now := clock.NewManual(time.Date(2026, 3, 15, 12, 0, 0, 0, time.UTC))
		c.Clock = now
		a := app.New(dbtest.Open(t, c), nil)
		f, err := a.Org.Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com", Currency: "USD", Timezone: "UTC"})
		if err != nil {
			t.Fatal(err)
		}
		now.Advance(16 * 24 * time.Hour)
		ctx, stop := context.WithCancel(t.Context())
		var work sync.WaitGroup
		work.Go(func() {
			if err := a.Work(ctx); err != nil {
				t.Error(err)
			}
		})
		defer work.Wait()
		defer stop()
		for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
			var all []period.Period
			err := a.DB.Read(t.Context(), f.Organization.ID, func(ctx context.Context, tx *db.Tx) (err error) {
				all, err = period.All(ctx, tx)
				return err
			})
			if err != nil || time.Now().After(deadline) {
				t.Fatalf("%d months, %v", len(all), err)
			}
			if len(all) == 2 && all[1].Key == "2026-04" {
				return
			}
		}
	})
}

func TestAnOrganizationThatFailsDoesNotKeepOthersFromTheirNextPeriod(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		now := clock.NewManual(time.Date(2026, 3, 15, 12, 0, 0, 0, time.UTC))
		c.Clock = now
		a := app.New(dbtest.Open(t, c), nil)
		var ids []string
		for _, name := range []string{"damaged", "sound"} {
			f, err := a.Org.Create(t.Context(), organization.CreateParams{Name: name, Email: name + "@example.com", Currency: "USD",
				Timezone: "UTC"})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, f.Organization.ID)
		}
		err := a.DB.WriteAcross(t.Context(), "a test does damage", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "UPDATE organizations SET timezone = 'Nowhere/Nowhere' WHERE organization_id = ?", ids[0])
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		now.Advance(16 * 24 * time.Hour)
		if err := period.CreateNextMonths(t.Context(), a.DB); err == nil || !strings.Contains(err.Error(), ids[0]) {
			t.Errorf("the error does not name the organization that failed: %v", err)
		}
		err = a.DB.Read(t.Context(), ids[1], func(ctx context.Context, tx *db.Tx) error {
			all, err := period.All(ctx, tx)
			if len(all) != 2 || all[1].Key != "2026-04" {
				t.Errorf("the sound organization has %v", all)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}
