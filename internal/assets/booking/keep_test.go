package booking_test

import (
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/opening"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
)

func TestWhatHasLotsIsNotDeleted(t *testing.T) {
	withOwnEntities(t, func(t *testing.T, w *world) {
		a := w.source("A")
		if _, err := w.openings.Create(w.ctx, opening.CreateParams{
			AssetType: "ETH", Quantity: money.MustParse("1"), LegalEntityID: w.us, LedgerAccountID: a.LedgerAccountID, SourceID: a.ID,
			DateReceived: "2024-05-06",
		}); err != nil {
			t.Fatal(err)
		}
		// It cost nothing, so that nothing but the lot itself names them.
		if _, err := w.all.Delete(w.ctx, a.ID); fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "is in use by 1 asset") {
			t.Errorf("the source: %v", err)
		}
		if err := account.NewService(w.db).Delete(w.ctx, a.LedgerAccountID); fault.KindOf(err) != fault.Conflict ||
			!strings.Contains(err.Error(), "is used by 1 asset") {
			t.Errorf("the account: %v", err)
		}
	})
}
