package source

import (
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

func TestALimitedKeyIsNotToldWhatOthersHoldOnAnAccount(t *testing.T) {
	t.Parallel()
	a := account.Account{ID: "lac_1", Name: "Vault"}
	sources := []Source{{Name: "Theirs", Type: Bank, LegalEntityID: "le_1"}, {Name: "Mine", Type: Bank, LegalEntityID: "le_2"}}
	for who, want := range map[string]struct{ says, not string }{
		"":     {"has 12.5 ETH, but the source Theirs is a bank account", "Mine"},
		"le_2": {"has ETH, but the source Mine is a bank account", "Theirs"},
		"le_3": {"has ETH, which none of its sources can hold: choose another account", "Mine"},
	} {
		var by actor.Actor
		if who != "" {
			by.LegalEntityIDs = []string{who}
		}
		got := describeUnheld(by, a, money.MustParse("12.5"), "ETH", sources)
		if !strings.Contains(got, want.says) || strings.Contains(got, want.not) {
			t.Errorf("a key for %q is told %q", who, got)
		}
	}
}
