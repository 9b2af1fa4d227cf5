package solana

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

// native is the mint of wrapped SOL, which is counted by the lamports of its accounts.
const native = "So11111111111111111111111111111111111111112"

// symbols are those of the tokens that companies hold most, by mint. A token can call itself anything, so that others are called by their
// mint.
var symbols = map[string]string{
	"EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v": "USDC",
	"Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB": "USDT",
	"2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo": "PYUSD",
	"HzwqbKZw8HxMN6bF2yFZNrht3c2iXXzpKcFu7uBEDKtr": "EURC",
	"JUPyiwrYJFskUPiHa7hkeR8VUtAeFoSYbKedZNsDvCN":  "JUP",
	"DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263": "BONK",
	native: symbol,
}

// currencyOf returns what a token is called.
func currencyOf(mint string) string {
	if known := symbols[mint]; known != "" {
		return known
	}
	return mint
}

// ordinary are the programs that say nothing about why coins move. The category of a transaction is the first other program.
var ordinary = map[string]bool{
	"11111111111111111111111111111111": true, tokenProgram: true, token2022Program: true,
	"ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL": true, "ComputeBudget111111111111111111111111111111": true,
	"MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr": true, "Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo": true,
}

// stakeProgram is the program that coins are staked with.
const stakeProgram = "Stake11111111111111111111111111111111111111"

// The types that follow from a transaction alone.
const (
	typeFee = "FEE"
	typeNFT = "NFT"
)

// Why a transaction is left out.
var (
	errForm   = errors.New("it is not in the form of Solana's transactions")
	errTime   = errors.New("the server does not state its time")
	errTokens = errors.New("the server does not state its amounts of tokens")
)

// tokens is what a token account holds before or after a transaction.
type tokens struct {
	Index  *int   `json:"accountIndex"`
	Mint   string `json:"mint"`
	Owner  string `json:"owner"`
	Amount amount `json:"uiTokenAmount"`
}

// transaction is a transaction as a server states it.
type transaction struct {
	Slot int64  `json:"slot"`
	Time *int64 `json:"blockTime"`
	Body struct {
		Message struct {
			Keys         []string `json:"accountKeys"`
			Instructions []struct {
				Program int `json:"programIdIndex"`
			} `json:"instructions"`
		} `json:"message"`
	} `json:"transaction"`
	Meta *struct {
		Err    json.RawMessage `json:"err"`
		Fee    *int64          `json:"fee"`
		Pre    []*int64        `json:"preBalances"`
		Post   []*int64        `json:"postBalances"`
		Before *[]tokens       `json:"preTokenBalances"`
		After  *[]tokens       `json:"postTokenBalances"`
		Loaded struct {
			Writable []string `json:"writable"`
			Readonly []string `json:"readonly"`
		} `json:"loadedAddresses"`
	} `json:"meta"`

	keys     []string // of all accounts, those of lookup tables behind the others
	original json.RawMessage
}

// parse returns a transaction.
func parse(original json.RawMessage) (t transaction, err error) {
	if json.Unmarshal(original, &t) != nil || t.Meta == nil || t.Slot < 0 {
		return t, errForm
	}
	t.original = original
	t.keys = slices.Concat(t.Body.Message.Keys, t.Meta.Loaded.Writable, t.Meta.Loaded.Readonly)
	if len(t.keys) == 0 || len(t.Meta.Pre) != len(t.keys) || len(t.Meta.Post) != len(t.keys) || t.Meta.Fee == nil || *t.Meta.Fee < 0 {
		return t, errAmount
	}
	for i := range t.keys {
		if t.Meta.Pre[i] == nil || t.Meta.Post[i] == nil || *t.Meta.Pre[i] < 0 || *t.Meta.Post[i] < 0 {
			return t, errAmount
		}
	}
	return t, nil
}

// flows is what a transaction changes in one asset.
type flows struct {
	own    money.Decimal
	others map[string]money.Decimal // by owner
	places int                      // digits after the point
}

func (f *flows) add(owner string, mine bool, change money.Decimal) {
	if mine {
		f.own = f.own.Add(change)
		return
	}
	if f.others == nil {
		f.others = map[string]money.Decimal{}
	}
	f.others[owner] = f.others[owner].Add(change)
}

// counterparty returns the only other owner whose balance changed the other way, and an empty text if there are several.
func (f *flows) counterparty() (found string) {
	for _, owner := range slices.Sorted(maps.Keys(f.others)) {
		if f.others[owner].Sign() == -f.own.Sign() && owner != "" {
			if found != "" {
				return ""
			}
			found = owner
		}
	}
	return found
}

// effect is what a transaction does to a wallet.
type effect struct {
	coin     flows
	byMint   map[string]*flows
	fee      money.Decimal // that the wallet has paid
	accounts []string      // token accounts of the wallet that take part
}

// side is what the token accounts of a transaction are before or after it.
type side struct {
	sign   money.Decimal
	tokens *[]tokens
	coins  []*int64
}

// effect returns what a transaction does to a wallet. A token account is one of the wallet at each side at which it is its owner. Servers
// do not state the owners in old transactions; the accounts that are known to be those of the wallet are taken to have been then.
func (t transaction) effect(owner string, known map[string]bool) (e effect, err error) {
	e.byMint = map[string]*flows{}
	if t.Meta.Before == nil || t.Meta.After == nil {
		if slices.ContainsFunc(t.keys, func(key string) bool { return slices.Contains(tokenPrograms, key) || known[key] && key != owner }) {
			return e, errTokens
		}
	}
	for _, s := range []side{{money.FromInt(-1), t.Meta.Before, t.Meta.Pre}, {money.FromInt(1), t.Meta.After, t.Meta.Post}} {
		if err := t.add(&e, s, owner, known); err != nil {
			return e, err
		}
	}
	if t.keys[0] == owner {
		e.fee = lamports(*t.Meta.Fee)
		e.coin.own = e.coin.own.Add(e.fee)
	}
	return e, nil
}

// add adds what accounts hold at one side of a transaction.
func (t transaction) add(e *effect, s side, owner string, known map[string]bool) error {
	holders := map[int]string{}
	if s.tokens != nil {
		for _, held := range *s.tokens {
			quantity, err := held.Amount.decimal()
			if err != nil {
				return err
			}
			if held.Index == nil || *held.Index < 0 || *held.Index >= len(t.keys) || !isBase58(held.Mint, addressSize) {
				return errTokens
			}
			key, holder := t.keys[*held.Index], held.Owner
			if holder == "" && known[key] {
				holder = owner
			}
			holders[*held.Index] = holder
			if holder == owner && !slices.Contains(e.accounts, key) {
				e.accounts = append(e.accounts, key)
			}
			if held.Mint == native {
				continue
			}
			if e.byMint[held.Mint] == nil {
				e.byMint[held.Mint] = &flows{places: *held.Amount.Decimals}
			}
			e.byMint[held.Mint].add(holder, holder == owner, quantity.Mul(s.sign))
		}
	}
	for i, key := range t.keys {
		e.coin.add(key, key == owner || holders[i] == owner, lamports(*s.coins[i]).Mul(s.sign))
	}
	return nil
}

// category returns the first program of a transaction that is not ordinary.
func (t transaction) category() string {
	for _, instruction := range t.Body.Message.Instructions {
		if instruction.Program < 0 || instruction.Program >= len(t.keys) {
			continue
		}
		switch program := t.keys[instruction.Program]; {
		case program == stakeProgram:
			return "stake"
		case !ordinary[program]:
			return provider.Clean(program)
		}
	}
	return ""
}

// records returns the records of a transaction. The fee is that of the coin, also if only tokens moved.
func (t transaction) records(signature, owner string, e effect, isNFT map[string]bool) (out []provider.Record) {
	base := intake.Record{Group: signature, Timestamp: time.Unix(*t.Time, 0).UTC(), ProviderCategory: t.category()}
	if !isNull(t.Meta.Err) {
		base.Memo = "failed"
	}
	add := func(mint string, f flows, change, fee money.Decimal, suffix string) {
		r := base
		r.ExternalID = signature + ":" + owner + ":" + mint + suffix
		r.Currency, r.Inflow = currencyOf(mint), change.Sign() > 0
		r.Crypto = &intake.Crypto{Chain: chain, TransactionHash: signature, BlockNumber: t.Slot, From: owner, To: f.counterparty(),
			AssetType: r.Currency}
		if r.Inflow {
			r.Crypto.From, r.Crypto.To = r.Crypto.To, r.Crypto.From
		}
		if mint != native {
			r.Crypto.ContractAddress = mint
		}
		if isNFT[mint] {
			r.Type, r.Crypto.TokenID = typeNFT, mint
		}
		quantity := change.Abs()
		switch {
		case change.IsZero():
			r.Type, r.Crypto.To, quantity = typeFee, "", fee
		case !fee.IsZero():
			r.Crypto.FeeQuantity, r.Crypto.FeeAssetType = &fee, symbol
			if !r.Inflow {
				quantity = quantity.Add(fee)
			}
		}
		r.Quantity = &quantity
		out = append(out, provider.Record{Record: r, Original: t.original})
	}
	none := money.Decimal{}
	switch coin := e.coin.own; {
	case coin.Sign() > 0 && e.fee.Cmp(coin) > 0: // more than what arrived
		add(native, e.coin, coin, none, "")
		add(native, e.coin, none, e.fee, ":fee")
	case !coin.IsZero() || !e.fee.IsZero():
		add(native, e.coin, coin, e.fee, "")
	}
	for _, mint := range slices.Sorted(maps.Keys(e.byMint)) {
		if f := e.byMint[mint]; !f.own.IsZero() {
			add(mint, *f, f.own, none, "")
		}
	}
	return out
}
