// Package solana reads wallets of Solana through JSON-RPC: what an address and its token accounts have sent and received. The coins that
// token accounts keep as rent, and wrapped ones, count as those of the wallet.
package solana

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
)

const (
	title  = "Solana"
	ledger = "transactions"
	symbol = "SOL"
	chain  = "solana"
	// genesis is the hash of the first block of the main network.
	genesis = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d"
	// firstBlocks is how many blocks may be missing at the beginning of the history without a warning: they precede the transfer of coins.
	firstBlocks = 1000
)

// The programs that matter.
const (
	tokenProgram     = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
	token2022Program = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"
)

// tokenPrograms are the programs of tokens. Each has token accounts of its own.
var tokenPrograms = []string{tokenProgram, token2022Program}

// Connector reads wallets of Solana.
type Connector struct{}

// Describe says what is needed to read a wallet.
func (Connector) Describe() provider.Description {
	return provider.Description{
		Name: "solana", Title: title, Kind: provider.Chain, URL: "https://api.mainnet-beta.solana.com",
		Fields: []provider.Field{
			{Name: provider.Address, Title: "Address", Open: true, Max: 44,
				Help: "The address of the wallet, not that of one of its token accounts."},
			{Name: provider.RPCURL, Title: "Address of an RPC server", Secret: true, Optional: true, Max: 500,
				Help: "Another server than the public one, with its key, such as https://rpc.provider.example/?api-key=…"},
		},
		Advice: "Copy the address of the wallet. The public server allows 40 requests of a kind in 10 seconds, and refuses many data centers: " +
			"enter the address of a server of your own or of a provider that keeps the whole history. Each transaction takes a request, and " +
			"each synchronization 3 requests and another one for each token account. Only finalized transactions count. Token accounts belong " +
			"to the wallet: the coins that they keep as rent and wrapped SOL are part of its SOL. Coins that are staked leave the wallet and " +
			"come back when they are withdrawn.",
		Ledgers: []string{ledger},
		Rate:    provider.Rate{Burst: 10, Every: 250 * time.Millisecond, Shared: true},
		Unverified: []string{
			"rewards of staking are not read, and neither are stake accounts: they are no transactions of the wallet",
			"symbols are known of a few tokens; others are called by the address of their mint",
			"tokens whose owner keeps them in programs, compressed NFTs and confidential amounts are not read",
			"coins that Solana took as rent before 2022, without a transaction",
			"whether all servers return the transactions of a slot in the order in which they were executed",
			"which error each provider of servers returns when there are too many requests",
		},
	}
}

// base58Digits are the digits of addresses and signatures.
const base58Digits = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// The sizes of addresses and signatures, in bytes.
const (
	addressSize   = 32
	signatureSize = 64
)

// isBase58 reports whether a text stands for a number of bytes.
func isBase58(text string, size int) bool {
	if len(text) > 2*size {
		return false
	}
	n, base := new(big.Int), big.NewInt(int64(len(base58Digits)))
	for i := range len(text) {
		digit := strings.IndexByte(base58Digits, text[i])
		if digit < 0 {
			return false
		}
		n.Add(n.Mul(n, base), big.NewInt(int64(digit)))
	}
	zeros := len(text) - len(strings.TrimLeft(text, base58Digits[:1]))
	return zeros+len(n.Bytes()) == size
}

// ownerOf returns the address of the wallet of a session.
func ownerOf(s *provider.Session) (string, error) {
	text := s.Text(provider.Address)
	if !isBase58(text, addressSize) {
		return "", fault.Invalidf(provider.Address, "is not an address of Solana: copy it again in full")
	}
	return text, nil
}

// Check asks whether the server is one of the main network, whether it has the whole history, and what the address is.
func (Connector) Check(ctx context.Context, s *provider.Session) (out provider.Account, err error) {
	owner, err := ownerOf(s)
	if err != nil {
		return out, err
	}
	c, err := dial(s)
	if err != nil {
		return out, err
	}
	var first string
	if err := c.call(ctx, "getGenesisHash", nil, &first); err != nil {
		return out, err
	}
	if first != genesis {
		return out, fault.Conflictf("the server of Solana is not one of the main network: check its address")
	}
	var info struct {
		Value *struct {
			Owner string `json:"owner"`
		} `json:"value"`
	}
	if err := c.call(ctx, "getAccountInfo", []any{owner, settings{"encoding": "base64", "commitment": "finalized"}}, &info); err != nil {
		return out, err
	}
	out = provider.Account{ID: owner, Name: owner}
	switch {
	case info.Value == nil:
		out.Warnings = append(out.Warnings, "the address holds no SOL. Check that it is the right one")
	case info.Value.Owner == tokenProgram || info.Value.Owner == token2022Program:
		return out, fault.Invalidf(provider.Address, "is the address of a token account: enter that of the wallet which owns it")
	}
	var oldest int64
	if err := c.call(ctx, "getFirstAvailableBlock", nil, &oldest); err != nil {
		return out, err
	}
	if oldest > firstBlocks {
		out.Warnings = append(out.Warnings, fmt.Sprintf("the server of Solana does not have the blocks before %d, so that older transactions "+
			"are missing: choose one with the whole history", oldest))
	}
	return out, nil
}

// holding is a token account.
type holding struct {
	Key      string
	Lamports int64
	Mint     string
	Amount   money.Decimal
}

// holdings returns the token accounts of a wallet.
func (c *client) holdings(ctx context.Context, owner string) (out []holding, err error) {
	for _, program := range tokenPrograms {
		var list struct {
			Value []struct {
				Key     string `json:"pubkey"`
				Account struct {
					Lamports *int64 `json:"lamports"`
					Data     struct {
						Parsed struct {
							Info struct {
								Mint   string `json:"mint"`
								Amount amount `json:"tokenAmount"`
							} `json:"info"`
						} `json:"parsed"`
					} `json:"data"`
				} `json:"account"`
			} `json:"value"`
		}
		params := []any{owner, settings{"programId": program}, settings{"encoding": "jsonParsed", "commitment": "finalized"}}
		if err := c.call(ctx, "getTokenAccountsByOwner", params, &list); err != nil {
			return nil, err
		}
		if list.Value == nil {
			return nil, provider.Nonsense(title, errors.New("the token accounts are missing"))
		}
		for _, one := range list.Value {
			quantity, err := one.Account.Data.Parsed.Info.Amount.decimal()
			mint := one.Account.Data.Parsed.Info.Mint
			if err != nil || one.Account.Lamports == nil || !isBase58(one.Key, addressSize) || !isBase58(mint, addressSize) {
				return nil, provider.Nonsense(title, fmt.Errorf("a token account is incomplete: %w", err))
			}
			out = append(out, holding{one.Key, *one.Account.Lamports, mint, quantity})
		}
	}
	return out, nil
}

// Balances returns what the wallet and its token accounts held after the last block that is final.
func (Connector) Balances(ctx context.Context, s *provider.Session) (provider.Holdings, error) {
	owner, err := ownerOf(s)
	if err != nil {
		return provider.Holdings{}, err
	}
	c, err := dial(s)
	if err != nil {
		return provider.Holdings{}, err
	}
	var own struct {
		Context struct {
			Slot *int64 `json:"slot"`
		} `json:"context"`
		Value *int64 `json:"value"`
	}
	if err := c.call(ctx, "getBalance", []any{owner, settings{"commitment": "finalized"}}, &own); err != nil {
		return provider.Holdings{}, err
	}
	all, err := c.holdings(ctx, owner)
	if err != nil {
		return provider.Holdings{}, err
	}
	if own.Value == nil || own.Context.Slot == nil {
		return provider.Holdings{}, provider.Nonsense(title, errors.New("the balance is missing"))
	}
	at, err := c.blockTime(ctx, *own.Context.Slot)
	if err != nil {
		return provider.Holdings{}, err
	}
	sums := map[string]money.Decimal{symbol: lamports(*own.Value)}
	for _, one := range all {
		sums[symbol] = sums[symbol].Add(lamports(one.Lamports))
		if one.Mint != native {
			currency := currencyOf(one.Mint)
			sums[currency] = sums[currency].Add(one.Amount)
		}
	}
	held := provider.Complete(sums)
	held.At = at
	return held, nil
}

// blockTime returns the time of a block.
func (c *client) blockTime(ctx context.Context, slot int64) (time.Time, error) {
	var seconds *int64
	err := c.call(ctx, "getBlockTime", []any{slot}, &seconds)
	if errors.Is(err, errMissing) || err == nil && (seconds == nil || *seconds <= 0) {
		err = provider.Temporary(title, "the server does not have the time of the last block")
	}
	if err != nil {
		return time.Time{}, err
	}
	return time.Unix(*seconds, 0).UTC(), nil
}

// amount is an amount of tokens.
type amount struct {
	Amount   string `json:"amount"`
	Decimals *int   `json:"decimals"`
}

var errAmount = errors.New("it does not state its amounts")

// decimal returns the amount in whole tokens.
func (a amount) decimal() (money.Decimal, error) {
	n, err := money.Parse(a.Amount)
	if err != nil || a.Decimals == nil || n.Sign() < 0 || strings.Contains(a.Amount, ".") {
		return n, errAmount
	}
	places := *a.Decimals
	if places < 0 || places > money.DigitsAfterMax {
		return n, errors.New("a token has too many digits after the point")
	}
	return n.Mul(unit(places)), nil
}

// unit returns the smallest amount that has a number of digits after the point.
func unit(places int) money.Decimal {
	if places == 0 {
		return money.FromInt(1)
	}
	return money.MustParse("0." + strings.Repeat("0", places-1) + "1")
}

// lamports returns an amount in the smallest unit of the coin as a decimal.
func lamports(n int64) money.Decimal { return money.FromInt(n).Mul(unit(9)) }

// isNull reports whether a value of an answer is absent.
func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }
