package spam_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/spam"
)

const (
	treasury = "0x3fA9c41b7e02D56a8F1c0B94E7d26358aC1be07D" // own
	payroll  = "0x91b0D3F7a64c28E5b0917fAcE35d4628bC90e1A2" // own
	customer = "0x7c2E91aF04d83b56C7e0A19f2bD458630eC7f1B3" // paid us 12,000 USDC
	supplier = "0xE41d07b6C9a25F8834cD1e0b7A96f352d08B6a9C" // we paid 900 USDC
	stranger = "0x08f5C2a91B7e46D30c85Fa21e94b7D60c3A1e5f8"
	faker    = "0x7c2E0000b1D27c61f04A99c3E58a0b4417d6F1b3" // as the customer, four characters at each end
	usdc     = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"
	weth     = "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"
	unknown  = "0x5bD1C8a3F60e94B7d2c01E86a7f39B50c84dE211"
	ours     = "0x2aE7b1C90d46F358c1B7e0A492d63F85c7b0E914" // a token we sent and paid the network for
	denied   = "0xBad0C0ffee00000000000000000000000000Bad0"
	saleMint = "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU"
)

var noon = time.Date(2025, 3, 4, 12, 0, 0, 0, time.UTC)

// made builds an arrival fluently.
type made spam.Arrival

func in(quantity, symbol, contract string) made {
	return made{Class: spam.ClassCrypto, SourceID: "treasury", Chain: "ethereum", At: noon, Inflow: true,
		Quantity: money.MustParse(quantity), Symbol: symbol, Contract: contract, From: stranger, To: treasury, Currency: "USD"}
}

func out(quantity, symbol, contract string) made {
	m := in(quantity, symbol, contract)
	m.Inflow, m.From, m.To = false, treasury, stranger
	return m
}

func (m made) with(address string) made {
	if m.Inflow {
		m.From = address
	} else {
		m.To = address
	}
	return m
}

func (m made) worth(value string) made {
	v := money.MustParse(value)
	m.Value = &v
	return m
}

func (m made) on(chain string) made                     { m.Chain = chain; return m }
func (m made) class(class string) made                  { m.Class = class; return m }
func (m made) named(name string) made                   { m.TokenName = name; return m }
func (m made) saying(text string) made                  { m.Description = text; return m }
func (m made) hash(hash string) made                    { m.Hash = hash; return m }
func (m made) source(id string) made                    { m.SourceID = id; return m }
func (m made) at(after time.Duration) made              { m.At = noon.Add(after); return m }
func (m made) to(n int) made                            { m.Recipients = n; return m }
func (m made) paid() made                               { m.PaidFee = true; return m }
func (m made) nft(id string) made                       { m.TokenID = id; return m }
func (m made) judged(k *spam.Knowledge) spam.Assessment { return spam.Score(spam.Arrival(m), k) }

func facts() spam.Facts {
	return spam.Facts{
		Own: []string{treasury, payroll},
		Allow: spam.List{
			Contracts: []spam.Contract{{Chain: "ethereum", Address: "0x1111000000000000000000000000000000001111"}},
			Addresses: []string{"0x2222000000000000000000000000000000002222"},
			Symbols:   []string{"GOOD"},
		},
		Deny: spam.List{
			Contracts: []spam.Contract{{Address: denied}},
			Addresses: []string{"0x4444000000000000000000000000000000004444", "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"},
			Symbols:   []string{"BADCOIN"},
		},
		Tokens: []spam.Token{{Chain: "solana", Symbol: "SALE", Contract: saleMint}},
	}
}

func history() []spam.Arrival {
	var all []spam.Arrival
	for _, m := range []made{
		in("12000", "USDC", usdc).with(customer).worth("12000"),
		out("900", "USDC", usdc).with(supplier).worth("900").paid(),
		out("50", "OURS", ours).with(supplier).paid(),
		in("0", "USDC", usdc).with("0x5555000000000000000000000000000000005555"),
		out("0", "USDC", usdc).with("0x6666000000000000000000000000000000006666"),
		in("4000", "USDC", unknown).with("0x7777000000000000000000000000000000007777").worth("4000"), // priced by its symbol
		in("700", "DAI", "0x6B175474E89094C44Da98b954EedeAC495271d0F").with("0x0000000000000000000000000000000000000000").worth("700"),
		in("88", "SPREAD", "0x8888000000000000000000000000000000008888").source("treasury"),
		in("88", "SPREAD", "0x8888000000000000000000000000000000008888").source("payroll").at(20 * time.Minute),
		in("88", "SLOW", "0x9999000000000000000000000000000000009999").source("treasury"),
		in("88", "SLOW", "0x9999000000000000000000000000000000009999").source("payroll").at(5 * time.Hour),
	} {
		all = append(all, spam.Arrival(m))
	}
	for range 6 {
		all = append(all, spam.Arrival(in("1", "BURST", "0xaaaa000000000000000000000000000000001234").hash("0xb0")))
	}
	return all
}

const (
	ham  = false
	junk = true
)

// Each line is an arrival, whether it is spam, and the signals that must be among the reasons.
var cases = []struct {
	name string
	made made
	want bool
	saw  string
}{
	{"a customer pays an invoice", in("5000", "USDC", usdc).with(customer).worth("5000"), ham, "known_token real_value real_counterparty"},
	{"a new customer pays", in("5000", "USDC", usdc).worth("4999.87"), ham, "known_token real_value"},
	{"a new customer pays, no price yet", in("5000", "USDC", usdc), ham, "known_token"},
	{"a test payment of one unit", in("1", "USDC", usdc).worth("1.00"), ham, "known_token real_value"},
	{"a test payment of a cent", in("0.01", "USDC", usdc).worth("0.01"), ham, "known_token dust_value"},
	{"a cent, from a source that tells no contract", in("0.01", "USDC", "").worth("0.01"), ham, "dust_value"},
	{"dust change of the coin", in("0.00000412", "ETH", "").worth("0.01"), ham, "known_token dust_value"},
	{"the coin under its old name", in("12", "MATIC", "").on("polygon").worth("6.10"), ham, "known_token"},
	{"the coin with a placeholder for its contract", in("1", "ETH", "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE").worth("2500"), ham,
		"known_token"},
	{"a contract was called without value", in("0", "ETH", "").worth("0"), ham, "zero_transfer"},
	{"a staking reward", in("0.0021", "ETH", "").worth("5.20").saying("Staking reward"), ham, "known_token"},
	{"a claimed reward of a known token",
		in("40", "ARB", "0x912CE59144191C1204E64559FE8253a0e49E6548").on("arbitrum").worth("31").saying("Claim reward"), ham, "known_token"},
	{"lower-case contract", in("10", "WETH", strings.ToLower(weth)).worth("25000"), ham, "known_token"},
	{"a known token whose name is a domain", in("1", "YFI", "0x0bc529c00C6401aEF6D220BE8C6Ea1667F6Ad93e").named("yearn.finance"), ham,
		"known_token"},
	{"an unknown token alone", in("250", "NEWT", unknown), ham, "unknown_token"},
	{"an unknown token with a price", in("250", "NEWT", unknown).worth("75"), ham, "unknown_token real_value"},
	{"the first airdrop of a real counterparty's token", in("250", "SUPP", unknown).with(supplier).to(900), ham,
		"unknown_token real_counterparty mass_airdrop"},
	{"an unknown token that we swapped for, next to worthless", in("250", "NEWT", unknown).worth("0.02").paid(), ham,
		"own_transaction dust_value"},
	{"our own token comes back", in("50", "OURS", ours), ham, "known_token"},
	{"an NFT", in("1", "BAYC", unknown).named("Bored Ape Yacht Club").nft("7341"), ham, "unknown_token"},
	{"an NFT that is a ticket", in("1", "EVNT", unknown).named("Devcon ticket").nft("12"), ham, "unknown_token lure_words"},
	{"a transfer between own wallets", in("3", "NEWT", unknown).with(payroll), ham, "unknown_token real_counterparty"},
	{"a link of a payer in the description", in("900", "USDC", usdc).worth("900").saying("INV-104 paid at pay.example.com"), ham,
		"link known_token"},
	{"a company's abbreviation is no link", in("900", "NEWT", unknown).saying("From Acme Inc. for the 2.nd quarter"), ham, "unknown_token"},
	{"a liquidity token of a known one", in("12", "UNI-V2", unknown).named("Uniswap V2"), ham, "unknown_token"},
	{"an honest Cyrillic symbol", in("12", "РУБЛЬ", unknown), ham, "unknown_token"},
	{"an emoji as a symbol", in("12", "❤️", unknown), ham, "unknown_token"},
	{"sent by us", out("5", "NEWT", unknown), ham, "outgoing"},
	{"a call of ours that moves nothing", out("0", "ETH", ""), ham, "outgoing"},
	{"we moved nothing, and paid for it", out("0", "USDC", usdc).paid(), ham, "outgoing"},
	{"nothing, to a supplier", out("0", "USDC", usdc).with(supplier), ham, "outgoing"},
	{"a bank transfer that talks of gifts", in("0.01", "USD", "").class("fiat").saying("claim your gift at x.com"), ham, "source_class"},
	{"an exchange's bonus", in("0.0001", "BONUS", "").class("exchange").saying("airdrop voucher"), ham, "source_class"},
	{"a card's cashback", in("0.02", "USD", "").class("card"), ham, "source_class"},
	{"allowed contract", in("0", "UЅDC", "0x1111000000000000000000000000000000001111").named("visit x.com"), ham, "allow_listed"},
	{"allowed sender", in("0.001", "X", unknown).with("0x2222000000000000000000000000000000002222").to(5000), ham, "allow_listed"},
	{"allowed symbol, and a denied contract", in("0.001", "good", denied), ham, "allow_listed"},
	{"a token that reached two wallets hours apart", in("88", "SLOW", "0x9999000000000000000000000000000000009999"), ham, "unknown_token"},
	{"a payment that happens to look alike", in("7000", "USDC", usdc).with(faker).worth("7000"), ham, "lookalike_address real_value"},
	{"a token of the organization's own table", in("5", "SALE", saleMint).on("solana"), ham, "known_token"},

	{"denied contract on any chain", in("5000", "USDX", denied).on("base").worth("5000"), junk, "deny_listed"},
	{"denied sender of a known token", in("5000", "USDC", usdc).with("0x4444000000000000000000000000000000004444").worth("5000"), junk,
		"deny_listed"},
	{"denied symbol in another case", in("1", "BadCoin", unknown), junk, "deny_listed"},
	{"denied sender on Solana", in("1", "SOL", "").on("solana").with("9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"), junk, "deny_listed"},
	{"unknown and dust", in("1000000", "NEWT", unknown).worth("0.004"), junk, "unknown_token dust_value"},
	{"USDC with a Cyrillic letter", in("5000", "UЅDC", unknown).worth("5000"), junk, "lookalike_symbol"},
	{"USDC with a Cyrillic C", in("5000", "USDС", unknown), junk, "lookalike_symbol"},
	{"USDC with a zero-width space", in("5000", "US\u200bDC", unknown), junk, "lookalike_symbol"},
	{"an unknown symbol that hides something", in("5000", "NE\u200dWT", unknown), junk, "lookalike_symbol"},
	{"$USDC", in("5000", "$USDC", unknown), junk, "lookalike_symbol"},
	{"ETH2.0", in("2", "ETH2.0", unknown), junk, "lookalike_symbol"},
	{"U5DC", in("2", "U5DC", unknown), junk, "lookalike_symbol"},
	{"USDT in fullwidth letters", in("2", "ＵＳＤＴ", unknown), junk, "lookalike_symbol"},
	{"ETH in mathematical letters", in("2", "𝐄𝐓𝐇", unknown), junk, "lookalike_symbol"},
	{"USDC in Lisu letters", in("2", "ꓴꓢꓓꓚ", unknown), junk, "lookalike_symbol"},
	{"USDC at another contract, at USDC's price", in("5000", "USDC", unknown).worth("5000"), junk, "lookalike_symbol"},
	{"USDC at another contract, by a customer as it says", in("5000", "USDC", unknown).with(customer).worth("5000"), junk, "lookalike_symbol"},
	{"ETH with a contract", in("3", "ETH", unknown).worth("7500"), junk, "lookalike_symbol"},
	{"the right contract on the wrong chain", in("5", "USDC", usdc).on("polygon"), junk, "lookalike_symbol"},
	{"nothing of a known token by a stranger", in("0", "USDC", usdc).worth("0"), junk, "zero_transfer"},
	{"nothing by a look-alike", in("0", "USDC", usdc).with(faker), junk, "zero_transfer lookalike_address"},
	{"dust by a look-alike", in("0.001", "USDC", usdc).with(faker).worth("0.001"), junk, "dust_value lookalike_address"},
	{"dust of the coin by a look-alike", in("0.0000001", "ETH", "").with(faker).worth("0.0002"), junk, "dust_value lookalike_address"},
	{"nothing of the coin by a look-alike", in("0", "ETH", "").with(faker), junk, "zero_transfer lookalike_address"},
	{"nothing from us to a look-alike", out("0", "USDC", usdc).with(faker), junk, "zero_transfer lookalike_address"},
	{"nothing from us to a stranger", out("0", "USDC", usdc), junk, "zero_transfer"},
	{"a link as a symbol", in("1", "USDCGIFT.COM", unknown).worth("120"), junk, "link"},
	{"a link as a name", in("1", "GIFT", unknown).named("Visit https://example.org/claim"), junk, "link"},
	{"a messenger's link", in("1", "AB", unknown).named("t.me/example"), junk, "link"},
	{"words as a name", in("1", "UNIV", unknown).named("Airdrop voucher"), junk, "lure_words"},
	{"words as a name in mixed letters", in("1", "UNIV", unknown).named("Сlaim rеwards"), junk, "lure_words"},
	{"words as a name, by a customer as it says", in("1", "UNIV", unknown).named("Claim 1000 UNI").with(customer), junk, "lure_words"},
	{"a link in the description of an unknown token", in("1", "UNIV", unknown).saying("visit unidrop.xyz"), junk, "link unknown_token"},
	{"a false USDC that we paid to claim", in("5000", "USDC", unknown).worth("5000").paid(), junk, "lookalike_symbol"},
	{"a mint to hundreds", in("1", "PASS", unknown).with("0x0000000000000000000000000000000000000000").to(400), junk, "mass_airdrop"},
	{"a token that reached two wallets at once", in("88", "SPREAD", "0x8888000000000000000000000000000000008888").at(10 * time.Minute),
		junk, "mass_airdrop"},
	{"many transfers in one transaction", in("1", "BURST", "0xaaaa000000000000000000000000000000001234").hash("0xb0"), junk, "mass_airdrop"},
	{"an NFT with a lure", in("1", "$1000", unknown).named("Claim at nft-usd.net").nft("1"), junk, "link"},
}

func TestSpamIsDistinguishedFromGenuineArrivals(t *testing.T) {
	t.Parallel()
	k := spam.NewKnowledge(facts(), history())
	for _, c := range cases {
		v := c.made.judged(k)
		if v.Spam != c.want {
			t.Errorf("%s: spam is %t with %d: %+v", c.name, v.Spam, v.Score, v.Reasons)
		}
		for code := range strings.FieldsSeq(c.saw) {
			if !slices.ContainsFunc(v.Reasons, func(r spam.Reason) bool { return string(r.Code) == code }) {
				t.Errorf("%s: does not see %s: %+v", c.name, code, v.Reasons)
			}
		}
		if v.Spam != (v.Score >= spam.Threshold) || v.Score < 0 || v.Score > 100 || len(v.Reasons) == 0 {
			t.Errorf("%s: %+v", c.name, v)
		}
		for _, r := range v.Reasons {
			if r.Weight == 0 || !strings.HasSuffix(r.Text, ".") || strings.ContainsAny(r.Text, "\u200b\u200d\n") {
				t.Errorf("%s: reason %+v is no sentence", c.name, r)
			}
		}
	}
}

func TestReasonsNameWhatTheySaw(t *testing.T) {
	t.Parallel()
	k := spam.NewKnowledge(facts(), history())
	for _, c := range []struct {
		made made
		want string
	}{
		{in("1", "NEWT", unknown).worth("0.004"), "It is worth 0.004 USD, less than the 0.10 below which incoming assets count as dust."},
		{in("1", "UЅDC", unknown), `"UЅDC" imitates USDC: U+0405.`},
		{in("1", "USDC", unknown),
			`"USDC" on ethereum is 0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48, but this contract is 0x5bd1c8a3f60e94b7d2c01e86a7f39b50c84de211.`},
		{in("1", "ETH", unknown),
			`"ETH" on ethereum is the native coin, which has no contract, but this contract is 0x5bd1c8a3f60e94b7d2c01e86a7f39b50c84de211.`},
		{in("0", "USDC", usdc).with(faker),
			"0x7c2e0000b1d27c61f04a99c3e58a0b4417d6f1b3 shares its first 4 and last 4 characters with " +
				"0x7c2e91af04d83b56c7e0a19f2bd458630ec7f1b3, a known counterparty, but is a different address."},
		{in("1", "GIFT", unknown).named("see gift.claims now"),
			`The token calls itself "see gift.claims now", which contains the link "gift.claims".`},
		{in("1", "PASS", unknown).to(400), "The same transaction sent it to 400 addresses."},
		{in("1", "BADCOIN", unknown), `The deny-list contains its symbol "BADCOIN".`},
	} {
		v := c.made.judged(k)
		if !slices.ContainsFunc(v.Reasons, func(r spam.Reason) bool { return r.Text == c.want }) {
			t.Errorf("want %q among %+v", c.want, v.Reasons)
		}
	}
}

func TestOnlyWhatCannotBeForgedMakesACounterpartyGenuine(t *testing.T) {
	t.Parallel()
	k := spam.NewKnowledge(facts(), history())
	for _, c := range []struct {
		name, address string
		real          bool
	}{
		{"paid us in a known token", customer, true},
		{"was paid by us", supplier, true},
		{"is ours", payroll, true},
		{"sent us nothing", "0x5555000000000000000000000000000000005555", false},
		{"was sent nothing", "0x6666000000000000000000000000000000006666", false},
		{"sent a false USDC", "0x7777000000000000000000000000000000007777", false},
		{"minted something", "0x0000000000000000000000000000000000000000", false},
	} {
		v := in("5", "NEWT", unknown).with(c.address).judged(k)
		if got := slices.ContainsFunc(v.Reasons, func(r spam.Reason) bool { return r.Code == spam.Counterparty }); got != c.real {
			t.Errorf("who %s is real: %t", c.name, got)
		}
	}
}

func TestCaseMattersInBase58AndNowhereElse(t *testing.T) {
	t.Parallel()
	k := spam.NewKnowledge(facts(), nil)
	for _, c := range []struct {
		made made
		spam bool
	}{
		{in("1", "X", "").on("solana").with("9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"), true},
		{in("1", "X", "").on("solana").with("9wzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"), false},
		{in("1", "X", strings.ToUpper(denied[2:])), false}, // without 0x it is no EVM address
		{in("1", "X", "0x"+strings.ToUpper(denied[2:])), true},
		{in("1", "X", "0X"+strings.ToLower(denied[2:])).on("Polygon"), true},
	} {
		if v := c.made.judged(k); v.Spam != c.spam {
			t.Errorf("%s from %s: %+v", c.made.Contract, c.made.From, v)
		}
	}
	bech32 := "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"
	k = spam.NewKnowledge(spam.Facts{Deny: spam.List{Addresses: []string{bech32}}}, nil)
	if v := in("1", "BTC", "").on("bitcoin").with(strings.ToUpper(bech32)).judged(k); !v.Spam {
		t.Errorf("a denied bech32 address in capitals: %+v", v)
	}
}
