package solana_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/providertest"
	"github.com/bursarhq/bursar/internal/provider/solana"
	"github.com/bursarhq/bursar/internal/provider/solana/solanatest"
)

var start = time.Date(2026, 11, 2, 9, 30, 0, 0, time.UTC)

// The accounts that tests use.
var (
	wallet, stranger = solanatest.Wallet, solanatest.Stranger
	mine, other      = solanatest.Key("token account of the wallet"), solanatest.Key("token account of somebody else")
)

// history is a wallet, and what was read of it.
type history struct {
	*testing.T
	*solanatest.Server
	dialer  *provider.Dialer
	cursor  string
	read    map[string]provider.Record
	omitted []provider.Omission
}

// begin returns a wallet with 10 SOL, and a stranger with 1,000 USDC.
func begin(t *testing.T) *history {
	h := &history{T: t, Server: solanatest.New(), read: map[string]provider.Record{}}
	now := clock.NewManual(start)
	providertest.Start(t, h.Server, now.Now)
	description := solana.Connector{}.Describe()
	description.Rate = provider.Rate{}
	h.dialer = provider.NewDialer(description, provider.Config{URL: h.Server.URL, AllowPrivate: true, Clock: now})
	h.tx(stranger, h.move(stranger, -10e9), h.move(wallet, 10e9))
	h.tx(stranger, h.move(stranger, -solanatest.Rent), h.token(other, solanatest.Rent, solanatest.USDC, stranger, 1000e6))
	return h
}

func (h *history) move(account string, lamports int64) solanatest.Move {
	return solanatest.Move{Account: account, Lamports: lamports}
}

func (h *history) token(account string, lamports int64, mint, owner string, change int64) solanatest.Move {
	return solanatest.Move{Account: account, Lamports: lamports, Tokens: &solanatest.Tokens{Mint: mint, Owner: owner, Change: change}}
}

// tx executes a transaction with a fee of 5,000 lamports.
func (h *history) tx(payer string, moves ...solanatest.Move) string {
	return h.Execute(solanatest.Tx{At: start.Add(-100 * time.Hour), Payer: payer, Fee: 5000, Moves: moves})
}

// open makes the token account of the wallet, at the cost of the wallet.
func (h *history) open() string {
	return h.tx(wallet, h.move(wallet, -solanatest.Rent), h.token(mine, solanatest.Rent, solanatest.USDC, wallet, 0))
}

func (h *history) session(more ...string) *provider.Session {
	credentials := provider.Credentials{provider.Address: secret.New(wallet)}
	for i := 0; i < len(more); i += 2 {
		credentials[more[i]] = secret.New(more[i+1])
	}
	return h.dialer.Open(credentials, false)
}

// sync reads to the end, and returns how many requests that took and how many records were read.
func (h *history) sync() (requests, added int) {
	h.Helper()
	before, s, seen := h.Requests(), h.session(), map[string]bool{}
	for range 1000 {
		p, err := solana.Connector{}.Read(h.Context(), s, "transactions", h.cursor)
		if err != nil {
			h.Fatal(err)
		}
		h.omitted = append(h.omitted, p.Omitted...)
		for _, r := range p.Records {
			if seen[r.ExternalID] {
				h.Errorf("%s was read twice", r.ExternalID)
			}
			seen[r.ExternalID] = true
			h.read[r.ExternalID] = r
		}
		if h.cursor = p.Cursor; !p.More {
			return h.Requests() - before, len(seen)
		}
	}
	h.Fatal("it has no end")
	return 0, 0
}

// of returns the records of a transaction, as text.
func (h *history) of(signature string) (out []string) {
	for _, id := range slices.Sorted(maps.Keys(h.read)) {
		r := h.read[id]
		if r.Group != signature {
			continue
		}
		fee := ""
		if r.Crypto.FeeQuantity != nil {
			fee = " fee " + r.Crypto.FeeQuantity.String() + " " + r.Crypto.FeeAssetType
		}
		sign := "-"
		if r.Inflow {
			sign = "+"
		}
		out = append(out, fmt.Sprintf("%s%s %s%s %s", sign, r.Quantity, r.Currency, fee, r.Type))
	}
	return out
}

// wants requires the records of a transaction.
func (h *history) wants(signature string, want ...string) {
	h.Helper()
	if got := h.of(signature); fmt.Sprint(got) != fmt.Sprint(want) {
		h.Errorf("%q, want %q", got, want)
	}
}

// balanced requires that the records add up to what the accounts hold.
func (h *history) balanced() {
	h.Helper()
	sums := map[string]money.Decimal{}
	for _, id := range slices.Sorted(maps.Keys(h.read)) {
		r := h.read[id]
		sums[r.Currency] = sums[r.Currency].Add(*r.Moved())
	}
	got, err := solana.Connector{}.Balances(h.Context(), h.session())
	if err != nil {
		h.Fatal(err)
	}
	want := provider.Complete(sums)
	if want.At = start.Add(-solanatest.Finality); fmt.Sprint(got) != fmt.Sprint(want) {
		h.Errorf("the records add up to %v, and the balance is %v", want, got)
	}
	lamports, tokens := h.Held(wallet)
	for _, b := range got.Balances {
		if b.Currency == "SOL" && !b.Amount.Equal(money.FromInt(lamports).Mul(money.MustParse("0.000000001"))) ||
			b.Currency == "USDC" && !b.Amount.Equal(money.FromInt(tokens[solanatest.USDC]).Mul(money.MustParse("0.000001"))) {
			h.Errorf("the balance is %+v, and the accounts hold %d lamports and %v", b, lamports, tokens)
		}
	}
}

func TestTheFeeAndTokensAreRecordsOfTheirOwn(t *testing.T) {
	t.Parallel()
	h := begin(t)
	opened := h.open()
	received := h.tx(stranger, h.token(other, 0, solanatest.USDC, stranger, -25e6), h.token(mine, 0, solanatest.USDC, wallet, 25e6))
	sent := h.tx(wallet, h.token(mine, 0, solanatest.USDC, wallet, -1_500_000), h.token(other, 0, solanatest.USDC, stranger, 1_500_000))
	paid := h.tx(wallet, h.move(wallet, -2e9), h.move(stranger, 2e9))
	h.sync()
	h.wants(opened, "-0.000005 SOL FEE")
	h.wants(received, "+25 USDC ")
	h.wants(sent, "-1.5 USDC ", "-0.000005 SOL FEE")
	h.wants(paid, "-2.000005 SOL fee 0.000005 SOL ")
	h.balanced()
	r := h.read[sent+":"+wallet+":"+solanatest.USDC]
	if c := r.Crypto; c.Chain != "solana" || c.TransactionHash != sent || c.From != wallet || c.To != stranger || c.BlockNumber != 1001 ||
		c.ContractAddress != solanatest.USDC || !r.Timestamp.Equal(start.Add(-100*time.Hour)) || len(r.Original) == 0 {
		t.Errorf("%+v %+v", r.Record, c)
	}
	if c := h.read[received+":"+wallet+":"+solanatest.USDC].Crypto; c.From != stranger || c.To != wallet {
		t.Errorf("%+v", c)
	}
	if requests, added := h.sync(); requests != 4 || added != 0 {
		t.Errorf("%d requests and %d records with nothing new", requests, added)
	}
}

func TestTheTransactionsOfClosedTokenAccountsAreFound(t *testing.T) {
	t.Parallel()
	h := begin(t)
	h.open()
	received := h.tx(stranger, h.token(other, 0, solanatest.USDC, stranger, -25e6), h.token(mine, 0, solanatest.USDC, wallet, 25e6))
	h.tx(wallet, h.token(mine, 0, solanatest.USDC, wallet, -25e6), h.token(other, 0, solanatest.USDC, stranger, 25e6))
	closed := h.tx(wallet, h.move(wallet, solanatest.Rent), solanatest.Move{Account: mine, Lamports: -solanatest.Rent, Close: true})
	h.sync()
	h.wants(received, "+25 USDC ")
	h.wants(closed, "-0.000005 SOL FEE")
	h.balanced()
}

func TestAFailedTransactionIsItsFee(t *testing.T) {
	t.Parallel()
	h := begin(t)
	h.open()
	moves := []solanatest.Move{h.move(wallet, -1e9), h.move(stranger, 1e9), h.token(other, 0, solanatest.USDC, stranger, -1),
		h.token(mine, 0, solanatest.USDC, wallet, 1)}
	failed := h.Execute(solanatest.Tx{At: start, Payer: wallet, Fee: 7000, Failed: true, Moves: moves})
	theirs := h.Execute(solanatest.Tx{At: start, Payer: stranger, Fee: 7000, Failed: true, Moves: moves})
	h.sync()
	h.wants(failed, "-0.000007 SOL FEE")
	h.wants(theirs)
	if memo := h.read[failed+":"+wallet+":"+solanatest.Native].Memo; memo != "failed" {
		t.Errorf("the memo is %q", memo)
	}
	h.balanced()
}

func TestWrappedCoinsAreCoins(t *testing.T) {
	t.Parallel()
	h := begin(t)
	wrapped := h.tx(wallet, h.move(wallet, -3e9-solanatest.Rent), h.token(mine, 3e9+solanatest.Rent, solanatest.Native, wallet, 3e9))
	h.sync()
	h.balanced()
	received := h.tx(stranger, h.move(stranger, -1e9), h.token(mine, 1e9, solanatest.Native, wallet, 1e9))
	unwrapped := h.tx(wallet, h.move(wallet, 4e9+solanatest.Rent), solanatest.Move{Account: mine, Lamports: -4e9 - solanatest.Rent,
		Close: true, Tokens: &solanatest.Tokens{Mint: solanatest.Native, Owner: wallet, Change: -4e9}})
	h.sync()
	h.wants(wrapped, "-0.000005 SOL FEE")
	h.wants(received, "+1 SOL ")
	h.wants(unwrapped, "-0.000005 SOL FEE")
	h.balanced()
}

func TestTokensOfWhichThereIsOneAreNFTs(t *testing.T) {
	t.Parallel()
	h := begin(t)
	picture, burned, ticket := solanatest.Key("a picture"), solanatest.Key("a burned picture"), solanatest.Key("a ticket")
	h.Mint(picture, 0, 1)
	h.Mint(ticket, 0, 50)
	at := func(mint string) solanatest.Move {
		return h.token(solanatest.Key("account of "+mint), solanatest.Rent, mint, wallet, 1)
	}
	one := h.tx(stranger, h.move(stranger, -solanatest.Rent), at(picture))
	two := h.tx(stranger, h.move(stranger, -solanatest.Rent), at(ticket))
	three := h.tx(stranger, h.move(stranger, -solanatest.Rent), at(burned))
	h.sync()
	h.wants(one, "+1 "+picture+" NFT", "+0.00203928 SOL ")
	h.wants(two, "+1 "+ticket+" ", "+0.00203928 SOL ")
	h.wants(three, "+1 "+burned+" NFT", "+0.00203928 SOL ")
	if c := h.read[one+":"+wallet+":"+picture].Crypto; c.TokenID != picture || c.ContractAddress != picture {
		t.Errorf("%+v", c)
	}
}

func TestTokensOfBothProgramsAndAccountsOfLookupTablesCount(t *testing.T) {
	t.Parallel()
	h := begin(t)
	coin := solanatest.Key("a token of the newer program")
	h.Mint(coin, 2, 1_000_000)
	move := h.token(mine, solanatest.Rent, coin, wallet, 12_345)
	move.Tokens.Program = solanatest.Token2022
	got := h.Execute(solanatest.Tx{At: start, Payer: stranger, Fee: 5000, Lookup: 3,
		Moves: []solanatest.Move{h.move(stranger, -solanatest.Rent), move}})
	paid := h.Execute(solanatest.Tx{At: start, Payer: stranger, Lookup: 3,
		Moves: []solanatest.Move{h.move(stranger, -1e9), h.move(wallet, 1e9)}})
	h.sync()
	h.wants(paid, "+1 SOL ")
	h.wants(got, "+123.45 "+coin+" ", "+0.00203928 SOL ")
	h.balanced()
}

func TestATokenAccountThatGetsAnotherOwnerLeavesTheWallet(t *testing.T) {
	t.Parallel()
	h := begin(t)
	h.open()
	h.tx(stranger, h.token(other, 0, solanatest.USDC, stranger, -5e6), h.token(mine, 0, solanatest.USDC, wallet, 5e6))
	given := h.tx(wallet, h.token(mine, 0, solanatest.USDC, stranger, 0))
	h.tx(stranger, h.token(other, 0, solanatest.USDC, stranger, -9e6), h.token(mine, 0, solanatest.USDC, stranger, 9e6))
	h.sync()
	h.wants(given, "-5 USDC ", "-0.00204428 SOL fee 0.000005 SOL ")
	h.balanced()
}

// Servers do not state the owners of token accounts in old transactions.
func TestOldTransactionsOfKnownTokenAccountsAreRead(t *testing.T) {
	t.Parallel()
	h := begin(t)
	h.open()
	old := h.Execute(solanatest.Tx{At: start.Add(-50_000 * time.Hour), Payer: stranger, Fee: 5000, Old: true, Moves: []solanatest.Move{
		h.token(other, 0, solanatest.USDC, stranger, -25e6), h.token(mine, 0, solanatest.USDC, wallet, 25e6)}})
	h.sync()
	h.wants(old, "+25 USDC ")
	h.balanced()
}

func TestAFeeThatExceedsWhatArrivesIsARecordOfItsOwn(t *testing.T) {
	t.Parallel()
	h := begin(t)
	got := h.tx(wallet, h.move(wallet, 3000), h.move(stranger, -3000))
	more := h.tx(wallet, h.move(wallet, 8000), h.move(stranger, -8000))
	h.sync()
	h.wants(got, "+0.000003 SOL ", "-0.000005 SOL FEE")
	h.wants(more, "+0.000008 SOL fee 0.000005 SOL ")
	h.balanced()
}

func TestTheProgramIsTheCategory(t *testing.T) {
	t.Parallel()
	h := begin(t)
	exchange := solanatest.Key("an exchange")
	for program, want := range map[string]string{solanatest.Stake: "stake", exchange: exchange, "": ""} {
		got := h.Execute(solanatest.Tx{At: start, Payer: wallet, Program: program,
			Moves: []solanatest.Move{h.move(wallet, -1e6), h.move(stranger, 1e6)}})
		h.sync()
		if r := h.read[got+":"+wallet+":"+solanatest.Native]; r.ProviderCategory != want {
			t.Errorf("program %q: %+v", program, r.Record)
		}
	}
}

func TestWhatTheServerDoesNotStateIsLeftOut(t *testing.T) {
	t.Parallel()
	h := begin(t)
	timeless := h.Execute(solanatest.Tx{Timeless: true, Payer: wallet, Fee: 5000})
	missing := h.tx(wallet)
	h.Missing[missing] = true
	after := h.tx(wallet)
	h.sync()
	if len(h.omitted) != 2 || h.omitted[0].ID != timeless || h.omitted[1].ID != missing {
		t.Errorf("%+v", h.omitted)
	}
	h.wants(after, "-0.000005 SOL FEE")
	young := h.Execute(solanatest.Tx{At: start.Add(-time.Hour), Payer: wallet, Fee: 5000})
	h.Missing[young] = true
	if _, err := (solana.Connector{}).Read(t.Context(), h.session(), "transactions", h.cursor); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a transaction that the server does not have yet: %v", err)
	}
	delete(h.Missing, young)
	h.sync()
	h.wants(young, "-0.000005 SOL FEE")
}

func TestCheckTellsWhatIsWrong(t *testing.T) {
	t.Parallel()
	h := begin(t)
	h.open()
	got, err := solana.Connector{}.Check(t.Context(), h.session(provider.RPCURL, h.Server.URL+"/?api-key=x"))
	if err != nil || got.ID != wallet || got.Grants != nil || len(got.Warnings) != 0 {
		t.Errorf("%+v %v", got, err)
	}
	for wrong, field := range map[string]string{mine: provider.Address, "x": provider.RPCURL, "https://a:b@example.com": provider.RPCURL,
		"https://example.com:99999": provider.RPCURL} {
		if _, err := (solana.Connector{}).Check(t.Context(), h.session(field, wrong)); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s %s: %v", field, wrong, err)
		}
	}
	if _, err := (solana.Connector{}).Check(t.Context(), h.session(provider.Address, wallet[10:])); fault.KindOf(err) != fault.Invalid {
		t.Errorf("an address that is too short: %v", err)
	}
	h.First = 100_000_000
	got, err = solana.Connector{}.Check(t.Context(), h.session(provider.Address, solanatest.Key("nobody")))
	if err != nil || len(got.Warnings) != 2 {
		t.Errorf("%+v %v", got, err)
	}
	h.FailAt(1, providertest.Status(200, "", "", `{"jsonrpc":"2.0","id":1,"result":"EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG"}`))
	if _, err := (solana.Connector{}).Check(t.Context(), h.session()); fault.KindOf(err) != fault.Conflict {
		t.Errorf("another network: %v", err)
	}
}

// The records of random transactions, read at random times and in pages of random sizes, add up to what the accounts hold.
func TestRecordsAddUpToWhatTheAccountsHold(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 1))
			h := begin(t)
			h.PageSize = 1 + r.IntN(40)
			for range 120 {
				if r.IntN(15) == 0 {
					h.sync()
					h.balanced()
				}
				h.random(r)
			}
			h.sync()
			h.balanced()
			if len(h.omitted) > 0 {
				t.Errorf("left out: %+v", h.omitted)
			}
		})
	}
}

// random executes a random transaction: with coins, tokens, wrapped coins, and token accounts that begin and end.
func (h *history) random(r *rand.Rand) {
	account := solanatest.Key(fmt.Sprint("account ", r.IntN(4)))
	payer := []string{wallet, stranger}[r.IntN(2)]
	change := r.Int64N(1000)
	if r.IntN(2) == 0 {
		change = -change
	}
	held, mint := h.Tokens(account)
	tx := solanatest.Tx{At: start, Payer: payer, Fee: 5000 + r.Int64N(3000), Failed: r.IntN(10) == 0, Lookup: r.IntN(2)}
	switch kind := r.IntN(4); {
	case kind == 0:
		tx.Moves = []solanatest.Move{h.move(wallet, change), h.move(stranger, -change)}
	case mint == "" && kind == 1: // wrapped coins
		tx.Moves = []solanatest.Move{h.move(payer, -solanatest.Rent-500), h.token(account, solanatest.Rent+500, solanatest.Native, wallet, 500)}
	case mint == "":
		tx.Moves = []solanatest.Move{h.move(payer, -solanatest.Rent), h.token(account, solanatest.Rent, solanatest.USDC, wallet, 0)}
	case mint == solanatest.Native && kind == 1 || held == 0:
		last := h.token(account, -solanatest.Rent, mint, wallet, -held)
		if mint == solanatest.Native {
			last.Lamports -= held
		}
		last.Close = true
		tx.Moves = []solanatest.Move{h.move(payer, -last.Lamports), last}
		if held == 0 && mint == solanatest.USDC && kind > 1 {
			tx.Moves = []solanatest.Move{h.token(other, 0, mint, stranger, -700), h.token(account, 0, mint, wallet, 700)}
		}
	case mint == solanatest.Native:
		change = max(change, -held)
		tx.Moves = []solanatest.Move{h.move(stranger, -change), h.token(account, change, mint, wallet, change)}
	default:
		change = max(change, -held)
		tx.Moves = []solanatest.Move{h.token(other, 0, mint, stranger, -change), h.token(account, 0, mint, wallet, change),
			h.move(stranger, change), h.move(wallet, -change)}
	}
	h.Execute(tx)
}
