package bitcoin

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/provider/bitcoin/bitcointest"
)

// wallets are wallets of each kind.
var wallets = []string{
	account,
	bitcointest.Address,
	"xpub6BosfCnifzxcFwrSzQiqu2DBVTshkCXacvNsWGYJVVhhawA7d4R5WSWGFNbi8Aw6ZRc1brxMyWMzG3DSSSSoekkudhUd9yLb6qx39T9nMdj",
	"tr(xpub6BgBgsespWvERF3LHQu6CnqdvfEvtMcQjYrcRzx53QJjSxarj2afYWcLteoGVky7D3UKDP9QyrLprQ3VCECoY49yfdDEHGCtMMj92pReUsQ/<0;1>/*)",
	"wsh(sortedmulti(2,xpub6ERApfZwUNrhLCkDtcHTcxd75RbzS1ed54G1LkBUHQVHQKqhMkhgbmJbZRkrgZw4koxb5JaHWkY4ALHY2grBGRjaDMzQLcgJvLJuZZvRcEL/" +
		"<0;1>/*,xpub68NZiKmJWnxxS6aaHmn81bvJeTESw724CRDs6HbuccFQN9Ku14VQrADWgqbhhTHBaohPX4CjNLf9fq9MYo6oDaPPLPxSb7gwQN3ih19Zm4Y/0/<0;1>/*))",
}

// The records of random transactions, read at random times and while blocks are replaced, add up to what is left unspent on the chain.
func TestRecordsAddUpToTheUnspentOutputs(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		text := wallets[seed%uint64(len(wallets))]
		t.Run(fmt.Sprint(seed, " ", strings.Split(text, "(")[0]), func(t *testing.T) {
			t.Parallel()
			r := &random{history: begin(t, text), Rand: rand.New(rand.NewPCG(seed, 1))}
			for branch := range r.own.branches {
				if err := r.own.derive(branch, min(r.own.count(branch, 40), 60)); err != nil {
					t.Fatal(err)
				}
			}
			for range 20 {
				r.step()
			}
			r.Confirm(start, 12)
			r.sync()
			own := func(c bitcointest.Coin) bool { return r.own.has(c.Script) }
			if _, sum := r.Unspent(own); bitcoins(sum).String() != r.balanced() {
				t.Errorf("the unspent outputs are %s, and the records add up to %s", bitcoins(sum), r.balanced())
			}
			if requests, added := r.sync(); requests != 1 || len(added) != 0 {
				t.Errorf("%d requests and %d records with nothing new", requests, len(added))
			}
		})
	}
}

// random is a wallet with which random things happen.
type random struct {
	*history
	*rand.Rand
	used    [2]int // by branch, behind the last address that was used
	longest int    // the height of the highest block at a synchronization
}

// mine returns an output of the wallet, within the gap.
func (r *random) mine(value int64) bitcointest.Coin {
	if r.own.single() {
		return r.to(0, 0, value)
	}
	branch := r.IntN(2)
	index := r.IntN(r.used[branch] + gapDefault)
	if r.IntN(2) == 0 {
		index = r.IntN(3)
	}
	r.used[branch] = max(r.used[branch], min(index+1, 60))
	return r.to(branch, min(index, 59), value)
}

// transaction returns a random transaction with the outputs that are not spent, and takes some of them.
func (r *random) transaction(left []bitcointest.Point, worth func(bitcointest.Point) int64) (tx bitcointest.Tx, rest []bitcointest.Point) {
	total := int64(0)
	for range r.IntN(4) {
		if len(left) > 0 {
			i := r.IntN(len(left))
			tx.Spends = append(tx.Spends, left[i])
			total += worth(left[i])
			left = append(left[:i:i], left[i+1:]...)
		}
	}
	if len(tx.Spends) == 0 || r.IntN(5) == 0 {
		tx.Foreign = []bitcointest.Coin{bitcointest.ToStranger(10_000 + r.Int64N(1_000_000))}
		total += tx.Foreign[0].Value
		tx.Coinbase = len(tx.Spends) == 0 && r.IntN(4) == 0
	}
	total -= r.Int64N(min(total, 500))
	for total > 0 {
		value := total
		if len(tx.Out) < 3 {
			value = 1 + r.Int64N(total)
		}
		total -= value
		if r.IntN(2) == 0 {
			tx.Out = append(tx.Out, r.mine(value))
		} else {
			tx.Out = append(tx.Out, bitcointest.ToStranger(value))
		}
	}
	if tx.Coinbase {
		tx.Foreign = nil
	}
	return tx, left
}

func (r *random) step() {
	switch r.IntN(8) {
	case 0:
		r.Confirm(start, r.IntN(8))
	case 1, 2:
		r.sync()
		r.longest = max(r.longest, r.Height())
		if r.Height() == r.longest && r.IntN(3) == 0 { // what was read of a longer chain stays until the other one is as long
			r.balanced()
		}
	case 3: // other blocks with some of the transactions; what they spend is spent in the order of the former ones
		txs := r.Drop(min(1+r.IntN(9), r.Height()-9))
		txs = txs[:r.IntN(len(txs)+1)]
		for _, tx := range txs {
			r.Mine(start, tx)
		}
		r.Confirm(start, 3+r.IntN(9))
	default:
		var txs []bitcointest.Tx
		left, _ := r.Unspent(func(c bitcointest.Coin) bool { return r.own.has(c.Script) })
		for range 1 + r.IntN(3) {
			var tx bitcointest.Tx
			tx, left = r.transaction(left, func(at bitcointest.Point) int64 { return r.Worth(at) })
			txs = append(txs, tx)
		}
		r.Mine(start, txs...)
	}
}
