package cli_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// entriesAtFirst is how many entries the audit log of a new organization has.
const entriesAtFirst = 7

// keep makes changes with the command line, one audit record each.
func keep(t *testing.T, c db.Config, f founded, changes int) {
	t.Helper()
	for i := range changes {
		inside(on(c, "keys", "create", "--organization", f.OrganizationID, "--scopes", "apis.read", "--name",
			fmt.Sprintf("Key %d", i))...).mustDo(t)
	}
}

// damage changes data directly in the database.
func damage(t *testing.T, c db.Config, statements ...string) {
	t.Helper()
	d := dbtest.Open(t, c)
	for _, s := range statements {
		err := d.WriteAcross(t.Context(), "a test does damage", func(ctx context.Context, tx *db.Tx) error {
			res, err := tx.SQL().ExecContext(ctx, s)
			if err != nil {
				return err
			}
			if n, err := res.RowsAffected(); err != nil || n == 0 {
				return fmt.Errorf("%d rows, %w", n, err)
			}
			return nil
		})
		if err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func TestVerifyNamesWhatIsBroken(t *testing.T) {
	t.Parallel()
	const changes = 4
	// #1 to #4 are the audit records of the changes.
	numbered := func(text string) string {
		for i := range changes {
			text = strings.ReplaceAll(text, fmt.Sprint("#", i+1), fmt.Sprint(entriesAtFirst+i+1))
		}
		return text
	}
	for name, broken := range map[string]struct {
		statements []string
		says       string
	}{
		"an altered fact": {[]string{"UPDATE audit_log SET after = replace(after, 'Key 1', 'Key 9') WHERE sequence = #2"},
			"broken at record #2: the record was altered"},
		"an altered time": {[]string{"UPDATE audit_log SET created_at = (SELECT min(created_at) FROM audit_log) WHERE sequence = #3"},
			"broken at record #3: the record was altered"},
		"an altered culprit": {[]string{"UPDATE audit_log SET user_id = 'usr_01m7ex1625e19smd0t57br72tm' WHERE sequence = #1"},
			"broken at record #1: the record was altered"},
		"a fact taken away": {[]string{"UPDATE audit_log SET after = NULL WHERE sequence = 1"},
			"broken at record 1: the record was altered"},
		"a hash to match": {[]string{"UPDATE audit_log SET hash = previous_hash WHERE sequence = #1"},
			"broken at record #1: the record was altered"},
		"the last record gone": {[]string{"DELETE FROM audit_log WHERE sequence = #4"},
			"broken at record #4: a record is missing"},
		"the first record gone": {[]string{"DELETE FROM audit_log WHERE sequence = 1"},
			"broken at record 1: a record is missing"},
		"a middle record gone": {[]string{"DELETE FROM audit_log WHERE sequence = #2"},
			"broken at record #2: a record is missing"},
		"a gap closed up": {[]string{"DELETE FROM audit_log WHERE sequence = #2",
			"UPDATE audit_log SET sequence = #2 WHERE sequence = #3", "UPDATE audit_log SET sequence = #3 WHERE sequence = #4"},
			"broken at record #2: the record does not follow"},
		"two records swapped": {[]string{"UPDATE audit_log SET sequence = -#2 WHERE sequence = #2",
			"UPDATE audit_log SET sequence = #2 WHERE sequence = #3", "UPDATE audit_log SET sequence = #3 WHERE sequence = -#2"},
			"broken at record #2: the record does not follow"},
		"a head set back": {[]string{"UPDATE organization_state SET audit_sequence = #3"},
			"audit chain broken at record"},
		"an event gone": {[]string{"DELETE FROM events WHERE sequence = 2"}, "events:"},
		"an account below none": {[]string{"UPDATE ledger_accounts SET parent_account_id = 'lac_x' WHERE code = '1010'"},
			"below lac_x, which does not exist"},
		"no owner": {[]string{"UPDATE members SET role = 'member'"}, "no owner"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
				f := found(t, c)
				keep(t, c, f, changes)
				inside(on(c, "verify")...).mustDo(t)
				for _, statement := range broken.statements {
					damage(t, c, numbered(statement))
				}
				r := inside(on(c, "verify")...)
				if r.code != 1 || !strings.Contains(r.out, f.OrganizationID+": ") || !strings.Contains(r.out, numbered(broken.says)) {
					t.Errorf("exit %d, want 1 and %q\n%s%s", r.code, numbered(broken.says), r.out, r.err)
				}
			})
		})
	}
}
