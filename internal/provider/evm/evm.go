// Package evm reads wallets of Ethereum and of chains that work like it through the JSON-RPC of a node: coins, tokens (ERC-20, ERC-721 and
// ERC-1155), coins that contracts send, fees, and withdrawals of validators.
package evm

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/sha3"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/provider"
)

const (
	ledger = "transactions"
	// The names of fields that only these chains have.
	chainName    = "chain"
	nativeSymbol = "native_symbol"
	firstBlock   = "first_block"
	// coinPlaces is how many digits after the point an amount of the coin has.
	coinPlaces = 18
	// depthDefault is how many blocks make one final if the node does not say which one is.
	depthDefault = 64
)

// Connector reads wallets of a chain.
type Connector struct {
	name, title string
	id          int64  // of the chain; 0 means any
	symbol      string // of the coin
	wrapped     string // the contract of the wrapped coin, which announces wrapping by events of its own
	mirror      string // a contract that announces transfers of the coin itself, as if it were a token
	depth       int64  // 0 means depthDefault
	validators  bool   // they withdraw coins without transactions
}

// The chains.
var (
	Arbitrum  = Connector{name: "arbitrum", title: "Arbitrum One", id: 42161, symbol: "ETH"}
	Avalanche = Connector{name: "avalanche", title: "Avalanche C-Chain", id: 43114, symbol: "AVAX", depth: 10,
		wrapped: "0xb31f66aa3c1e785363f0875a1b74e27b85fd66c7"}
	Base = Connector{name: "base", title: "Base", id: 8453, symbol: "ETH", wrapped: "0x4200000000000000000000000000000000000006"}
	BSC  = Connector{name: "bsc", title: "BNB Smart Chain", id: 56, symbol: "BNB", depth: 24,
		wrapped: "0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c"}
	Ethereum = Connector{name: "ethereum", title: "Ethereum", id: 1, symbol: "ETH", validators: true,
		wrapped: "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2"}
	// Other is any other chain. People enter the symbol of its coin.
	Other  = Connector{name: "evm", title: "Another EVM chain", symbol: "ETH", validators: true}
	Gnosis = Connector{name: "gnosis", title: "Gnosis Chain", id: 100, symbol: "XDAI", validators: true,
		wrapped: "0xe91d153e0b41518a2ce8dd3d7944fa863463a97d"}
	Linea    = Connector{name: "linea", title: "Linea", id: 59144, symbol: "ETH", wrapped: "0xe5d7c2a44ffddf6b295a15c148167daaaf5cf34f"}
	Optimism = Connector{name: "optimism", title: "OP Mainnet", id: 10, symbol: "ETH", wrapped: "0x4200000000000000000000000000000000000006",
		mirror: "0xdeaddeaddeaddeaddeaddeaddeaddeaddead0000"}
	Polygon = Connector{name: "polygon", title: "Polygon PoS", id: 137, symbol: "POL", depth: 256,
		wrapped: "0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270", mirror: "0x0000000000000000000000000000000000001010"}
	Scroll = Connector{name: "scroll", title: "Scroll", id: 534352, symbol: "ETH", wrapped: "0x5300000000000000000000000000000000000004"}
)

// Describe says what is needed to read a wallet.
func (c Connector) Describe() provider.Description {
	d := provider.Description{
		Name: c.name, Title: c.title, Kind: provider.Chain,
		Fields: []provider.Field{
			{Name: provider.Address, Title: "Address", Open: true, Max: 42, Help: "The address of the wallet: 0x and 40 more characters."},
			{Name: provider.RPCURL, Title: "Address of a node", Secret: true, Max: 500,
				Help: "JSON-RPC over HTTP, with its key, such as https://rpc.provider.example/v2/…"},
			{Name: firstBlock, Title: "First block", Open: true, Optional: true, Max: 18,
				Help: "The number of the block from which on the wallet is read, such as that of its first transaction. By default, all are."},
		},
		Advice: "Copy the address of the wallet, and enter the address of a node of your own or of a provider of nodes. What contracts send to " +
			"the wallet without a transaction of its own can only be read from nodes that trace: best with trace_filter (Erigon, Nethermind, " +
			"Reth), otherwise with debug_traceBlockByNumber (Geth). A node that keeps old states (an archive node) is read far faster, because " +
			"blocks that change nothing are skipped. Only final blocks count, also in the balance.",
		Ledgers: []string{ledger},
		Rate:    provider.Rate{Burst: 20, Every: 50 * time.Millisecond},
		Unverified: []string{
			"symbols are known of a few tokens; others are called by the address of their contract, whatever they call themselves",
			"tokens that change balances without announcing it (rebasing), or announce other amounts than they move",
			"what block producers receive for their blocks, other than what validators withdraw",
			"withdrawals of validators, where the node has trace_filter and does not keep old states",
			"coins of Arbitrum's retryable tickets and of Polygon's bridge, which are in no transaction of the wallet, and operator fees of the " +
				"OP stack",
			"failed transactions of before October 2017 on a node without trace_filter, whose receipts do not tell that they failed",
			"coins that a genesis block gives to addresses, coins of other than 18 digits after the point, and coins that are tokens as " +
				"well, such as CELO",
			"a wallet that is a contract takes every block to be traced, unless the node has trace_filter",
			fmt.Sprintf("the balances of more than %d tokens are not asked for, nor those of NFTs", tokensMax),
			fmt.Sprintf("if blocks are replaced that were taken to be final, records are taken back that are among the last %d of the last "+
				"%d blocks", recentMax, recentBlocks),
			"which error each provider of nodes returns when a range has too many results, and when there are too many requests",
		},
	}
	if c.id == 0 {
		d.Fields = append(d.Fields,
			provider.Field{Name: chainName, Title: "Name of the chain", Open: true, Optional: true, Max: 64,
				Help: "Such as celo. By default evm."},
			provider.Field{Name: nativeSymbol, Title: "Symbol of the coin", Open: true, Optional: true, Max: 20,
				Help: "What fees are paid in, such as CELO. By default ETH."})
	}
	return d
}

// wallet is what a session reads.
type wallet struct {
	Connector
	chain   string // as records name it
	address string // in lower case
	first   int64
	url     string
}

// open returns the wallet of a session.
func (c Connector) open(s *provider.Session) (w wallet, err error) {
	w = wallet{Connector: c, chain: c.name, url: s.Text(provider.RPCURL)}
	if w.address, err = parseAddress(s.Text(provider.Address)); err != nil {
		return w, fault.Invalidf(provider.Address, "%v", err)
	}
	if text := s.Text(firstBlock); text != "" {
		if w.first, err = strconv.ParseInt(text, 10, 64); err != nil || w.first < 0 || w.first > blockMax {
			return w, fault.Invalidf(firstBlock, "must be the number of a block, such as 18500000")
		}
	}
	if c.id == 0 {
		w.chain = cmp.Or(strings.ToLower(s.Text(chainName)), c.name)
	}
	if text := s.Text(nativeSymbol); text != "" && c.id == 0 {
		if w.symbol = provider.Symbol(text); w.symbol == "" {
			return w, fault.Invalidf(nativeSymbol, "must be the symbol of a coin, such as CELO")
		}
	}
	w.depth = cmp.Or(c.depth, depthDefault)
	return w, nil
}

// addressSize is how many bytes an address has.
const addressSize = 20

// parseAddress returns an address in lower case. One with capitals has to have the checksum of EIP-55.
func parseAddress(text string) (string, error) {
	lower := strings.ToLower(text)
	if !isHex(lower, addressSize) || !strings.HasPrefix(text, "0x") {
		return "", errors.New("must be 0x and 40 more characters: copy the address again in full")
	}
	if digits := text[2:]; digits != strings.ToLower(digits) && digits != strings.ToUpper(digits) && text != checksummed(lower) {
		return "", errors.New("does not have its checksum, so that a character is wrong: copy the address again")
	}
	return lower, nil
}

// checksummed writes an address with capitals where the digit of its hash is 8 or more (EIP-55).
func checksummed(lower string) string {
	hash := sha3.NewLegacyKeccak256()
	hash.Write([]byte(lower[2:]))
	sum, digits := hex.EncodeToString(hash.Sum(nil)), []byte(lower)
	for i := range digits[2:] {
		if sum[i] >= '8' {
			digits[i+2] = strings.ToUpper(lower[i+2 : i+3])[0]
		}
	}
	return string(digits)
}

// isHex reports whether a text is 0x and a number of bytes in lower case.
func isHex(text string, size int) bool {
	return len(text) == 2+2*size && strings.HasPrefix(text, "0x") && strings.Trim(text[2:], "0123456789abcdef") == ""
}

// Check asks which chain the node is on, and what it can do.
func (c Connector) Check(ctx context.Context, s *provider.Session) (out provider.Account, err error) {
	w, err := c.open(s)
	if err != nil {
		return out, err
	}
	n, err := dial(s, w)
	if err != nil {
		return out, err
	}
	code := ""
	if err := n.must(ctx, textOf("eth_getCode", []any{w.address, "latest"}, &code)); err != nil {
		return out, err
	}
	r := reader{client: n, wallet: w}
	if err := r.head(ctx); err != nil {
		return out, err
	}
	if r.final < w.first {
		return out, fault.Invalidf(firstBlock, "is after the last final block of the chain, %d", r.final)
	}
	if err := r.learn(ctx, r.final); err != nil {
		return out, err
	}
	out = provider.Account{ID: w.address, Name: checksummed(w.address)}
	if c.id == 0 {
		out.ID = strconv.FormatInt(r.at.Chain, 10) + ":" + w.address
	}
	switch {
	case r.at.Trace == traceNone:
		out.Warnings = append(out.Warnings, untraced)
	case r.at.Trace == traceBlocks && code != "0x":
		out.Warnings = append(out.Warnings, "the wallet is a contract and the node has no trace_filter, so that every block has to be traced. "+
			"Choose a node with trace_filter, or enter a late first block")
	}
	if r.at.Trace != traceFilter && w.first == 0 {
		out.Warnings = append(out.Warnings, "all blocks are read, which takes very long if the node does not keep old states. Enter the number "+
			"of the block of the first transaction")
	}
	return out, nil
}
