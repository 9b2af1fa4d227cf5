package spam_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	rules "github.com/bursarhq/bursar/internal/rules/spam"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
	"github.com/bursarhq/bursar/internal/treasury/spam"
)

const (
	treasury = "0x3fA9c41b7e02D56a8F1c0B94E7d26358aC1be07D" // own
	customer = "0x7c2E91aF04d83b56C7e0A19f2bD458630eC7f1B3"
	faker    = "0x7c2E0000b1D27c61f04A99c3E58a0b4417d6F1b3" // as the customer, four characters at each end
	usdc     = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"
	unknown  = "0x5bD1C8a3F60e94B7d2c01E86a7f39B50c84dE211"
)

var noon = time.Date(2025, 3, 4, 12, 0, 0, 0, time.UTC)

func found(t *testing.T, d *db.DB) (context.Context, string) {
	t.Helper()
	f, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com",
		Currency: "USD", Timezone: "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	return actor.With(t.Context(), actor.Actor{OrganizationID: f.Organization.ID}), f.Organization.ID
}

func judge(ctx context.Context, t *testing.T, d *db.DB, organizationID string, arrivals ...rules.Arrival) (out []rules.Assessment) {
	t.Helper()
	err := d.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) (err error) {
		out, err = spam.Judge(ctx, tx, []string{treasury}, nil, arrivals)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// arrival returns an arrival of a token from an address, some minutes after the start.
func arrival(quantity, symbol, contract, from string, minutes int) rules.Arrival {
	return rules.Arrival{Class: rules.ClassCrypto, SourceID: "src_a", Chain: "ethereum",
		At: noon.Add(time.Duration(minutes) * time.Minute), Inflow: true, Symbol: symbol,
		Contract: contract, Quantity: money.MustParse(quantity), From: from, To: treasury, Currency: "USD"}
}

func worth(a rules.Arrival, value string) rules.Arrival {
	v := money.MustParse(value)
	a.Value = &v
	return a
}

func saw(v rules.Assessment, code rules.Code) bool {
	for _, r := range v.Reasons {
		if r.Code == code {
			return true
		}
	}
	return false
}

func TestABatchIsJudgedByTheHistoryOfTheOthers(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx, mine := found(t, d)
		_, other := found(t, d)
		poison := arrival("0", "USDC", usdc, faker, 60)
		judge(ctx, t, d, mine, worth(arrival("5000", "USDC", usdc, customer, 0), "5000"))
		if v := judge(ctx, t, d, mine, poison)[0]; !v.Spam || !saw(v, rules.LookalikeAddress) {
			t.Errorf("a look-alike of a counterparty of the batch before: %+v", v)
		}
		if v := judge(ctx, t, d, other, poison)[0]; saw(v, rules.LookalikeAddress) {
			t.Errorf("another organization's counterparty: %+v", v)
		}
		// The same token reaches a second wallet within the hour, in a batch of its own.
		first, second, later := arrival("9", "NEWT", unknown, faker, 10), arrival("9", "NEWT", unknown, faker, 69), arrival("9", "NEWT",
			unknown, faker, 200)
		second.SourceID, later.SourceID = "src_b", "src_b"
		for n, c := range []struct {
			a    rules.Arrival
			many bool
		}{{first, false}, {second, true}, {later, false}} {
			if v := judge(ctx, t, d, mine, c.a)[0]; saw(v, rules.MassAirdrop) != c.many {
				t.Errorf("arrival %d: %+v", n, v)
			}
		}
		// Five transfers of one transaction, one a batch.
		for n := range 5 {
			a := arrival("1", "BURST", "0xaaaa000000000000000000000000000000001234", faker, 1000)
			a.Hash = "0xb0"
			if v := judge(ctx, t, d, mine, a)[0]; saw(v, rules.MassAirdrop) != (n == 4) {
				t.Errorf("transfer %d: %+v", n+1, v)
			}
		}
		// A token that the organization paid to send is one that it uses.
		sent := arrival("5", "OURS", "0x2aE7b1C90d46F358c1B7e0A492d63F85c7b0E914", "", 0)
		sent.Inflow, sent.To, sent.PaidFee = false, customer, true
		judge(ctx, t, d, mine, sent)
		back := arrival("5", "OURS", strings.ToLower(sent.Contract), faker, 9)
		if v := judge(ctx, t, d, mine, back)[0]; !saw(v, rules.KnownToken) {
			t.Errorf("a token in use: %+v", v)
		}
	})
}

func TestBatchesAreJudgedAsByTheWholeHistory(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx, mine := found(t, d)
		s := spam.NewService(d)
		for _, p := range []spam.CreateParams{
			{Verdict: spam.Deny, Kind: spam.Symbol, Value: "bad"}, {Verdict: spam.Deny, Kind: spam.Contract,
				Value: strings.ToUpper(unknown[2:]), Chain: "base"},
			{Verdict: spam.Allow, Kind: spam.Address, Value: "0x" + strings.Repeat("07", 20)},
		} {
			if _, err := s.Create(ctx, p); err != nil {
				t.Fatal(err)
			}
		}
		facts := rules.Facts{Own: []string{treasury}, Deny: rules.List{Symbols: []string{"BAD"},
			Contracts: []rules.Contract{{Chain: "base", Address: strings.ToUpper(unknown[2:])}}},
			Allow: rules.List{Addresses: []string{"0x" + strings.Repeat("07", 20)}}}
		var past []rules.Arrival
		for batch := range 12 {
			var all []rules.Arrival
			for n := range 40 {
				x := batch*40 + n
				mix := uint64(x+1) * 0x9E3779B97F4A7C15
				pick := func(shift int, of ...string) string { return of[mix>>shift%uint64(len(of))] }
				a := arrival(pick(7, "0", "1", "5"), pick(11, "USDC", "NEWT", "bad", "ETH"), pick(17, "", usdc, unknown),
					pick(23, customer, faker, "0x"+strings.Repeat("07", 20), fmt.Sprintf("0x%040x", mix)), int(mix>>29%600))
				a.SourceID, a.Chain, a.Hash = pick(31, "src_a", "src_b", "src_c"), pick(37, "ethereum", "base"), pick(41, "", "h1", "h2")
				a.Inflow, a.PaidFee = mix>>43%4 > 0, mix>>47%3 == 0
				if !a.Inflow {
					a.From, a.To = treasury, a.From
				}
				if mix>>51%2 == 0 {
					a = worth(a, pick(53, "0.01", "20"))
				}
				if mix>>57%9 == 0 {
					a.Class = "fiat"
				}
				all = append(all, a)
			}
			past = append(past, all...)
			k := rules.NewKnowledge(facts, past)
			for n, v := range judge(ctx, t, d, mine, all...) {
				want := rules.Score(all[n], k)
				if all[n].Class != rules.ClassCrypto {
					want = rules.Assessment{}
				}
				if !reflect.DeepEqual(v, want) {
					t.Fatalf("%+v is %+v, by the whole past %+v", all[n], v, want)
				}
			}
		}
	})
}

func TestListingsAreUniqueAndTakePrecedence(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx, mine := found(t, d)
		s := spam.NewService(d)
		create := func(verdict spam.Verdict, kind spam.Kind, chain, value string) (spam.Listing, error) {
			return s.Create(ctx, spam.CreateParams{Verdict: verdict, Kind: kind, Chain: chain, Value: value})
		}
		made, err := create(spam.Deny, spam.Contract, " Ethereum ", " "+unknown+" ")
		if err != nil || made.Chain != "ethereum" || made.Value != unknown {
			t.Fatalf("%+v %v", made, err)
		}
		for _, c := range []struct {
			verdict            spam.Verdict
			kind               spam.Kind
			chain, value, says string
			want               fault.Kind
		}{
			{spam.Deny, spam.Contract, "ethereum", strings.ToLower(unknown), made.ID, fault.Conflict},
			{spam.Allow, spam.Contract, "ETHEREUM", unknown, made.ID, fault.Conflict},
			{spam.Allow, spam.Contract, "", unknown, made.ID, fault.Conflict}, // it would undo the other
			{"maybe", "thing", "", "", "verdict must be allow or deny; kind must be contract, address or symbol; value", fault.Invalid},
			{spam.Deny, spam.Address, "base", customer, "chain must be omitted", fault.Invalid},
			{spam.Deny, spam.Address, "", "0x0000000000000000000000000000000000000000", "the zero address", fault.Invalid},
			{spam.Deny, spam.Symbol, "", strings.Repeat("x", 129), "value must have 1 to 128", fault.Invalid},
		} {
			if _, err := create(c.verdict, c.kind, c.chain, c.value); fault.KindOf(err) != c.want || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v: %v", c, err)
			}
		}
		for _, c := range []struct {
			kind         spam.Kind
			chain, value string
		}{{spam.Contract, "base", unknown}, {spam.Contract, "", unknown}, {spam.Address, "", unknown}, {spam.Symbol, "", unknown}} {
			if _, err := create(spam.Deny, c.kind, c.chain, c.value); err != nil {
				t.Errorf("%v: %v", c, err)
			}
		}
		token := worth(arrival("5", "NEWT", unknown, customer, 0), "90")
		if v := judge(ctx, t, d, mine, token)[0]; !v.Spam || v.Reasons[0].Code != rules.Denied {
			t.Errorf("denied: %+v", v)
		}
		if _, err := create(spam.Allow, spam.Address, "", customer); err != nil {
			t.Fatal(err)
		}
		if v := judge(ctx, t, d, mine, token)[0]; v.Spam || v.Reasons[0].Code != rules.Allowed {
			t.Errorf("allowed and denied: %+v", v)
		}
		all, err := s.List(ctx, spam.Filter{Verdict: spam.Deny, Kind: spam.Contract}, page.Request{Limit: 50})
		if err != nil || len(all.Items) != 3 || all.Items[0].ID != made.ID {
			t.Errorf("%+v %v", all, err)
		}
		if err := s.Delete(ctx, made.ID); err != nil {
			t.Error(err)
		}
		if err := s.Delete(ctx, made.ID); fault.KindOf(err) != fault.NotFound {
			t.Error(err)
		}
	})
}

func TestVerifyFindsEveryKindOfDamageInSpamData(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for statement, says := range map[string]string{
			"UPDATE spam_listings SET value_key = 'x' WHERE organization_id = @org":                                  "is invalid or not in normalized form",
			"UPDATE spam_listings SET verdict = 'maybe' WHERE organization_id = @org":                                "is invalid or not in normalized form",
			"UPDATE spam_listings SET chain = '', kind = 'contract' WHERE organization_id = @org AND chain = 'base'": "it conflicts with the listing",
			"UPDATE spam_dealings SET shown = 'x' WHERE organization_id = @org":                                      "dealing",
			"UPDATE spam_sightings SET token_hour = '1 a b' WHERE organization_id = @org":                            "sighting",
			"UPDATE spam_sightings SET last_at = '2025-01-01T00:00:00.000Z' WHERE organization_id = @org":            "sighting",
			"UPDATE spam_bursts SET transfers = 0 WHERE organization_id = @org":                                      "burst",
		} {
			ctx, mine := found(t, d)
			s := spam.NewService(d)
			burst := arrival("1", "NEWT", unknown, faker, 0)
			burst.Hash = "0xb0"
			judge(ctx, t, d, mine, worth(arrival("5000", "USDC", usdc, customer, 0), "5000"), burst)
			if strings.Contains(statement, "base") {
				for verdict, chain := range map[spam.Verdict]string{spam.Allow: "base", spam.Deny: "ethereum"} {
					if _, err := s.Create(ctx, spam.CreateParams{Verdict: verdict, Kind: spam.Contract, Chain: chain, Value: unknown}); err != nil {
						t.Fatal(err)
					}
				}
			} else if _, err := s.Create(ctx, spam.CreateParams{Verdict: spam.Deny, Kind: spam.Symbol, Value: "X"}); err != nil {
				t.Fatal(err)
			}
			err := d.Write(ctx, mine, func(ctx context.Context, tx *db.Tx) error {
				if found := dbtest.Damage(ctx, t, tx, spam.Verify, statement); len(found) != 1 || !strings.Contains(found[0], says) {
					t.Errorf("%s: %q does not say %q", statement, found, says)
				}
				return dbtest.ErrUndo
			})
			if !errors.Is(err, dbtest.ErrUndo) {
				t.Error("the damage was kept", err)
			}
		}
	})
}

func BenchmarkJudge(b *testing.B) {
	d := dbtest.Open(b, dbtest.SQLite(b))
	f, err := organization.NewService(d).Create(b.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com",
		Currency: "USD", Timezone: "UTC"})
	if err != nil {
		b.Fatal(err)
	}
	const size = 2000
	at := 0
	for b.Loop() {
		var all []rules.Arrival
		for range size {
			at++
			a := worth(arrival("5", "USDC", usdc, fmt.Sprintf("0x%040x", uint64(at/3)*0x9E3779B97F4A7C15), at), "5")
			if at%20 == 0 {
				a.Contract, a.Hash = fmt.Sprintf("0x%040x", at), fmt.Sprint("0x", at)
			}
			all = append(all, a)
		}
		err := d.Write(b.Context(), f.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
			_, err := spam.Judge(ctx, tx, []string{treasury}, nil, all)
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*size), "µs/arrival")
}
