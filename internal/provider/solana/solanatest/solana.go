// Package solanatest is a fake of a server of Solana for tests. It has accounts, whose coins and tokens transactions move.
package solanatest

import (
	"cmp"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

// The addresses of programs and mints.
const (
	System    = "11111111111111111111111111111111"
	Token     = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
	Token2022 = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"
	Stake     = "Stake11111111111111111111111111111111111111"
	Native    = "So11111111111111111111111111111111111111112"
	USDC      = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
	// Genesis is the hash of the first block.
	Genesis = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d"
	// Rent is what an account of a token needs to exist.
	Rent = 2_039_280
)

// Wallet is the wallet that is read, and Stranger that of somebody else.
var (
	Wallet   = Key("wallet")
	Stranger = Key("stranger")
)

// Key returns the address that a name stands for.
func Key(name string) string {
	sum := sha256.Sum256([]byte(name))
	return encode(sum[:])
}

// encode returns bytes in base 58.
func encode(data []byte) string {
	n, base, digit, out := new(big.Int).SetBytes(data), big.NewInt(58), new(big.Int), ""
	for n.BitLen() > 0 {
		n.DivMod(n, base, digit)
		out = string("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"[digit.Int64()]) + out
	}
	for _, b := range data {
		if b != 0 {
			break
		}
		out = "1" + out
	}
	return out
}

// Tokens makes an account one of a token, or changes what it holds.
type Tokens struct {
	Mint, Owner string
	Program     string // Token by default
	Change      int64
}

// Move is what a transaction does to an account.
type Move struct {
	Account  string
	Lamports int64
	Tokens   *Tokens
	Close    bool // the account ends
}

// Tx is a transaction.
type Tx struct {
	At     time.Time
	Payer  string // of the fee
	Fee    int64
	Failed bool
	// Program is what the transaction calls; System by default.
	Program string
	Moves   []Move
	// Lookup is how many of the last accounts come from lookup tables: half of them can be written.
	Lookup int
	// Old leaves out what servers do not state about old transactions: the owners of token accounts.
	Old bool
	// Timeless leaves out the time.
	Timeless bool
}

// state is what an account holds.
type state struct {
	lamports int64
	tokens   *Tokens // Change is the amount
}

// executed is a transaction that was executed.
type executed struct {
	Tx
	signature string
	slot      int64
	keys      []string
	pre, post []state
}

// Server is a fake of a server of Solana.
type Server struct {
	providertest.Server

	// PageSize is how many transactions are listed at a time.
	PageSize int
	// Missing are signatures of transactions that the server does not have any more.
	Missing map[string]bool
	// First is the first block that the server has.
	First int64

	decimals map[string]int
	supply   map[string]int64
	accounts map[string]state
	done     []executed
}

// Finality is by how much the last final block is older than now.
const Finality = 13 * time.Second

// New returns a fake whose wallet holds nothing.
func New() *Server {
	return &Server{PageSize: 1000, decimals: map[string]int{Native: 9, USDC: 6}, supply: map[string]int64{}, Missing: map[string]bool{},
		accounts: map[string]state{Stranger: {lamports: 1 << 60}}}
}

// Credentials returns what the wallet is read with.
func (s *Server) Credentials() map[string]string { return map[string]string{provider.Address: Wallet} }

// Grant reports that a chain does not tell about rights.
func (s *Server) Grant(provider.Grant) bool { return false }

// Mint adds a token, with as many as there are of it.
func (s *Server) Mint(mint string, decimals int, supply int64) {
	s.decimals[mint], s.supply[mint] = decimals, supply
}

// Add adds movements of the coin, whatever their asset.
func (s *Server) Add(all ...providertest.Movement) {
	for _, m := range all {
		amount, fee := units(m.Amount), units(cmp.Or(m.Fee, "0"))
		tx := Tx{At: m.At, Payer: Stranger, Fee: 5000, Moves: []Move{{Account: Stranger, Lamports: -amount}, {Account: Wallet, Lamports: amount}}}
		switch m.Kind {
		case providertest.Withdrawal:
			tx = Tx{At: m.At, Payer: Wallet, Fee: fee, Moves: []Move{{Account: Wallet, Lamports: -amount}, {Account: Stranger, Lamports: amount}}}
		case providertest.Reward:
			tx.Program = Stake
		case providertest.Novelty:
			tx.Program = Key("a new program")
		}
		s.Execute(tx)
	}
}

// units returns an amount in lamports.
func units(amount string) (n int64) {
	whole, fraction, _ := strings.Cut(money.MustParse(amount).String(), ".")
	if _, err := fmt.Sscan(whole+(fraction + "000000000")[:9], &n); err != nil {
		panic(err)
	}
	return n
}

// Execute executes a transaction and returns its signature. What a failed one would move is not moved.
func (s *Server) Execute(tx Tx) string {
	e := executed{Tx: tx, slot: int64(1000 + len(s.done)/3), keys: []string{tx.Payer}}
	sum := sha512.Sum512(fmt.Append(nil, len(s.done)))
	e.signature = encode(sum[:])
	total := int64(0)
	for _, m := range tx.Moves {
		if !slices.Contains(e.keys, m.Account) {
			e.keys = append(e.keys, m.Account)
		}
		total += m.Lamports
	}
	for _, key := range e.keys {
		e.pre = append(e.pre, s.accounts[key])
	}
	if total != 0 {
		panic(fmt.Sprintf("solanatest: a transaction makes %d lamports", total))
	}
	paid := s.accounts[tx.Payer]
	paid.lamports -= tx.Fee
	s.accounts[tx.Payer] = paid
	for _, m := range tx.Moves {
		if !tx.Failed {
			s.move(m)
		}
	}
	for _, key := range e.keys {
		now := s.accounts[key]
		if now.lamports < 0 {
			panic("solanatest: an account has less than nothing")
		}
		e.post = append(e.post, now)
	}
	for _, key := range []string{cmp.Or(tx.Program, System), Token} { // programs hold one lamport
		e.keys, e.pre, e.post = append(e.keys, key), append(e.pre, state{lamports: 1}), append(e.post, state{lamports: 1})
	}
	s.done = append(s.done, e)
	return e.signature
}

func (s *Server) move(m Move) {
	now := s.accounts[m.Account]
	now.lamports += m.Lamports
	if m.Tokens != nil {
		held := Tokens{Program: Token}
		if now.tokens != nil {
			held = *now.tokens
		}
		held.Mint, held.Owner, held.Change = m.Tokens.Mint, m.Tokens.Owner, held.Change+m.Tokens.Change
		held.Program = cmp.Or(m.Tokens.Program, held.Program)
		if held.Change < 0 {
			panic("solanatest: an account has less than no tokens")
		}
		now.tokens = &held
	}
	if s.accounts[m.Account] = now; m.Close {
		if now.lamports != 0 || now.tokens != nil && now.tokens.Change != 0 {
			panic("solanatest: an account ends that is not empty")
		}
		delete(s.accounts, m.Account)
	}
}

// Held returns what a wallet and its token accounts hold: lamports, and tokens by mint.
func (s *Server) Held(owner string) (lamports int64, tokens map[string]int64) {
	tokens = map[string]int64{}
	for key, a := range s.accounts {
		switch {
		case key == owner:
			lamports += a.lamports
		case a.tokens != nil && a.tokens.Owner == owner:
			lamports += a.lamports
			tokens[a.tokens.Mint] += a.tokens.Change
		}
	}
	return lamports, tokens
}

// Tokens returns what a token account holds, and of which mint; without a mint it does not exist.
func (s *Server) Tokens(account string) (amount int64, mint string) {
	if held := s.accounts[account].tokens; held != nil {
		return held.Change, held.Mint
	}
	return 0, ""
}
