// Package bitcoin reads wallets of Bitcoin through the HTTP API of Esplora. A wallet is an address, an extended public key or a descriptor;
// addresses are derived here, and only addresses are sent to the server.
package bitcoin

import (
	"context"
	"errors"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/provider"
)

const (
	title    = "Bitcoin"
	ledger   = "transactions"
	gapLimit = "gap_limit"
	symbol   = "BTC"
	chain    = "bitcoin"
	// depth is how many confirmations make a transaction final.
	depth = 6
	// genesis is the hash of the first block of the main network.
	genesis = "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f"
)

var errAddress = errors.New("is neither an address of Bitcoin, nor an extended public key (xpub, ypub, zpub), nor a descriptor: " +
	"copy it again in full")

// Connector reads wallets of Bitcoin.
type Connector struct{}

// Describe says what is needed to read a wallet.
func (Connector) Describe() provider.Description {
	return provider.Description{
		Name: "bitcoin", Title: title, Kind: provider.Chain, URL: "https://blockstream.info/api",
		Fields: []provider.Field{
			{Name: provider.Address, Title: "Address, extended public key or descriptor", Open: true, Max: 2000,
				Help: "One address, an xpub, ypub or zpub with all of its addresses, or an output descriptor such as wpkh(xpub…/<0;1>/*)."},
			{Name: gapLimit, Title: "Gap limit", Open: true, Optional: true, Max: 4,
				Help: "After how many addresses without transactions no further ones are expected. Wallets use 20."},
			{Name: provider.RPCURL, Title: "Address of an Esplora server", Secret: true, Optional: true, Max: 500,
				Help: "Another server than the public one, such as https://esplora.example.com/api."},
		},
		Advice: "Copy the public key of the account or its descriptor from the wallet, never a private key or the words of a seed. An xpub " +
			"stands for addresses that begin with 1, a ypub for those with 3, a zpub for those with bc1q; for others, such as those with bc1p or " +
			"of several signers, enter a descriptor with both chains, <0;1>. The server learns the addresses of the wallet, and the public one " +
			"allows about 700 requests in an hour: run a server of Esplora for large wallets. If there is a new block, each address of the " +
			"wallet takes a request, and so do 20 unused addresses of each chain; a single address always takes one. Transactions count after " +
			"6 confirmations, also in the balance. A transaction that others have paid in is recorded by what it changed in the wallet, with " +
			"the category collaborative.",
		Ledgers: []string{ledger},
		Rate:    provider.Rate{Burst: 10, Every: 250 * time.Millisecond, Shared: true},
		Unverified: []string{
			"whether all servers return 25 transactions at a time, as documented: fewer are taken for the last ones",
			"payments to addresses that are further behind the last used one than the gap limit and 100 more are not found, and count as " +
				"paid to others",
			"transactions of blocks that were replaced after 6 confirmations are taken back if they are among the last 200 of the last 100 blocks",
			"coins that were received twice by transactions of the same id, which happened to miners in 2010, count once",
			"networks for tests, and outputs without an address",
		},
	}
}

// Check asks whether the server is one of the main network, and whether the first address is known to it.
func (Connector) Check(ctx context.Context, s *provider.Session) (out provider.Account, err error) {
	w, err := open(s)
	if err != nil {
		return out, err
	}
	c, err := dial(s)
	if err != nil {
		return out, err
	}
	first, err := c.hash(ctx, 0)
	switch {
	case errors.Is(err, errMissing) || err == nil && first != genesis:
		return out, fault.Conflictf("the server of Bitcoin is not one of the main network: check its address")
	case err != nil:
		return out, err
	}
	at, err := w.output(place{})
	if err != nil {
		return out, err
	}
	found, err := c.stats(ctx, at.address)
	if err != nil {
		return out, err
	}
	out = provider.Account{ID: at.address, Name: at.address}
	if w.bare && found.Count == 0 {
		out.Warnings = append(out.Warnings, "the first address of the extended public key, "+at.address+", has no transactions. If the wallet "+
			"has other addresses, enter its ypub, zpub or descriptor")
	}
	if len(w.branches) == 1 && w.branches[0].ranged {
		out.Warnings = append(out.Warnings, "the descriptor has one chain of addresses. If the wallet sends change to another, enter both, "+
			"such as <0;1>: otherwise change counts as paid to others")
	}
	return out, nil
}
