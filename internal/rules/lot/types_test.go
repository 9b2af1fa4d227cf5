package lot_test

import (
	"testing"

	"github.com/bursarhq/bursar/internal/rules/lot"
)

// base is what the worked examples of the transaction types begin with.
const base = `
	2025-01-10 buy L1 2 @ 3000.00
	2025-06-01 buy L2 3 @ 6000.00
`

func TestEveryTransactionTypeMovesLotsAsItShould(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		netFees bool
		text    string
	}{
		"withdrawal": {text: base + `
			2025-09-15 sell 2.5 for 6000.00 fee 12.00 -> L1 2 3000.00 +1800.00; L2 0.5 1000.00 +200.00
			A holds L2 2.5 5000.00 2025-06-01`},
		"swap": {text: base + `
			2025-09-15 sell 1 for 2400.00 fee 6.00 -> L1 1 1500.00 +900.00
			USDC: 2025-09-15 buy U1 2394 @ 2394.00
			A holds L1 1 1500.00 2025-01-10; L2 3 6000.00 2025-06-01
			USDC holds U1 2394 2394.00 2025-09-15`},
		"swap with fees off the gain": {netFees: true, text: base + `
			2025-09-15 sell 1 for 2400.00 fee 6.00 -> L1 1 1500.00 +894.00`},
		"conversion": {text: base + `
			2025-09-15 gas 0.002 for 4.80 of convert -> L1 0.002 3.00 +1.80
			2025-09-15 convert 2.5 to WETH 2.5 -> L1 1.998 2997.00; L2 0.502 1004.00
			A holds L2 2.498 4996.00 2025-06-01
			WETH holds t3.1 1.998 2997.00 2025-01-10; t3.2 0.502 1004.00 2025-06-01`},
		"bridge": {text: base + `
			2025-09-15 gas 0.002 for 4.80 of move -> L1 0.002 3.00 +1.80
			2025-09-15 move 0.998 to Arbitrum -> L1 0.998 1497.00
			Arbitrum holds t3.1 0.998 1497.00 2025-01-10`},
		"intercompany at cost": {text: base + `
			2025-09-15 move 1 to B -> L1 1 1500.00
			B holds t3.1 1 1500.00 2025-01-10`},
		"intercompany at fair value": {text: base + `
			2025-09-15 sell 1 for 2400.00 -> L1 1 1500.00 +900.00
			B: 2025-09-15 buy B1 1 @ 2400.00
			B holds B1 1 2400.00 2025-09-15`},
		"internal transfer": {text: base + `
			2025-09-15 gas 0.001 for 2.40 of move -> L1 0.001 1.50 +0.90
			2025-09-15 move 0.999 to B -> L1 0.999 1498.50
			A holds L1 1 1500.00 2025-01-10; L2 3 6000.00 2025-06-01
			B holds t3.1 0.999 1498.50 2025-01-10`},
		"fee": {text: base + `
			2025-09-15 fee 0.01 for 24.00 -> L1 0.01 15.00 +9.00`},
		"minting": {text: base + `
			2025-09-15 sell 0.105 for 252.00 fee 12.00 -> L1 0.105 157.50 +94.50
			NFT: 2025-09-15 buy N1 1 @ 240.00
			NFT holds N1 1 240.00 2025-09-15`},
		"staking reward": {text: base + `
			2025-09-15 buy L3 0.045 @ 108.00
			A holds L1 2 3000.00 2025-01-10; L2 3 6000.00 2025-06-01; L3 0.045 108.00 2025-09-15`},
		"repayment": {text: `
			2025-09-01 buy U1 10050 @ 10048.50
			2025-09-15 sell 10050 for 10050.00 -> U1 10050 10048.50 +1.50
			A holds nothing`},
		"expense": {text: base + `
			2025-09-15 sell 0.625 for 1500.00 -> L1 0.625 937.50 +562.50`},
		"unknown": {text: base + `
			2025-09-15 buy L3 0.4 @ 960.00 mark provisional
			2025-09-16 sell 5.1 for 12240.00 -> L1 2 3000.00 +1800.00; L2 3 6000.00 +1200.00; L3 0.1 240.00 +0.00 provisional
			A holds L3 0.3 720.00 2025-09-15 provisional`},
		"loss": {text: `
			2025-01-10 buy L1 1 @ 2000.00
			2025-09-15 sell 1 for 1700.00 -> L1 1 2000.00 -300.00`},
		"short and long term in one": {text: `
			2024-01-10 buy L1 1 @ 1000.00
			2025-06-01 buy L2 1 @ 2000.00
			2025-09-15 sell 2 for 4800.00 -> L1 1 1000.00 +1400.00 long; L2 1 2000.00 +400.00`},
		"dust without value": {text: `
			2025-01-10 buy L1 1000 @ 0.004
			A holds L1 1000 0.00 2025-01-10
			2025-01-11 sell 400 for 0.01 -> L1 400 0.00 +0.01`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScript(t, lot.Config{})
			s.netFees = c.netFees
			s.play(c.text)
		})
	}
}

// Halves of transfers wait in a pool of identified lots.
func TestAParkedLotKeepsItsBasisAndItsDate(t *testing.T) {
	t.Parallel()
	s := newScript(t, lot.Config{})
	s.special = map[string]lot.Config{"clearing": {Places: 2, Identified: true}}
	s.play(base + `
		2025-09-15 move 2.5 to clearing -> L1 2 3000.00; L2 0.5 1000.00
		A holds L2 2.5 5000.00 2025-06-01
		clearing holds t3.1 2 3000.00 2025-01-10; t3.2 0.5 1000.00 2025-06-01
		clearing: 2025-09-16 gas 0.01 for 24.00 of move pick t3.1 0.01 -> t3.1 0.01 15.00 +9.00
		clearing: 2025-09-16 move 2.49 to B pick t3.1 1.99, t3.2 0.5 -> t3.1 1.99 2985.00; t3.2 0.5 1000.00
		clearing holds nothing
		B holds t4.1 1.99 2985.00 2025-01-10; t4.2 0.5 1000.00 2025-06-01`)
}

func TestAnNFTIsChosenWhateverWasElected(t *testing.T) {
	t.Parallel()
	run(t, lot.Config{Identified: true, Elections: []lot.Election{{Method: lot.LIFO}}}, `
		2025-08-01 buy N1 1 @ 100.00
		2025-08-02 buy N2 1 @ 240.00
		2025-08-03 buy N3 1 @ 300.00
		2025-09-15 sell 1 for 720.00 fee 36.00 pick N2 1 -> N2 1 240.00 +480.00 by specific_id
		2025-09-16 sell 1 for 720.00 fee 36.00 -> N1 1 100.00 +620.00 by specific_id
		A holds N3 1 300.00 2025-08-03`)
}

func TestALotWhoseBasisIsPendingMarksItsUses(t *testing.T) {
	t.Parallel()
	run(t, lot.Config{}, `
		2025-01-10 buy L1 1 @ 2000.00 mark pending
		2025-01-11 move 0.5 to B -> L1 0.5 1000.00 pending
		2025-01-12 sell 0.5 for 1100.00 -> L1 0.5 1000.00 +100.00 pending
		B holds t2.1 0.5 1000.00 2025-01-10 pending`)
}
