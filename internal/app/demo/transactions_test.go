package demo_test

import (
	"testing"

	"github.com/bursarhq/bursar/internal/app/demo/activity"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

func (w *world) hasTransactions(t *testing.T) {
	spam, linked, transfers := 0, 0, 0
	for _, x := range w.transactions {
		real := w.of(x).Truth
		if real.Spam != (x.Status == transaction.Spam) {
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
	if len(w.transactions) != activity.Count || spam == 0 || linked*10 < transfers*9 {
		t.Errorf("%d transactions, %d spam, %d of %d linked", len(w.transactions), spam, linked, transfers)
	}
}

func (w *world) isBooked(t *testing.T) {
	drafts, pending, ruled, learned := 0, 0, 0, 0
	last := w.transactions[0].At // the latest come first
	for _, x := range w.transactions {
		if x.Status != transaction.Pending {
			continue
		}
		if x.JournalEntryID != "" {
			drafts++
		} else {
			pending++
		}
		if s := x.Suggested; s != nil && s.RuleID != "" {
			ruled++
		} else if s != nil {
			learned++
		}
		if last.Sub(x.At).Hours() > 6*24 {
			t.Errorf("%s %q of %s is not booked", x.SequenceNumber(), x.Description, x.At)
		}
	}
	if drafts < 3 || pending < 10 || pending > 60 {
		t.Errorf("%d wait as drafts and %d without an entry", drafts, pending)
	}
	if ruled < 2 || learned < 2 || ruled+learned < pending/2 {
		t.Errorf("of %d that wait rules know %d and precedents %d", pending, ruled, learned)
	}
}
