// Package evmtest is a fake of a node of a chain for tests. It executes transactions, of which a test says what they do.
package evmtest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math/big"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

// key is what gives access to the node.
const key = "/v2/a-long-key-of-the-node-that-nobody-else-has-0123456789abcdef0123456789abcdef"

// Wallet is the wallet that is read, and Stranger that of somebody else. USDC is the contract of the genuine token on Ethereum.
var (
	Wallet   = Address("wallet")
	Stranger = Address("stranger")
)

// The contracts of tokens on Ethereum.
const (
	USDC = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"
	WETH = "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2"
)

// Address returns the address that a name stands for.
func Address(name string) string {
	sum := sha256.Sum256([]byte(name))
	return "0x" + hex.EncodeToString(sum[:20])
}

// hash returns the hash that a text stands for.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "0x" + hex.EncodeToString(sum[:])
}

// Call is a call inside of a transaction.
type Call struct {
	Type     string // CALL by default
	From, To string
	Value    *big.Int
	Failed   bool
	Calls    []Call
}

// Log is an event.
type Log struct {
	Contract string
	Topics   []string
	Data     string
	index    int
}

// Token is a contract of an ERC-20 token.
type Token struct {
	Symbol   string // as the contract returns it
	Decimals string
	held     map[string]*big.Int
}

// Tx is a transaction.
type Tx struct {
	From, To  string // no To makes a contract
	Value     *big.Int
	Input     string
	Failed    bool
	Silent    bool // the receipt does not say whether it has failed
	Gas       int64
	Price     int64
	L1Fee     *big.Int
	BlobGas   int64
	BlobPrice int64
	Mint      *big.Int
	Calls     []Call
	Logs      []Log

	hash, created string
}

// Withdrawal is what a validator withdraws.
type Withdrawal struct {
	Address string
	Gwei    int64
}

// block is a block, and the state after it.
type block struct {
	number      int64
	at          time.Time
	hash        string
	txs         []Tx
	withdrawals []Withdrawal
	first       int // the index of the first withdrawal
	balances    map[string]*big.Int
	nonces      map[string]int64
}

// Server is a fake of a node.
type Server struct {
	providertest.Server

	ChainID  int64
	Filters  bool  // trace_filter
	Traces   bool  // debug_traceBlockByNumber
	Final    bool  // the tag finalized
	Archive  bool  // old states
	Range    int64 // blocks in a range; 0 means any number
	Results  int   // events or traces in an answer; 0 means any number
	Together int   // calls in a request; 0 means any number
	Code     map[string]string
	Tokens   map[string]*Token
	// Methods counts the calls.
	Methods map[string]int

	blocks []block
	salt   int
	made   int
}

// New returns a node of Ethereum that can do everything, whose wallet holds nothing.
func New() *Server {
	s := &Server{ChainID: 1, Filters: true, Traces: true, Final: true, Archive: true, Code: map[string]string{}, Tokens: map[string]*Token{},
		Methods: map[string]int{}}
	rich := new(big.Int).Lsh(big.NewInt(1), 120)
	s.blocks = []block{{at: time.Unix(0, 0), hash: hash("genesis"), balances: map[string]*big.Int{Stranger: rich}, nonces: map[string]int64{}}}
	s.Token(USDC, "USDC", 6)
	return s
}

// Token adds a token.
func (s *Server) Token(contract, symbol string, decimals int) {
	s.Tokens[contract] = &Token{Symbol: "0x" + Word(big.NewInt(32)) + Word(big.NewInt(int64(len(symbol)))) +
		(hex.EncodeToString([]byte(symbol)) + strings.Repeat("0", 64))[:64], Decimals: "0x" + Word(big.NewInt(int64(decimals))),
		held: map[string]*big.Int{}}
}

// Word returns a number as 32 bytes.
func Word(n *big.Int) string { return fmt.Sprintf("%064x", n) }

// Topic returns an address as a topic.
func Topic(address string) string { return "0x" + strings.Repeat("0", 24) + address[2:] }

// Transfer is the event of a transfer of tokens, which are moved.
func (s *Server) Transfer(contract, from, to string, amount int64) Log {
	if t := s.Tokens[contract]; t != nil {
		for address, change := range map[string]int64{from: -amount, to: amount} {
			if t.held[address] == nil {
				t.held[address] = new(big.Int)
			}
			if from != to {
				t.held[address].Add(t.held[address], big.NewInt(change))
			}
		}
	}
	return Log{Contract: contract, Topics: []string{"0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef", Topic(from),
		Topic(to)}, Data: "0x" + Word(big.NewInt(amount))}
}

// Credentials returns what the wallet is read with.
func (s *Server) Credentials() map[string]string {
	return map[string]string{provider.Address: Wallet, provider.RPCURL: s.URL + key}
}

// Grant reports that a chain does not tell about rights.
func (s *Server) Grant(provider.Grant) bool { return false }

// Add adds movements of the coin, whatever their asset.
func (s *Server) Add(all ...providertest.Movement) {
	for _, m := range all {
		tx := Tx{From: Stranger, To: Wallet, Value: Wei(m.Amount)}
		switch m.Kind {
		case providertest.Withdrawal:
			tx.From, tx.To = Wallet, Stranger
		case providertest.Novelty:
			tx.Input = "0xfeedbeef"
		}
		s.Mine(m.At, nil, tx)
	}
}

// Wei returns an amount of coins in the smallest unit.
func Wei(amount string) *big.Int {
	whole, fraction, _ := strings.Cut(money.MustParse(amount).String(), ".")
	n, ok := new(big.Int).SetString(whole+(fraction + strings.Repeat("0", 18))[:18], 10)
	if !ok {
		panic("evmtest: " + amount)
	}
	return n
}

// Mine adds a block and returns the hashes of its transactions.
func (s *Server) Mine(at time.Time, withdrawn []Withdrawal, all ...Tx) (hashes []string) {
	last := s.blocks[len(s.blocks)-1]
	b := block{number: last.number + 1, at: at, withdrawals: withdrawn, first: last.first + len(last.withdrawals),
		nonces: maps.Clone(last.nonces), balances: map[string]*big.Int{}}
	b.hash = hash(fmt.Sprint("block ", b.number, s.salt))
	for address, n := range last.balances {
		b.balances[address] = new(big.Int).Set(n)
	}
	logs := 0
	for _, tx := range all {
		s.made++
		tx.hash = hash(fmt.Sprint("transaction ", s.made))
		if tx.To == "" {
			tx.created = Address(tx.hash)
		}
		if tx.Gas == 0 {
			tx.Gas, tx.Price = 21000, 1_000_000_000
		}
		for i := range tx.Logs {
			tx.Logs[i].index = logs
			logs++
		}
		b.execute(tx)
		b.txs, hashes = append(b.txs, tx), append(hashes, tx.hash)
	}
	for _, w := range withdrawn {
		b.change(w.Address, new(big.Int).Mul(big.NewInt(w.Gwei), big.NewInt(1_000_000_000)))
	}
	s.blocks = append(s.blocks, b)
	return hashes
}

// Height returns the number of the last block.
func (s *Server) Height() int64 { return s.blocks[len(s.blocks)-1].number }

// Repeat adds a transaction of a block that was dropped.
func (s *Server) Repeat(at time.Time, tx Tx, hash string) {
	s.Mine(at, nil, tx)
	s.blocks[len(s.blocks)-1].txs[0].hash = hash
}

// Drop takes the last blocks back; others will follow.
func (s *Server) Drop(n int) {
	s.blocks = s.blocks[:len(s.blocks)-n]
	s.salt++
}

// Held returns the balance of an address after the last block.
func (s *Server) Held(address string) *big.Int { return s.blocks[len(s.blocks)-1].balance(address) }

func (b *block) balance(address string) *big.Int {
	if n := b.balances[address]; n != nil {
		return n
	}
	return new(big.Int)
}

func (b *block) change(address string, by *big.Int) {
	n := new(big.Int).Add(b.balance(address), by)
	if n.Sign() < 0 {
		panic("evmtest: " + address + " has less than nothing")
	}
	b.balances[address] = n
}

func (b *block) move(from, to string, amount *big.Int) {
	if amount != nil {
		b.change(from, new(big.Int).Neg(amount))
		b.change(to, amount)
	}
}

// Fee returns what a transaction costs.
func (tx Tx) Fee() *big.Int {
	fee := big.NewInt(tx.Gas*tx.Price + tx.BlobGas*tx.BlobPrice)
	if tx.L1Fee != nil {
		fee.Add(fee, tx.L1Fee)
	}
	return fee
}

func (tx Tx) to() string { return tx.To + tx.created }

func (b *block) execute(tx Tx) {
	b.nonces[tx.From]++
	if tx.Mint != nil {
		b.change(tx.From, tx.Mint)
	}
	b.change(tx.From, new(big.Int).Neg(tx.Fee()))
	if tx.Failed {
		return
	}
	b.move(tx.From, tx.to(), tx.Value)
	for _, c := range tx.Calls {
		b.call(c)
	}
}

func (b *block) call(c Call) {
	if c.Failed {
		return
	}
	if c.Type == "" || c.Type == "CREATE" || c.Type == "SELFDESTRUCT" {
		b.move(c.From, c.To, c.Value)
	}
	for _, inner := range c.Calls {
		b.call(inner)
	}
}
