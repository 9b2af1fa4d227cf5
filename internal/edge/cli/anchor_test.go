package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// cutShort removes the last change of a log, a new key, with its record, its event and the end of the chain, so that what remains
// is consistent.
var cutShort = []string{
	"DELETE FROM api_keys WHERE api_key_id = " +
		"(SELECT resource_id FROM audit_log WHERE sequence = (SELECT audit_sequence FROM organization_state))",
	"DELETE FROM events WHERE audit_sequence = (SELECT audit_sequence FROM organization_state)",
	"DELETE FROM audit_log WHERE sequence = (SELECT audit_sequence FROM organization_state)",
	"UPDATE organization_state SET audit_sequence = audit_sequence - 1, event_sequence = event_sequence - 1, " +
		"audit_hash = (SELECT hash FROM audit_log WHERE sequence = audit_sequence - 1)",
}

func TestALogThatWasCutShortOrRewrittenIsFoundByAnAnchor(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		f := found(t, c)
		keep(t, c, f, 2)
		file := filepath.Join(t.TempDir(), "anchor.json")
		inside(on(c, "anchor", "--file", file)...).mustDo(t)
		if r := inside(on(c, "anchor", "--file", file)...); r.code != 1 || !strings.Contains(r.err, "exists already") {
			t.Errorf("an anchor was overwritten: %+v", r)
		}
		if r := inside(on(c, "verify", "--anchor", file)...).mustDo(t); !strings.Contains(r.out, "holds 1 anchor") {
			t.Errorf("%s", r.out)
		}
		keep(t, c, f, 1) // the log goes on, and still holds the anchor
		inside(on(c, "verify", "--anchor", filepath.Dir(file))...).mustDo(t)

		damage(t, c, cutShort...)
		inside(on(c, "verify", "--anchor", file)...).mustDo(t)
		damage(t, c, cutShort...)
		inside(on(c, "verify")...).mustDo(t)
		r := inside(on(c, "verify", "--anchor", file)...)
		if r.code != 1 || !strings.Contains(r.out, f.OrganizationID+": audit log: it ends at record") {
			t.Errorf("a log that was cut short: %+v", r)
		}
		keep(t, c, f, 1) // another record takes the place of the removed one
		inside(on(c, "verify")...).mustDo(t)
		r = inside(on(c, "verify", "--anchor", file)...)
		if r.code != 1 || !strings.Contains(r.out, "the log was rewritten at this record or before") {
			t.Errorf("a log that was rewritten: %+v", r)
		}
		damage(t, c, "DELETE FROM audit_log WHERE sequence = (SELECT audit_sequence FROM organization_state)")
		r = inside(on(c, "verify", "--anchor", file)...)
		if r.code != 1 || !strings.Contains(r.out, "is missing, but the anchor of") || strings.Contains(r.out, "it ends at record") {
			t.Errorf("a log without its last record: %+v", r)
		}
	})
}

func TestAFileThatIsNoAnchorIsNamedAndTheRestIsVerified(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		f := found(t, c)
		text := inside(on(c, "anchor")...).mustDo(t).out
		damage(t, c, "UPDATE api_keys SET last_four = 'abcd'")
		for name, wrong := range map[string]struct{ content, says string }{
			"empty":      {"", "it is empty"},
			"text":       {"Dear auditor", "it is not written by"},
			"json":       {`{"balance": 12}`, "it is not written by"},
			"incomplete": {`{"organization_id": "org_x"}`, "it lacks"},
			"another organization": {strings.ReplaceAll(text, f.OrganizationID, "org_01m7ex1624ezcs9eyj82ymzae2"),
				"org_01m7ex1624ezcs9eyj82ymzae2: the organization, Acme, is not in this database"},
		} {
			file := filepath.Join(t.TempDir(), "anchor.json")
			if err := os.WriteFile(file, []byte(wrong.content), 0o600); err != nil {
				t.Fatal(err)
			}
			r := inside(on(c, "verify", "--anchor", file)...)
			if r.code != 1 || !strings.Contains(r.out, wrong.says) || !strings.Contains(r.out, "last_four of api_keys") {
				t.Errorf("%s: %+v, want %q, and what else is wrong", name, r, wrong.says)
			}
		}
		if r := inside(on(c, "verify", "--anchor", t.TempDir())...); r.code != 1 || !strings.Contains(r.out, "there is nothing to compare") {
			t.Errorf("an empty folder: %+v", r)
		}
		if r := inside(on(c, "verify", "--anchor", "nowhere.json")...); r.code != 1 || !strings.Contains(r.err, "nowhere.json") {
			t.Errorf("a file that does not exist: %+v", r)
		}
	})
}

func TestVerifySinceChecksWhatChangedSinceAndSaysWhatItDidNot(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		f := found(t, c)
		keep(t, c, f, 3) // records 8 to 10
		for since, says := range map[string]string{
			"8": "2 audit records in 1 organization", "10": "0 audit records in 1 organization", "2020-01-01": "10 audit records",
			"2020-01-01T00:00:00Z": "Not verified: earlier records",
		} {
			if r := inside(on(c, "verify", "--since", since)...).mustDo(t); !strings.Contains(r.out, says) {
				t.Errorf("--since %s: %s, want %q", since, r.out, says)
			}
		}
		if r := inside(on(c, "verify", "--since", "11")...); r.code != 1 || !strings.Contains(r.out, "the last record is 10") {
			t.Errorf("--since 11: %+v", r)
		}
		for _, wrong := range []string{"0", "-1", "yesterday", "2100-01-31"} {
			if r := inside(on(c, "verify", "--since", wrong)...); r.code != 2 || !strings.Contains(r.err, "--since") {
				t.Errorf("--since %s: %+v", wrong, r)
			}
		}
		damage(t, c, "UPDATE api_keys SET scopes = 'apis.all' WHERE name = 'Key 2'")
		r := inside(on(c, "verify", "--since", "9")...)
		if r.code != 1 || !strings.Contains(r.out, `scopes of api_keys is "apis.all", but the audit record 10`) ||
			!strings.Contains(r.out, `states "apis.read"`) {
			t.Errorf("a changed key: %+v", r)
		}
		inside(on(c, "verify", "--since", "10")...).mustDo(t)
	})
}

func TestVerifyTellsTheOrganizationsApart(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		small, tampered, large := found(t, c), found(t, c), found(t, c)
		keep(t, c, tampered, 3) // records 8 to 10
		keep(t, c, large, 6)    // records 8 to 13
		damage(t, c, "UPDATE api_keys SET scopes = 'apis.all' WHERE name = 'Key 2' AND organization_id = '"+tampered.OrganizationID+"'")
		verify := func(flags ...string) result { return inside(on(c, append([]string{"verify"}, flags...)...)...) }
		finding := tampered.OrganizationID + ": "
		for name, flags := range map[string][]string{
			"everything": {}, "since a day": {"--since", "2020-01-01"}, "the organization": {"--organization", tampered.OrganizationID},
			"the organization since a record": {"--organization", tampered.OrganizationID, "--since", "9"},
		} {
			r := verify(flags...)
			if r.code != 1 || !strings.Contains(r.out, finding+"audit log: ") || strings.Count(r.out, "org_") != 1 ||
				!strings.Contains(r.err, "found 1 violation;") {
				t.Errorf("%s: %+v, want one finding, in %s", name, r, tampered.OrganizationID)
			}
		}
		for says, flags := range map[string][]string{
			"All invariants hold in 1 organization.":   {"--organization", small.OrganizationID},
			"4 audit records in 1 organization":        {"--organization", large.OrganizationID, "--since", "9"},
			"0 audit records in 1 organization":        {"--organization", tampered.OrganizationID, "--since", "10"},
			"7 audit records in 1 organization, and w": {"--organization", small.OrganizationID, "--since", "2020-01-01"},
		} {
			if r := verify(flags...).mustDo(t); !strings.Contains(r.out, says) {
				t.Errorf("%v: %s, want %q", flags, r.out, says)
			}
		}
		verify("--since", "9").mustFail(t, 2, "--since is the number of an audit record, and each of the 3 organizations", "--organization")
		verify("--organization", "Acme").mustFail(t, 2, "--organization must be an id")
		verify("--organization", "org_01m7ex1624ezcs9eyj82ymzae2").mustFail(t, 1, "organization not found")
	})
}

func TestAnAnchorOfAnotherOrganizationIsNotCountedWhereOneIsVerified(t *testing.T) {
	t.Parallel()
	c := dbtest.SQLite(t)
	first := found(t, c)
	found(t, c)
	file := filepath.Join(t.TempDir(), "anchor.json")
	inside(on(c, "anchor", "--file", file)...).mustDo(t)
	for says, flags := range map[string][]string{"holds 2 anchors": {}, "holds 1 anchor.": {"--organization", first.OrganizationID}} {
		if r := inside(on(c, append([]string{"verify", "--anchor", file}, flags...)...)...).mustDo(t); !strings.Contains(r.out, says) {
			t.Errorf("%v: %s", flags, r.out)
		}
	}
}

func TestTheServiceWritesTheAnchorsOfClosesAlsoThoseOfAnEarlierRun(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		f := found(t, c)
		folder := filepath.Join(t.TempDir(), "anchors")
		p := serve(t, c, "--anchors", folder)
		service := once(p.ready(t), f.APIKey)
		debit, credit := accountsOf(t, service)
		if _, err := service.CreateJournalEntry(t.Context(), client.CreateJournalEntry{AccountingDate: "2026-01-15", Status: "posted",
			Lines: []client.CreateJournalLine{{LedgerAccountID: debit, CreditOrDebit: "DEBIT", Amount: "1.01"},
				{LedgerAccountID: credit, CreditOrDebit: "CREDIT", Amount: "1.01"}}}); err != nil {
			t.Fatal(err)
		}
		for month, err := range service.AccountingPeriods(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			if month.Key == "2026-01" {
				if _, err := service.CloseAccountingPeriod(t.Context(), month.ID, ""); err != nil {
					t.Fatal(err)
				}
			}
		}
		anchors := func() []string {
			names, err := filepath.Glob(filepath.Join(folder, "2026-01_"+f.OrganizationID+"_*.json"))
			if err != nil {
				t.Fatal(err)
			}
			return names
		}
		written := anchors()
		if len(written) != 1 {
			t.Fatalf("the close wrote %v", written)
		}
		p.kill()
		if err := os.Remove(written[0]); err != nil {
			t.Fatal(err)
		}
		serve(t, c, "--anchors", folder).ready(t)
		if again := anchors(); len(again) != 1 || again[0] != written[0] {
			t.Errorf("the start wrote %v", again)
		}
		for _, named := range [][]string{{}, {"--anchor", folder}, {"--anchor", written[0]}} { // a copy of an anchor is not another one
			r := inside(on(c, append([]string{"verify", "--anchors", folder}, named...)...)...).mustDo(t)
			if !strings.Contains(r.out, "holds 1 anchor.") {
				t.Errorf("%v: %s", named, r.out)
			}
		}
	})
}
