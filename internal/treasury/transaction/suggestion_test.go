package transaction_test

import (
	"testing"

	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/classify"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

func TestASuggestionDoesNotSayWhatOtherLegalEntitiesBooked(t *testing.T) {
	t.Parallel()
	all, own := actor.Actor{}, actor.Actor{LegalEntityIDs: []string{"le_1"}}
	for _, c := range []struct {
		what     string
		who      actor.Actor
		entities []string
		examples []string
		shown    bool
	}{
		{"to a key for all", all, nil, []string{"txn_1"}, true},
		{"of a run for all", own, nil, []string{"txn_1"}, false},
		{"of a run for the same legal entity", own, []string{"le_1"}, []string{"txn_1"}, true},
		{"of a run for more legal entities", own, []string{"le_1", "le_2"}, []string{"txn_1"}, false},
		{"by a rule", own, nil, nil, true},
	} {
		s := transaction.Suggestion{LedgerAccountID: "lac_1", Reasons: []string{"why"}, Examples: c.examples, LegalEntityIDs: c.entities}
		got := s.For(c.who, map[string]bool{"lac_2": true})
		if shown := got.Reasons[0] == "why" && len(got.Examples) == len(c.examples); shown != c.shown || got.LedgerAccountID != "lac_1" ||
			!shown && len(got.Examples) > 0 {
			t.Errorf("%s: %+v", c.what, got)
		}
	}
}

func TestASuggestionOfAnAccountOfAnotherLegalEntityIsNotShown(t *testing.T) {
	t.Parallel()
	foreign := map[string]bool{"lac_2": true}
	for what, s := range map[string]*transaction.Suggestion{
		"an account": {LedgerAccountID: "lac_2"}, "splits": {Splits: []classify.Split{{LedgerAccountID: "lac_1"}, {LedgerAccountID: "lac_2"}}},
		"none": nil,
	} {
		if got := s.For(actor.Actor{LegalEntityIDs: []string{"le_1"}}, foreign); got != nil {
			t.Errorf("%s: %+v", what, got)
		}
	}
}
