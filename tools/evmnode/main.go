// Command evmnode runs a node of go-ethereum on a simulated chain of its own, in memory, for tests. Blocks are made with the method
// sim_commit only, and it signs transactions for accounts that are called by names.
package main

import (
	"context"
	"crypto/ecdsa"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"os"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/eth"
	"github.com/ethereum/go-ethereum/eth/catalyst"
	"github.com/ethereum/go-ethereum/eth/ethconfig"
	"github.com/ethereum/go-ethereum/eth/filters"
	"github.com/ethereum/go-ethereum/eth/tracers"
	_ "github.com/ethereum/go-ethereum/eth/tracers/native" // the tracer of calls
	"github.com/ethereum/go-ethereum/node"
	"github.com/ethereum/go-ethereum/p2p"
	"github.com/ethereum/go-ethereum/params"
	"github.com/ethereum/go-ethereum/rpc"
)

const (
	// rich is the account that has coins at the beginning, and million is how many.
	rich    = "rich"
	million = 1_000_000
	// tip and price are what transactions offer, in Gwei.
	tip   = 1
	price = 100
)

// chain is what tests control.
type chain struct {
	eth    *eth.Ethereum
	beacon *catalyst.SimulatedBeacon
}

// Commit makes a block of the transactions that wait.
func (c chain) Commit() (common.Hash, error) { return c.beacon.Commit(), c.eth.TxPool().Sync() }

// Fork has the next blocks follow another one.
func (c chain) Fork(parent common.Hash) error {
	return errors.Join(c.beacon.Fork(parent), c.eth.TxPool().Sync())
}

// Account returns the address of an account.
func (c chain) Account(name string) common.Address { return address(name) }

// Transaction is what an account sends.
type Transaction struct {
	To    *common.Address `json:"to"`
	Value hexutil.Big     `json:"value"`
	Data  hexutil.Bytes   `json:"data"`
	Gas   hexutil.Uint64  `json:"gas"`
}

// Send sends a transaction of an account.
func (c chain) Send(ctx context.Context, name string, t Transaction) (common.Hash, error) {
	nonce, err := c.eth.APIBackend.GetPoolNonce(ctx, address(name))
	if err != nil {
		return common.Hash{}, err
	}
	id := c.eth.BlockChain().Config().ChainID
	signed, err := types.SignNewTx(key(name), types.LatestSignerForChainID(id), &types.DynamicFeeTx{ChainID: id, Nonce: nonce, To: t.To,
		GasTipCap: big.NewInt(tip * params.GWei), GasFeeCap: big.NewInt(price * params.GWei), Gas: uint64(t.Gas), Value: t.Value.ToInt(),
		Data: t.Data})
	if err != nil {
		return common.Hash{}, err
	}
	return signed.Hash(), c.eth.APIBackend.SendTx(ctx, signed)
}

func key(name string) *ecdsa.PrivateKey {
	out, err := crypto.ToECDSA(crypto.Keccak256([]byte(name)))
	if err != nil {
		panic(err) // as likely as guessing a key
	}
	return out
}

func address(name string) common.Address { return crypto.PubkeyToAddress(key(name).PublicKey) }

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

// run starts the node, prints its address, and runs until its input ends.
func run() error {
	settings := node.DefaultConfig
	settings.DataDir, settings.P2P = "", p2p.Config{NoDiscovery: true}
	settings.HTTPHost, settings.HTTPPort, settings.HTTPModules = "127.0.0.1", 0, []string{"eth", "debug", "sim"}
	settings.AuthPort = 0
	stack, err := node.New(&settings)
	if err != nil {
		return err
	}
	defer stack.Close()
	config := ethconfig.Defaults
	alloc := core.SystemContractAllocs()
	alloc[address(rich)] = types.Account{Balance: new(big.Int).Mul(big.NewInt(million), big.NewInt(params.Ether))}
	config.Genesis = &core.Genesis{Config: params.AllDevChainProtocolChanges, GasLimit: config.Miner.GasCeil, Alloc: alloc}
	config.SyncMode, config.TxPool.NoLocals, config.LogNoHistory = ethconfig.FullSync, true, true
	config.NoPruning, config.StateScheme = true, "hash" // keep old states
	backend, err := eth.New(stack, &config)
	if err != nil {
		return err
	}
	beacon, err := catalyst.NewSimulatedBeacon(0, common.Address{}, backend)
	if err != nil {
		return err
	}
	stack.RegisterAPIs(append(tracers.APIs(backend.APIBackend), rpc.API{Namespace: "sim", Service: chain{backend, beacon}},
		rpc.API{Namespace: "eth", Service: filters.NewFilterAPI(filters.NewFilterSystem(backend.APIBackend, filters.Config{}))}))
	if err := stack.Start(); err != nil {
		return err
	}
	if err := beacon.Fork(backend.BlockChain().GetCanonicalHash(0)); err != nil {
		return err
	}
	fmt.Println(stack.HTTPEndpoint())
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return beacon.Stop()
}
