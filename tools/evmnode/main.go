// Command evmnode runs a node of go-ethereum on a chain of its own, in memory, for tests. Blocks are made with the method sim_commit only.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math/big"
	"os"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
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

// million is the balance of the account that has coins at the beginning.
const million = 1_000_000

// chain is what tests control.
type chain struct{ beacon *catalyst.SimulatedBeacon }

// Commit makes a block of the transactions that wait.
func (c chain) Commit() common.Hash { return c.beacon.Commit() }

// Fork has the next blocks follow another one.
func (c chain) Fork(parent common.Hash) error { return c.beacon.Fork(parent) }

// Wait makes an empty block so many seconds later.
func (c chain) Wait(seconds uint64) error { return c.beacon.AdjustTime(time.Duration(seconds) * time.Second) }

func main() {
	rich := flag.String("rich", "", "the address with coins at the beginning")
	flag.Parse()
	if err := run(common.HexToAddress(*rich)); err != nil {
		log.Fatal(err)
	}
}

// run starts the node, prints its address, and runs until its input ends.
func run(rich common.Address) error {
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
	alloc[rich] = types.Account{Balance: new(big.Int).Mul(big.NewInt(million), big.NewInt(params.Ether))}
	config.Genesis = &core.Genesis{Config: params.AllDevChainProtocolChanges, GasLimit: config.Miner.GasCeil, Alloc: alloc}
	config.SyncMode, config.TxPool.NoLocals, config.LogNoHistory, config.NoPruning = ethconfig.FullSync, true, true, true
	backend, err := eth.New(stack, &config)
	if err != nil {
		return err
	}
	beacon, err := catalyst.NewSimulatedBeacon(0, common.Address{}, backend)
	if err != nil {
		return err
	}
	stack.RegisterAPIs(append(tracers.APIs(backend.APIBackend), rpc.API{Namespace: "sim", Service: chain{beacon}},
		rpc.API{Namespace: "eth", Service: filters.NewFilterAPI(filters.NewFilterSystem(backend.APIBackend, filters.Config{}))}))
	if err := stack.Start(); err != nil {
		return err
	}
	if err := beacon.Fork(backend.BlockChain().GetCanonicalHash(0)); err != nil {
		return err
	}
	fmt.Println(stack.HTTPEndpoint())
	var nothing any
	_ = json.NewDecoder(os.Stdin).Decode(&nothing) // the end of the input
	return beacon.Stop()
}
