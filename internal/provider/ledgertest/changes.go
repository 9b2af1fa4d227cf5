package ledgertest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

func removes(w *world, _ Suite) {
	j, other := w.journal("4"), w.journal("4")
	p, stays := w.push(j), w.push(other)
	for range 2 {
		if err := w.connector.Remove(w.Context(), w.session(true), p); err != nil || w.stored(j.Key) != 0 {
			w.Errorf("%d stored, %v", w.stored(j.Key), err)
		}
		_, err := w.connector.Get(w.Context(), w.session(true), p.ID)
		w.refuses("removed", err, fault.NotFound)
		_, err = w.connector.Find(w.Context(), w.session(true), j)
		w.refuses("removed", err, fault.NotFound)
	}
	if _, err := w.connector.Get(w.Context(), w.session(true), stays.ID); err != nil || w.stored(other.Key) != 1 {
		w.Error(err)
	}
	for n := 1; n <= 3; n++ {
		for name, f := range failures {
			j := w.journal("6")
			p := w.push(j)
			w.FailAt(n, f)
			if err := w.connector.Remove(w.Context(), w.session(true), p); err != nil || w.stored(j.Key) != 0 {
				w.Errorf("%s at request %d: %d stored, %v", name, n, w.stored(j.Key), err)
			}
		}
	}
	j = w.journal("4")
	p = w.push(j)
	w.change(func(b *Books) {
		e := b.Keyed(j.Key)[0]
		e.Memo, e.Version, e.Changed = e.Memo+" (checked)", e.Version+1, e.Changed.Add(time.Hour)
	})
	w.BeforeRequest(2, func() { w.change(func(b *Books) { b.Entries[len(b.Entries)-1].Version++ }) })
	if err := w.connector.Remove(w.Context(), w.session(true), p); err != nil || w.stored(j.Key) != 0 {
		w.Errorf("changed before and while it was removed: %d stored, %v", w.stored(j.Key), err)
	}
	w.forget()
}

// storesAgain sends a journal that was removed again, while the system remembers the former request and when it has forgotten it.
func storesAgain(w *world, _ Suite) {
	j := w.journal("4")
	before := ""
	for i := range 4 {
		p := w.push(j)
		if p.ID == before || w.stored(j.Key) != 1 {
			w.Errorf("%d stored as %s after %s", w.stored(j.Key), p.ID, before)
		}
		if again := w.push(j); again.ID != p.ID || w.stored(j.Key) != 1 {
			w.Errorf("%d stored as %s after %s", w.stored(j.Key), again.ID, p.ID)
		}
		if before = p.ID; i == 2 {
			w.now.Advance(48 * time.Hour)
		}
		if err := w.connector.Remove(w.Context(), w.session(true), p); err != nil {
			w.Error(err)
		}
	}
}

func showsDrift(w *world, _ Suite) {
	j := w.journal("40", "2.5")
	p := w.push(j)
	before, err := w.connector.Get(w.Context(), w.session(true), p.ID)
	if err != nil {
		w.Fatal(err)
	}
	w.now.Advance(time.Hour)
	total := money.FromInt(53)
	w.change(func(b *Books) {
		e := b.Keyed(j.Key)[0]
		e.Lines[0].Amount, e.Lines[2].Amount = total.Sub(j.Lines[1].Amount), total
		e.Lines[1].Account = w.account("Loans")
		e.Date, e.Version, e.Changed = "2026-10-16", e.Version+1, w.now.Now()
	})
	j.Lines[0].Amount, j.Lines[2].Amount = total.Sub(j.Lines[1].Amount), total
	j.Lines[1].Account, j.Date = w.account("Loans"), "2026-10-16"
	got, err := w.connector.Get(w.Context(), w.session(true), p.ID)
	if err != nil || text(got.Journal) != text(j) {
		w.Errorf("%v: got\n%s\nwant\n%s", err, text(got.Journal), text(j))
	}
	if got.Version != "" && got.Version == before.Version {
		w.Errorf("the version stays %s", got.Version)
	}
	j.Date = "2026-10-15"
	if found, err := w.connector.Find(w.Context(), w.session(true), j); err != nil || found.ID != p.ID {
		w.Errorf("moved to the next day: %+v %v", found, err)
	}
	w.change(func(b *Books) { b.Keyed(j.Key)[0].Gone = true })
	_, err = w.connector.Get(w.Context(), w.session(true), p.ID)
	w.refuses("deleted", err, fault.NotFound)
	if err := w.connector.Remove(w.Context(), w.session(true), p); err != nil {
		w.Error(err)
	}
}

func waitsForLimits(w *world, s Suite) {
	for n := 1; n <= 3; n++ {
		w.FailAt(n, providertest.Status(http.StatusTooManyRequests, "Retry-After", "7", "{}"))
		j := w.journal("4")
		w.waited()
		w.push(j)
		if wait := w.waited(); wait < 7*time.Second || w.stored(j.Key) != 1 {
			w.Errorf("waited for %s after 429 with Retry-After: 7", wait)
		}
	}
	for name, f := range map[string]providertest.Failure{"429": providertest.Status(http.StatusTooManyRequests, "", "", "{}"),
		"the system's own": s.Busy} {
		if f == nil {
			continue
		}
		w.FailAt(1, f)
		w.push(w.journal("4"))
		if wait := w.waited(); wait < time.Second {
			w.Errorf("%s: waited for %s", name, wait)
		}
	}
	w.FailAt(1, providertest.Status(http.StatusTooManyRequests, "Retry-After", "3600", "{}"))
	_, err := w.connector.Push(w.Context(), w.session(true), w.journal("4"))
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Unavailable || f.RetryAfter != time.Hour {
		w.Errorf("an hour to wait: %v", err)
	}
}

// cutsTexts sends texts that are longer than the system allows. The key must stay readable.
func cutsTexts(w *world, _ Suite) {
	for _, long := range []string{strings.Repeat("a", 6000), strings.Repeat("🚀", 3000), strings.Repeat("é ", 2999) + "é",
		"line\nbreak\t\"quoted\" 'single' & <b> \\"} {
		j := w.journal("4")
		j.Memo, j.Lines[0].Memo, j.Number = long, long, "JE-"+strings.Repeat("1", 40)
		p := w.push(j)
		if again := w.push(j); again.ID != p.ID || w.stored(j.Key) != 1 {
			w.Errorf("%d stored: %q", w.stored(j.Key), long[:20])
		}
		got, err := w.connector.Get(w.Context(), w.session(true), p.ID)
		if err != nil || got.Journal.Key != j.Key || !cutOf(got.Journal.Memo, long) || !cutOf(got.Journal.Lines[0].Memo, long) {
			w.Errorf("%v: %q is %q and %q", err, long[:20], got.Journal.Memo, got.Journal.Lines[0].Memo)
		}
	}
	j := w.journal("4")
	j.Memo, j.Number, j.Lines[0].Memo = "", "", ""
	p := w.push(j)
	got, err := w.connector.Get(w.Context(), w.session(true), p.ID)
	if err != nil || text(got.Journal) != text(j) {
		w.Errorf("%v: got\n%s\nwant\n%s", err, text(got.Journal), text(j))
	}
	if again := w.push(j); again.ID != p.ID || w.stored(j.Key) != 1 {
		w.Error("a journal without texts is stored twice")
	}
}

// cutOf reports whether a text is another one, or its beginning with an ellipsis.
func cutOf(got, long string) bool {
	start, cut := strings.CutSuffix(got, "…")
	return got == long || cut && strings.HasPrefix(long, start) && len(start) > 20
}

func refusesWrongCredentials(w *world, s Suite) {
	fields := s.Wrong
	if fields == nil {
		for _, f := range w.connector.Describe().Fields {
			if f.Secret {
				fields = append(fields, f.Name)
			}
		}
	}
	for _, name := range fields {
		right := w.keeper.stored[name].Reveal()
		wrong := provider.Credentials{}
		for field, value := range w.keeper.stored {
			if field != provider.AccessToken {
				wrong[field] = value
			}
		}
		wrong[name] = secret.New("x" + right[1:len(right)/2] + "Q" + right[len(right)/2+1:])
		_, err := w.connector.Check(w.Context(), w.dialer.Open(wrong, true))
		w.refuses("Check with another "+name, err, fault.Unauthorized, fault.Invalid)
		_, err = w.connector.Push(w.Context(), w.dialer.Open(wrong, true), w.journal("4"))
		w.refuses("Push with another "+name, err, fault.Unauthorized, fault.Invalid)
	}
	if _, err := w.connector.Check(w.Context(), w.session(false)); err != nil {
		w.Error(err)
	}
}

func stopsWhenRevoked(w *world, _ Suite) {
	j := w.journal("4")
	w.BeforeRequest(2, func() { w.Revoke(true) })
	_, err := w.connector.Push(w.Context(), w.session(true), j)
	w.refuses("revoked", err, fault.Unauthorized)
	_, err = w.connector.Check(w.Context(), w.session(true))
	w.refuses("revoked", err, fault.Unauthorized)
	w.Revoke(false)
	w.push(j)
	if w.stored(j.Key) != 1 {
		w.Error("stored twice")
	}
}

// answersChanged is how many answers are changed.
const answersChanged = 300

// survivesNonsense changes values in answers. The connector must return an error or what makes sense.
func survivesNonsense(w *world, _ Suite) {
	random := rand.New(rand.NewPCG(1, 2))
	stays := w.push(w.journal("4"))
	for range answersChanged {
		seed := random.Uint64()
		w.FailAt(1+random.IntN(3), providertest.Nonsense(seed))
		before := w.Requests()
		j := w.journal("4.25")
		errs := map[string]error{}
		switch random.IntN(4) {
		case 0:
			_, errs["Chart"] = w.connector.Chart(w.Context(), w.session(false))
		case 1:
			var got provider.Posted
			if got, errs["Get"] = w.connector.Get(w.Context(), w.session(false), stays.ID); errs["Get"] == nil && got.ID == "" {
				w.Errorf("seed %d: %+v", seed, got)
			}
		case 2:
			_, errs["Find"] = w.connector.Find(w.Context(), w.session(false), j)
		default:
			_, errs["Push"] = w.connector.Push(w.Context(), w.session(false), j)
		}
		for name, err := range errs {
			if err != nil {
				w.refuses(fmt.Sprintf("%s, seed %d", name, seed), err, fault.Unavailable, fault.Conflict, fault.Unauthorized, fault.Forbidden,
					fault.NotFound)
			}
		}
		if n := w.Requests() - before; n > 100 {
			w.Fatalf("seed %d: %d requests", seed, n)
		}
		w.forget()
		if w.push(j); w.stored(j.Key) != 1 {
			w.Errorf("seed %d: %d stored", seed, w.stored(j.Key))
		}
	}
}
