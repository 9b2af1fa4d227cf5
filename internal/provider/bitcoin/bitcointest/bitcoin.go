// Package bitcointest is a fake of a server of Esplora for tests. It has a chain of blocks whose transactions spend the outputs of others.
package bitcointest

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

const (
	// Address is that of the wallet, unless a test chooses another. It is the example of BIP173.
	Address = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"
	// Script is the script of the address, as BIP173 states it.
	Script = "0014751e76e8199196d454941c45d1b3a323f1433bd6"
	// Genesis is the hash of the first block.
	Genesis = "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f"
	// Stranger is an address of somebody else, the example of BIP350.
	Stranger = "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0"
	// strangerScript is the script of that address.
	strangerScript = "512079be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
	// finality is how many blocks follow one whose transactions count.
	finality = 5
)

// Coin is an output of a transaction, in satoshis.
type Coin struct {
	Address, Script string
	Value           int64
}

// ToStranger returns an output of somebody else.
func ToStranger(value int64) Coin { return Coin{Stranger, strangerScript, value} }

// Tx is a transaction. Its inputs are outputs of earlier transactions, and outputs that nobody has seen before.
type Tx struct {
	Spends   []Point
	Foreign  []Coin
	Coinbase bool
	Out      []Coin

	id string
}

// Point is an output of a transaction.
type Point struct {
	ID string
	N  int
}

// block is a block of the chain.
type block struct {
	id  string
	at  time.Time
	txs []Tx
}

// Server is a fake of Esplora.
type Server struct {
	providertest.Server

	// Wallet is what the connection has as its address.
	Wallet string

	blocks []block
	serial int // makes hashes differ
	coins  map[Point]Coin
	spent  map[Point]bool
}

// New returns a fake with the first block, and a wallet without transactions.
func New() *Server {
	first := block{id: Genesis, at: time.Unix(1231006505, 0)}
	return &Server{Wallet: Address, blocks: []block{first}, coins: map[Point]Coin{}, spent: map[Point]bool{}}
}

// Credentials returns what the wallet is read with.
func (s *Server) Credentials() map[string]string {
	return map[string]string{provider.Address: s.Wallet}
}

// Grant reports that a chain does not tell about rights.
func (s *Server) Grant(provider.Grant) bool { return false }

// Add adds movements of the wallet, whatever their asset, each in a block of its own that is final.
func (s *Server) Add(all ...providertest.Movement) {
	for _, m := range all {
		amount, fee := satoshis(m.Amount), satoshis(cmp.Or(m.Fee, "0"))
		mine := Coin{Address, Script, amount}
		tx := Tx{Foreign: []Coin{ToStranger(amount + 777)}, Out: []Coin{mine}}
		switch m.Kind {
		case providertest.Withdrawal:
			tx = s.withdrawal(amount, fee)
		case providertest.Reward, providertest.Novelty:
			tx = Tx{Coinbase: true, Out: []Coin{mine}}
		}
		s.Mine(m.At, tx)
		s.Confirm(m.At, finality)
	}
}

// withdrawal returns a transaction that pays a stranger, and returns the change.
func (s *Server) withdrawal(amount, fee int64) Tx {
	tx, found := Tx{}, int64(0)
	all, _ := s.Unspent(func(c Coin) bool { return c.Address == Address })
	for i := 0; found < amount+fee; i++ {
		tx.Spends = append(tx.Spends, all[i])
		found += s.coins[all[i]].Value
	}
	tx.Out = []Coin{ToStranger(amount)}
	if change := found - amount - fee; change > 0 {
		tx.Out = append(tx.Out, Coin{Address, Script, change})
	}
	return tx
}

// satoshis returns an amount in satoshis. What is less than one is cut.
func satoshis(amount string) int64 {
	whole, fraction, _ := strings.Cut(money.MustParse(amount).String(), ".")
	var n int64
	if _, err := fmt.Sscan(whole+(fraction + "00000000")[:8], &n); err != nil {
		panic(err)
	}
	return n
}

// hash returns a new hash.
func (s *Server) hash(kind string) string {
	s.serial++
	sum := sha256.Sum256(fmt.Append(nil, kind, s.serial))
	return hex.EncodeToString(sum[:])
}

// Mine adds a block with transactions, and returns their ids.
func (s *Server) Mine(at time.Time, txs ...Tx) (ids []string) {
	b := block{id: "00000000" + s.hash("block")[8:], at: at}
	for _, t := range txs {
		t.id = cmp.Or(t.id, s.hash("transaction"))
		in, out := int64(0), int64(0)
		for _, c := range t.Foreign {
			in += c.Value
		}
		for _, at := range t.Spends {
			c, ok := s.coins[at]
			if !ok || s.spent[at] {
				panic(fmt.Sprintf("bitcointest: %v cannot be spent", at))
			}
			s.spent[at] = true
			in += c.Value
		}
		for n, c := range t.Out {
			s.coins[Point{t.id, n}] = c
			out += c.Value
		}
		if !t.Coinbase && in < out {
			panic(fmt.Sprintf("bitcointest: %d satoshis pay %d", in, out))
		}
		b.txs = append(b.txs, t)
		ids = append(ids, t.id)
	}
	s.blocks = append(s.blocks, b)
	return ids
}

// Confirm adds blocks without transactions.
func (s *Server) Confirm(at time.Time, n int) {
	for range n {
		s.Mine(at)
	}
}

// Drop removes the last blocks, as a reorganization does, and returns their transactions, which can be mined again.
func (s *Server) Drop(n int) (out []Tx) {
	for _, b := range s.blocks[len(s.blocks)-n:] {
		out = append(out, b.txs...)
		for _, t := range b.txs {
			for _, at := range t.Spends {
				delete(s.spent, at)
			}
		}
	}
	s.blocks = s.blocks[:len(s.blocks)-n]
	return out
}

// touches reports whether a transaction spends or makes an output of an address.
func (s *Server) touches(t Tx, address string) bool {
	has := func(c Coin) bool { return c.Address == address }
	return slices.ContainsFunc(t.Out, has) || slices.ContainsFunc(t.Foreign, has) ||
		slices.ContainsFunc(t.Spends, func(at Point) bool { return has(s.coins[at]) })
}

// Unspent returns the outputs of the chain that are not spent and that a function accepts.
func (s *Server) Unspent(accept func(Coin) bool) (out []Point, sum int64) {
	for _, b := range s.blocks {
		for _, t := range b.txs {
			for n, c := range t.Out {
				if at := (Point{t.id, n}); !s.spent[at] && accept(c) {
					out, sum = append(out, at), sum+c.Value
				}
			}
		}
	}
	return out, sum
}

// Height returns the height of the last block.
func (s *Server) Height() int { return len(s.blocks) - 1 }

// Worth returns how many satoshis an output has.
func (s *Server) Worth(at Point) int64 { return s.coins[at].Value }
