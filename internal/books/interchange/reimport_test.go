package interchange_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/books/interchange"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/rules/notation"
)

// auditEnd returns the end of the organization's audit log: while it stays the same, nothing has changed.
func (w *world) auditEnd() (state orgstate.State) {
	w.t.Helper()
	w.read(func(ctx context.Context, tx *db.Tx) (err error) {
		state, err = orgstate.Read(ctx, tx)
		return err
	})
	return state
}

// untouched fails the test if do changes the books.
func (w *world) untouched(what string, do func()) {
	w.t.Helper()
	before := w.auditEnd()
	do()
	if after := w.auditEnd(); after != before {
		w.t.Errorf("%s: the books have changed: %+v, before %+v", what, after, before)
	}
}

func TestImportingBooksIntoThemselvesAddsNothing(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		w := oddBooks(t, s)
		for _, y := range ways {
			if y.name == "bean-report print" {
				continue // beancount computes with fewer digits than these books have
			}
			text := w.export(y.format, exportAll)
			entries := len(w.content(true).entries)
			if y.through != nil {
				text = run(t, text, y.through[0], y.through[1:]...)
			}
			w.untouched(y.name, func() {
				if done := w.importText(y.format, text); done != (interchange.Imported{Known: entries}) {
					t.Errorf("%s: it says %+v of %d entries", y.name, done, entries)
				}
			})
			there := w.emptyCopy(t)
			there.importText(y.format, text)
			there.untouched(y.name+", elsewhere", func() { there.importText(y.format, text) })
		}
	})
}

// manyEntries creates books with more entries than one batch, the first corrected at the end and another reversed on an
// earlier date.
func manyEntries(t rapid.TB, s *apitest.Service) *world {
	t.Helper()
	w := newWorld(t, s, "UTC", company{"Acme", "USD"})
	var all []journal.Guided
	for n := range 2 {
		batch := make([]journal.CreateParams, 300)
		for i := range batch {
			amount := fmt.Sprintf("%d.%02d", 300*n+i+1, i%100)
			batch[i] = journal.CreateParams{AccountingDate: fmt.Sprintf("2025-%02d-%02d", 1+i%12, 1+i%28),
				Memo: fmt.Sprint("entry ", 300*n+i), Status: journal.Posted, OriginatedBy: journal.ByHand,
				Lines: []journal.LineParams{w.line("Dr 1010 " + amount), w.line("Cr 4010 " + amount)}}
		}
		made, err := w.App.Journal.CreateBatch(w.ctx, batch)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, made...)
	}
	memo := "again"
	for range 2 {
		after, err := w.App.Journal.Correct(w.ctx, all[0].ID, journal.UpdateParams{Memo: &memo})
		if err != nil {
			t.Fatal(err)
		}
		all[0] = after
	}
	for _, e := range []journal.Guided{all[300], all[599]} {
		if _, err := w.App.Journal.Reverse(w.ctx, e.ID, journal.ReverseParams{AccountingDate: "2024-12-31"}); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// splitEntries splits an hledger journal into its entries, without the text before and after them.
func splitEntries(text string) (out []string) {
	for _, block := range strings.Split(text, "\n\n") {
		if strings.HasPrefix(block, "20") {
			out = append(out, block+"\n")
		}
	}
	return out
}

func TestChainsAreRestoredInWhateverOrderTheyAreRead(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		w := manyEntries(t, s)
		want := w.content(true)
		entries := splitEntries(w.export(notation.Hledger, exportAll))
		if len(entries) != len(want.entries) {
			t.Fatalf("%d entries of %d", len(entries), len(want.entries))
		}
		backwards := slices.Clone(entries)
		slices.Reverse(backwards)
		for name, order := range map[string][]string{"as they are": entries, "backwards": backwards} {
			there := w.emptyCopy(t)
			there.importText(notation.Hledger, strings.Join(order, "\n"))
			same(t, name, there.content(true), want)
		}
	})
}

func TestEntriesThatFollowAMissingEntryAreIndependent(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		w := manyEntries(t, s)
		entries := splitEntries(w.export(notation.Hledger, exportAll))
		entries = slices.DeleteFunc(entries, func(e string) bool { return strings.Contains(e, "(JE-1)") })
		there := w.emptyCopy(t)
		if done := there.importText(notation.Hledger, strings.Join(entries, "\n")); done.Entries != len(entries) {
			t.Errorf("%+v of %d", done, len(entries))
		}
		var origins []string
		there.read(func(ctx context.Context, tx *db.Tx) error {
			return journal.Each(ctx, tx, func(e journal.Entry, _ int64) error {
				if strings.HasPrefix(e.Memo, "Reversal of JE-1:") || e.Memo == "again" || strings.HasSuffix(e.Memo, ": again") {
					origins = append(origins, fmt.Sprintf("%s %t %t", e.OriginatedBy, e.PreviousID != "", e.NextID != ""))
				}
				return nil
			})
		})
		slices.Sort(origins)
		// The reversal of the missing entry and its replacement are imported as independent entries; the chain of the
		// replacement is kept.
		if want := []string{"correction true false", "import false false", "import false true",
			"reversal true true"}; !slices.Equal(origins, want) {
			t.Errorf("%q", origins)
		}
		// The original, imported later, is independent too: its chain is not restored.
		whole := w.export(notation.Hledger, exportAll)
		if done := there.importText(notation.Hledger, whole); done.Entries != 1 || done.Known != len(entries) {
			t.Errorf("%+v", done)
		}
	})
}

func TestAnEntryThatIsReversedAlreadyIsNotReversedOnceMore(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		w := newWorld(t, s, "UTC", company{"Acme", "USD"})
		e := w.post(journal.CreateParams{AccountingDate: "2025-01-01", Lines: []journal.LineParams{w.line("Dr 1010 5"), w.line("Cr 4010 5")}})
		there := w.emptyCopy(t)
		there.importText(notation.Hledger, w.export(notation.Hledger, exportAll))
		for _, each := range []*world{w, there} {
			if _, err := each.App.Journal.Reverse(each.ctx, e.ID, journal.ReverseParams{}); err != nil {
				t.Fatal(err)
			}
		}
		there.refuses(t, w.export(notation.Hledger, exportAll), "books:", "is a reversal of "+e.ID, "remove its tag")
	})
}

func TestAJournalWithoutIDsIsThereOnceHoweverOftenItIsImported(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		w := newWorld(t, s, "UTC", company{"Acme", "USD"}, company{"Other", "USD"})
		const fee = "2025-01-02 fee\n  Expenses:Rent  5.00 USD\n  Assets:Bank\n\n"
		january := fee + "2025-01-03 (R-7) rent  ; id:foreign\n  Expenses:Rent  100.00 USD\n  Assets:Bank\n\n" + fee
		both := january + "2025-02-02 fee\n  Expenses:Rent  5.00 USD\n  Assets:Bank\n"
		for _, c := range []struct {
			what, text, legalEntity string
			entries, known          int
		}{
			{"the first time", january, "Acme", 3, 0}, // the fee twice, because the file has it twice
			{"again", january, "Acme", 0, 3},
			{"with another month", both, "Acme", 1, 3},
			{"with one more of the same fee", both + "\n" + fee, "Acme", 1, 4},
			{"for another legal entity", january, "Other", 3, 0},
		} {
			done, err := w.tryImport(interchange.ImportParams{Format: notation.Hledger, LegalEntity: c.legalEntity}, c.text)
			if err != nil || done.Entries != c.entries || done.Known != c.known {
				t.Errorf("%s: %+v %v", c.what, done, err)
			}
		}
	})
}

func TestOneIDForTwoEntriesIsRefused(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		w := manyEntries(t, s)
		entries := splitEntries(w.export(notation.Hledger, exportAll))
		there := w.emptyCopy(t)
		there.refuses(t, strings.Join(append(slices.Clone(entries[:10]), entries[3]), "\n"),
			"books:51: another entry of this file has the id je_")
		there.refuses(t, strings.Join(append(slices.Clone(entries[:550]), entries[3]), "\n"), "another entry of this file has the id je_")
		there.refuses(t, strings.Replace(entries[599+2], "previous:", "previous:je_01hzx3v7k8q2m4n6p8r0s2t4v6, x:", 1)+"\n"+
			strings.Replace(entries[0], "id:",
				"id:je_01hzx3v7k8q2m4n6p8r0s2t4v6, previous:je_01hzx3v7k8q2m4n6p8r0s2t4v6, originated-by:reversal, y:", 1), "follows itself")
	})
}

// refuses fails the test unless the import of a journal fails with these texts and changes nothing.
func (w *world) refuses(t rapid.TB, text string, says ...string) {
	t.Helper()
	w.refusesOf(t, interchange.ImportParams{}, text, says...)
}

func (w *world) refusesOf(t rapid.TB, p interchange.ImportParams, text string, says ...string) {
	t.Helper()
	w.untouched(text[:min(len(text), 200)], func() {
		done, err := w.tryImport(p, text)
		if err == nil {
			t.Errorf("it is taken: %+v\n%.400s", done, text)
			return
		}
		for _, part := range says {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("it does not say %q:\n%s\n%.400s", part, err, text)
			}
		}
	})
}

// faulty reads a journal and calls a function the first time it reaches a position.
type faulty struct {
	*strings.Reader
	reads int
	at    int
	do    func() error
}

func (f *faulty) Read(b []byte) (int, error) {
	if f.reads++; f.reads == f.at {
		if err := f.do(); err != nil {
			return 0, err
		}
	}
	return f.Reader.Read(b[:min(len(b), 4096)])
}

func TestACanceledImportChangesNothing(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		w := manyEntries(t, s)
		text := w.export(notation.Hledger, exportAll)
		passes := len(text) / 4096
		there := w.emptyCopy(t)
		for _, at := range []int{1, passes / 2, passes + passes/2, 2*passes + 2} {
			there.untouched(fmt.Sprint("after ", at, " reads"), func() {
				ctx, leave := context.WithCancel(there.ctx)
				defer leave()
				r := &faulty{Reader: strings.NewReader(text), at: at, do: func() error { leave(); return nil }}
				if done, err := s.App.Exchange.Import(ctx, interchange.ImportParams{Format: notation.Hledger, Name: "books"},
					r); !errors.Is(err, context.Canceled) {
					t.Errorf("after %d of %d reads: %+v %v", at, r.reads, done, err)
				}
			})
		}
		there.importText(notation.Hledger, text)
	})
}

func TestARetriedTransactionReadsTheJournalFromItsStart(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		w := manyEntries(t, s)
		text := w.export(notation.Hledger, exportAll)
		passes := len(text) / 4096
		there := w.emptyCopy(t)
		asked := 0
		r := &faulty{Reader: strings.NewReader(text), at: passes + passes*3/4, do: func() error {
			asked++
			if s.App.DB.Engine() == db.SQLite {
				return nil // SQLite never retries
			}
			return db.ErrRetry
		}}
		done, err := s.App.Exchange.Import(there.ctx, interchange.ImportParams{Format: notation.Hledger, Name: "books"}, r)
		if err != nil || asked != 1 {
			t.Fatal(done, err, asked)
		}
		same(t, "again", there.content(true), w.content(true))
	})
}

func TestAReadErrorChangesNothing(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		w := manyEntries(t, s)
		text := w.export(notation.Hledger, exportAll)
		there := w.emptyCopy(t)
		for _, at := range []int{1, len(text) / 4096 * 7 / 4} {
			there.untouched("a broken disk", func() {
				r := &faulty{Reader: strings.NewReader(text), at: at, do: func() error { return io.ErrUnexpectedEOF }}
				if _, err := s.App.Exchange.Import(there.ctx, interchange.ImportParams{Format: notation.Hledger, Name: "books"},
					r); !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Error(err)
				}
			})
		}
	})
}

func TestADryRunChangesNothingAndReportsWhatWouldBeImported(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		w := oddBooks(t, s)
		for _, format := range notation.Formats {
			there, text := w.emptyCopy(t), w.export(format, exportAll)
			var tried interchange.Imported
			there.untouched(string(format), func() {
				var err error
				if tried, err = there.tryImport(interchange.ImportParams{Format: format, Dry: true}, text); err != nil {
					t.Fatal(err)
				}
			})
			if done := there.importText(format, text); done != tried || done.Entries == 0 {
				t.Errorf("%s: tried %+v, done %+v", format, tried, done)
			}
		}
	})
}

func TestEntriesCanBePostedDuringAnImport(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		w := manyEntries(t, s)
		text := w.export(notation.Hledger, exportAll)
		there := w.emptyCopy(t)
		var work sync.WaitGroup
		one := journal.CreateParams{AccountingDate: "2025-06-01", Lines: []journal.LineParams{there.line("Dr 1010 1"), there.line("Cr 4010 1")}}
		for range 4 {
			work.Go(func() {
				for range 10 {
					there.post(one)
				}
			})
		}
		work.Go(func() { there.importText(notation.Hledger, text) })
		work.Go(func() { there.importText(notation.Hledger, text) })
		work.Wait()
		if n := len(there.content(true).entries); n != len(w.content(true).entries)+40 {
			t.Errorf("%d entries", n)
		}
	})
}

func TestProgressGoesFromTheFirstEntryToTheLast(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		w := manyEntries(t, s)
		draft := w.post(journal.CreateParams{AccountingDate: "2025-06-01", Status: journal.Draft,
			Lines: []journal.LineParams{w.line("Dr 1010 1"), w.line("Cr 4010 1")}})
		if err := w.App.Journal.Delete(w.ctx, draft.ID); err != nil {
			t.Fatal(err)
		}
		var last, all int64
		tell := func(done, total int64) {
			if done < last || done > total || all != 0 && total != all {
				t.Errorf("%d of %d after %d of %d", done, total, last, all)
			}
			last, all = done, total
		}
		text := w.export(notation.Hledger, interchange.ExportParams{Progress: tell})
		if last != all || last == 0 {
			t.Errorf("the export ended at %d of %d", last, all)
		}
		last, all = 0, 0
		if _, err := w.emptyCopy(t).tryImport(interchange.ImportParams{Progress: tell}, text); err != nil || last != all || last != 606 {
			t.Errorf("the import ended at %d of %d: %v", last, all, err)
		}
	})
}
