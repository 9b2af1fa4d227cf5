package integration_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/provider/ledgertest"
)

// posted are the entries of a journey.
type posted struct {
	sale, foreign, tagged, large, german client.JournalEntry
	values                               []string // the values of dimensions that stand for the tags
}

// post posts entries of several kinds: in another currency than that of the books, with tags, with an amount that no float holds, and of a
// legal entity with another base currency.
func (j *journey) post() (p posted) {
	j.Helper()
	ctx := j.T.Context()
	_, err := j.Client.StoreFXRates(ctx, []client.StoreFXRate{{BaseCurrency: "EUR", QuoteCurrency: "USD", Date: "2026-01-15", Rate: "1.25"}})
	j.must(err)
	for n, d := range j.fake.Books().Dimensions {
		for v, err := range j.Client.GLDimensions(ctx, nil) {
			j.must(err)
			if v.ExternalID != d.Values[0].ID || v.DimensionName != d.Name {
				continue
			}
			tag := j.AddTag(j.T, []string{"#first", "#second"}[n])
			_, err := j.Client.SetGLTagMapping(ctx, tag, client.SetGLTagMapping{DimensionID: &v.DimensionID, ValueID: &v.ValueID})
			j.must(err)
			p.values = append(p.values, v.Name)
		}
	}
	if len(p.values) != 2 {
		j.Fatalf("%d dimensions are mapped", len(p.values))
	}
	j.Draft(j.T, "2026-01-15", apitest.Sale)
	p.sale = j.Post(j.T, "2026-01-15", apitest.Sale)
	foreign := j.Entry("2026-01-15", "posted", "Dr 1010 99.30 EUR; Dr 6210 0.70 EUR; Cr 4010 100.00 EUR")
	foreign.Memo = "Verkauf über Düsseldorf — 売上"
	foreign.Lines[1].Memo = "Gebühr"
	p.foreign = j.Create(j.T, foreign)
	tagged := j.Entry("2026-01-16", "posted", "Dr 1010 5.00; Cr 4010 5.00 #second")
	tagged.TagIDs = []string{j.Names["#first"]}
	p.tagged = j.Create(j.T, tagged)
	p.large = j.Post(j.T, "2026-01-31", "Dr 1010 12345678901234567.89; Cr 4010 12345678901234567.89")
	j.AddEntity(j.T, "DE", "EUR")
	p.german = j.PostTo(j.T, j.Names["DE"], "2026-01-15", "Dr 1010 7.00 EUR DE; Cr 4010 7.00 EUR DE")
	return p
}

// us is a run over the legal entity whose base currency is that of the general ledger.
func (j *journey) us() client.CreateGLSyncRun {
	return client.CreateGLSyncRun{LegalEntityIDs: []string{j.LegalEntity.ID}}
}

// arrived requires that all entries of the legal entity with the currency of the general ledger are there once and as they were posted.
func (j *journey) arrived(p posted) {
	j.Helper()
	j.stands(p.sale, "USD", "Dr 1010 100", "Cr 4010 100")
	j.stands(p.foreign, "USD", "Dr 1010 124.12", "Dr 6210 0.88 | Gebühr", "Cr 4010 125")
	j.stands(p.tagged, "USD", "Dr 1010 5 | "+p.values[0], "Cr 4010 5 | "+p.values[0]+" | "+p.values[1])
	j.stands(p.large, "USD", "Dr 1010 12345678901234567.89", "Cr 4010 12345678901234567.89")
}

func TestEveryGeneralLedgerGetsEachEntryOnce(t *testing.T) {
	eachSystem(t, func(j *journey) {
		p := j.post()
		dry := j.run(client.CreateGLSyncRun{DryRun: true, LegalEntityIDs: []string{j.LegalEntity.ID}})
		j.completes("dry run", dry, "JE-2 create planned", "JE-3 create planned", "JE-4 create planned", "JE-5 create planned")
		if dry.Counts["create"] != 4 || len(dry.Totals) != 1 || dry.Totals[0] != (client.GLSyncTotal{Currency: "USD",
			Amount: "12345678901234797.89"}) || len(dry.Blockers) != 0 || j.entries() != 0 {
			j.Errorf("%d entries, %s", j.entries(), apitest.JSON(j.T, dry))
		}
		j.completes("first run", j.run(j.us()), "JE-2 create succeeded", "JE-3 create succeeded", "JE-4 create succeeded",
			"JE-5 create succeeded")
		j.arrived(p)
		j.other(p.german)
		j.completes("second run", j.run(j.us()))
		reversal, err := j.Client.ReverseJournalEntry(j.T.Context(), p.foreign.ID, client.ReverseJournalEntry{})
		j.must(err)
		j.completes("reversal", j.run(j.us()), reversal.SequenceNumber+" create succeeded")
		j.stands(reversal, "USD", "Cr 1010 124.12", "Cr 6210 0.88 | Gebühr", "Dr 4010 125")
		j.arrived(p)
	})
}

// other sends an entry of a legal entity with another base currency than the general ledger, if that takes journals in others.
func (j *journey) other(e client.JournalEntry) {
	j.Helper()
	r := j.run(client.CreateGLSyncRun{JournalEntryIDs: []string{e.ID}})
	if j.fake.Books().Foreign {
		j.completes("another base currency", r, e.SequenceNumber+" create succeeded")
		j.stands(e, "EUR", "Dr 1010 7", "Cr 4010 7")
		return
	}
	if r.Status != "blocked" || len(r.Blockers) != 1 || r.Blockers[0].Code != "other_currency" || !r.Blockers[0].StopsRun ||
		len(j.there(e)) != 0 {
		j.Errorf("another base currency: %s", apitest.JSON(j.T, r))
	}
}

// sales posts entries of January 2026, of 100.50, 101.50 and so on.
func (j *journey) sales(n int) []client.JournalEntry {
	j.Helper()
	all := make([]client.CreateJournalEntry, n)
	for i := range all {
		all[i] = j.Entry("2026-01-15", "posted", fmt.Sprintf("Dr 1010 %d.50; Cr 4010 %d.50", 100+i, 100+i))
	}
	out, err := j.Client.CreateJournalEntries(j.T.Context(), all)
	j.must(err)
	return out
}

// done returns the result of each of some entries in a run.
func done(result string, all ...client.JournalEntry) (out []string) {
	for _, e := range all {
		out = append(out, e.SequenceNumber+" "+result)
	}
	return out
}

func TestEveryGeneralLedgerIsCheckedAndCorrected(t *testing.T) {
	eachSystem(t, func(j *journey) {
		ctx := j.T.Context()
		all := j.sales(5)
		j.completes("first run", j.run(client.CreateGLSyncRun{}), done("create succeeded", all...)...)
		date, amount, gone := j.there(all[0])[0], j.there(all[1])[0], j.there(all[2])[0]
		j.change(func(*ledgertest.Books) {
			date.Date, gone.Gone = "2026-01-20", true
			amount.Lines[0].Amount, amount.Lines[1].Amount = money.MustParse("7"), money.MustParse("7")
			for _, e := range []*ledgertest.Entry{date, amount, gone} {
				e.Version++
				e.Changed = time.Now()
			}
		})
		j.completes("check", j.run(client.CreateGLSyncRun{Check: true}), "JE-1 check changed date", "JE-2 check changed lines",
			"JE-3 check missing", "JE-4 check equal", "JE-5 check equal")
		j.completes("what is missing", j.run(client.CreateGLSyncRun{}), "JE-3 create succeeded")
		j.stands(all[2], "USD", "Dr 1010 102.5", "Cr 4010 102.5")
		for _, e := range all[:4] { // also those that were changed there
			_, err := j.Client.UnpostJournalEntry(ctx, e.ID)
			j.must(err)
		}
		_, err := j.Client.UpdateJournalEntry(ctx, all[3].ID, client.UpdateJournalEntry{AccountingDate: new("2026-02-03")})
		j.must(err)
		all[3], err = j.Client.PostJournalEntry(ctx, all[3].ID)
		j.must(err)
		j.completes("undone", j.run(client.CreateGLSyncRun{}), append(done("remove succeeded", all[:3]...), "JE-4 replace succeeded")...)
		j.stands(all[3], "USD", "Dr 1010 103.5", "Cr 4010 103.5")
		if e := j.Find(j.T, all[0].ID); e.IsSync || e.LastUnsyncedAt == nil || j.entries() != 2 {
			j.Errorf("%d journals, %v %v", j.entries(), e.IsSync, e.LastUnsyncedAt)
		}
		again, err := j.Client.PostJournalEntry(ctx, all[0].ID)
		j.must(err)
		j.completes("posted again", j.run(client.CreateGLSyncRun{}), "JE-1 create succeeded")
		j.stands(again, "USD", "Dr 1010 100.5", "Cr 4010 100.5")
		j.completes("check", j.run(client.CreateGLSyncRun{Check: true}), "JE-1 check equal", "JE-4 check equal", "JE-5 check equal")
		j.locks(all[4])
	})
}

// locks closes the periods of an entry that was sent, which then stays there, and to which no other is added.
func (j *journey) locks(sent client.JournalEntry) {
	j.Helper()
	ctx := j.T.Context()
	late, next := j.Post(j.T, "2026-01-31", apitest.Sale), j.Post(j.T, "2026-02-01", apitest.Sale)
	_, err := j.Client.UnpostJournalEntry(ctx, sent.ID)
	j.must(err)
	j.change(func(l *ledgertest.Books) { l.LockedThrough = "2026-01-31" })
	if dry := j.run(client.CreateGLSyncRun{DryRun: true}); !j.untold && (len(dry.Blockers) != 1 || dry.Blockers[0].Code != "locked_period" ||
		dry.Blockers[0].Count != 2 || dry.Blockers[0].StopsRun) {
		j.Errorf("locked: %s", apitest.JSON(j.T, dry))
	}
	j.completes("locked", j.run(client.CreateGLSyncRun{}), done("create failed", late)[0], done("remove failed", sent)[0],
		done("create succeeded", next)[0])
	if e := j.Find(j.T, late.ID); e.IsSync || e.LatestGLSyncAttempt.Error == nil || *e.LatestGLSyncAttempt.Error == "" ||
		len(j.there(late)) != 0 || len(j.there(sent)) != 1 || !j.Find(j.T, sent.ID).IsSync {
		j.Errorf("locked: %s", apitest.JSON(j.T, e))
	}
	j.change(func(l *ledgertest.Books) { l.LockedThrough = "" })
	j.completes("reopened", j.run(client.CreateGLSyncRun{}), done("create succeeded", late)[0], done("remove succeeded", sent)[0])
	j.stands(late, "USD", "Dr 1010 100", "Cr 4010 100")
}

func TestTokensOfEveryGeneralLedgerAreRenewedWhileEntriesAreSent(t *testing.T) {
	eachSystem(t, func(j *journey) {
		tokens := j.fake.Tokens()
		if tokens == nil {
			j.Skip("there are no tokens")
		}
		all := j.sales(20)
		for request, lifetime := range map[int]time.Duration{2: time.Hour, 16: 50 * time.Second, 50: time.Hour} {
			j.server.BeforeRequest(request, func() { // a token is renewed a minute before its end
				j.change(func(*ledgertest.Books) {
					tokens.Lifetime = lifetime
					tokens.Expire()
				})
			})
		}
		issued := func() (n int) {
			j.change(func(*ledgertest.Books) { n = tokens.Issued })
			return n
		}
		before := issued()
		j.completes("run", j.run(client.CreateGLSyncRun{}), done("create succeeded", all...)...)
		for n, e := range all {
			j.stands(e, "USD", fmt.Sprintf("Dr 1010 %d.5", 100+n), fmt.Sprintf("Cr 4010 %d.5", 100+n))
		}
		if n := issued() - before; n < 4 {
			j.Errorf("%d tokens were issued", n)
		}
		before = issued()
		if j.completes("second run", j.run(client.CreateGLSyncRun{})); issued() != before {
			j.Errorf("the last token was not kept: %d were issued", issued()-before)
		}
	})
}

func TestAccessToEveryGeneralLedgerThatWasWithdrawnIsGrantedAgain(t *testing.T) {
	eachSystem(t, func(j *journey) {
		all := j.sales(12)
		j.server.BeforeRequest(14, func() { j.server.Revoke(true) })
		r := j.run(client.CreateGLSyncRun{})
		if r.Status != "failed" || r.ErrorMessage == nil || r.Counts["succeeded"] == 12 {
			j.Errorf("withdrawn: %s %q", apitest.JSON(j.T, r), j.results(r))
		}
		before := j.connection
		if c := j.Sync(j.T, before.ID); c.Status != "needs_reauthorization" || c.ErrorMessage == nil {
			j.Errorf("%+v", c)
		}
		if tokens := j.fake.Tokens(); tokens != nil && tokens.Refused > 3 {
			j.Errorf("%d requests for a token were made and refused", tokens.Refused)
		}
		_, err := j.Client.CreateGLSyncRun(j.T.Context(), client.CreateGLSyncRun{})
		apitest.WantConflict(j.T, err, "refuses the credentials")
		j.server.Revoke(false)
		if j.connect(); j.connection.ID != before.ID || *j.connection.ExternalAccountID != *before.ExternalAccountID {
			j.Errorf("%+v, before %+v", j.connection, before)
		}
		if r := j.run(client.CreateGLSyncRun{}); r.Status != "completed" || j.entries() != 12 {
			j.Errorf("%d journals, %s", j.entries(), apitest.JSON(j.T, r))
		}
		for n, e := range all {
			j.stands(e, "USD", fmt.Sprintf("Dr 1010 %d.5", 100+n), fmt.Sprintf("Cr 4010 %d.5", 100+n))
		}
	})
}

func TestEveryGeneralLedgerThatIsDisconnectedGetsNothingMore(t *testing.T) {
	eachSystem(t, func(j *journey) {
		ctx := j.T.Context()
		all := j.sales(40)
		r, err := j.Client.CreateGLSyncRun(ctx, client.CreateGLSyncRun{})
		j.must(err)
		for n := range 300 {
			j.server.BeforeRequest(n+20, func() { time.Sleep(200 * time.Millisecond) }) // the general ledger is slow
		}
		j.server.BeforeRequest(20, func() {
			if c, err := j.Client.Disconnect(ctx, j.connection.ID); err != nil || c.Status != "disconnected" || c.RevocationError != nil {
				j.Errorf("%+v %v", c, err)
			}
		})
		if r = j.ends(r.ID); r.Status != "failed" || r.ErrorMessage == nil || !strings.Contains(*r.ErrorMessage, "disconnected") {
			j.Errorf("%s %q", apitest.JSON(j.T, r), j.results(r))
		}
		j.change(func(*ledgertest.Books) {
			if j.revoked != nil && !j.revoked(j.fake) {
				j.Error("the access has not ended")
			}
		})
		sent, requests := j.entries(), j.server.Requests()
		if sent > 35 {
			j.Errorf("%d of %d entries were sent", sent, len(all))
		}
		_, err = j.Client.CreateGLSyncRun(ctx, client.CreateGLSyncRun{})
		apitest.WantConflict(j.T, err, "no general ledger is connected")
		if j.entries() != sent || j.server.Requests() != requests {
			j.Errorf("%d entries and %d requests more", j.entries()-sent, j.server.Requests()-requests)
		}
		j.again(all)
	})
}

// again connects the general ledger anew and sends what is not there.
func (j *journey) again(all []client.JournalEntry) {
	j.Helper()
	for n := range 400 {
		j.server.BeforeRequest(n+1, nil)
	}
	j.connection, j.setUp = client.Connection{}, nil // the organization is set up still
	j.connect()
	j.mapAccounts()
	if r := j.run(client.CreateGLSyncRun{}); r.Status != "completed" || j.entries() != len(all) {
		j.Errorf("%d journals, %s", j.entries(), apitest.JSON(j.T, r))
	}
	for _, e := range all {
		if n := len(j.there(e)); n != 1 || !j.Find(j.T, e.ID).IsSync {
			j.Errorf("%s: %d journals", e.SequenceNumber, n)
		}
	}
}
