package evm_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/evm"
	"github.com/bursarhq/bursar/internal/provider/evm/evmtest"
)

// The contracts that the test makes, written for it in the language of the virtual machine.
const (
	// coinCode is a token with the symbol TKN and 6 digits after the point. Who makes it gets 1,000,000.
	coinCode = "0x6500e8d4a5100033556500e8d4a510005f52335f7fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef60205fa36100" +
		"d36100465f396100d35ff35f3560e01c8063a9059cbb1461007a57806370a082311461006f578063313ce5671461003457806395d89b411461003d57" +
		"5f5ffd5b60065f5260205ff35b60205f5260036020527f544b4e00000000000000000000000000000000000000000000000000000000006040526060" +
		"5ff35b600435545f5260205ff35b6024353354106100cf5760243533540333556004355460243501600435556024355f52600435337fddf252ad1be2" +
		"c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef60205fa360015f5260205ff35b5f5ffd"
	// forwarderCode sends what it gets to the address in the first word, and takes it back if the second word is not zero.
	forwarderCode = "0x61001661000d5f396100165ff35f5f5f5f345f355af15060203561001257005b5f5ffd"
	// outerCode sends half of what it gets to the address in the first word, through the forwarder in the second, which takes it back; and
	// half directly.
	outerCode = "0x61002661000d5f396100265ff35f355f5260016020525f5f60405f600234046020355af1505f5f5f5f600234045f355af15000"
)

// node is a node of go-ethereum on a simulated chain.
type node struct {
	*testing.T
	url string
}

// startNode builds and starts a node.
func startNode(t *testing.T) *node {
	t.Helper()
	program := filepath.Join(t.TempDir(), "evmnode")
	build := exec.CommandContext(t.Context(), "go", "build", "-C", "../../../tools", "-o", program, "./evmnode")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("the node cannot be built: %v\n%s", err, out)
	}
	command := exec.Command(program)
	command.Stderr = t.Output()
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = input.Close() // the node ends
		_ = command.Wait()
	})
	url, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return &node{t, strings.TrimSpace(url)}
}

// call calls a method.
func (n *node) call(into any, method string, params ...any) {
	n.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": append([]any{}, params...)})
	if err != nil {
		n.Fatal(err)
	}
	response, err := http.Post(n.url, "application/json", bytes.NewReader(body))
	if err != nil {
		n.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct {
		Result json.RawMessage
		Error  any
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || answer.Error != nil {
		n.Fatalf("%s: %v %v", method, answer.Error, err)
	}
	if err := json.Unmarshal(answer.Result, into); err != nil {
		n.Fatalf("%s: %v", method, err)
	}
}

// send sends a transaction of an account; without an address it makes a contract. It returns its hash.
func (n *node) send(account, to, coins, data string) (hash string) {
	n.Helper()
	tx := map[string]any{"value": "0x" + evmtest.Wei(coins).Text(16), "data": data, "gas": "0xf4240"}
	if to != "" {
		tx["to"] = to
	}
	n.call(&hash, "sim_send", account, tx)
	return hash
}

// commit makes blocks, and returns the hash of the last one.
func (n *node) commit(blocks int) (hash string) {
	n.Helper()
	for range blocks {
		n.call(&hash, "sim_commit")
	}
	return hash
}

// deploy makes a contract of the wallet in a block of its own, and returns its address.
func (n *node) deploy(code string) string {
	n.Helper()
	hash := n.send("wallet", "", "0", code)
	n.commit(1)
	var receipt struct{ ContractAddress, Status string }
	if n.call(&receipt, "eth_getTransactionReceipt", hash); receipt.Status != "0x1" {
		n.Fatalf("%+v", receipt)
	}
	return receipt.ContractAddress
}

// arguments returns the arguments of a contract: addresses and numbers.
func arguments(all ...any) (out string) {
	for _, one := range all {
		switch one := one.(type) {
		case string:
			out += evmtest.Topic(one)[2:]
		case int64:
			out += evmtest.Word(big.NewInt(one))
		}
	}
	return out
}

func TestAWalletOnANodeOfGoEthereumIsRead(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("the node takes minutes to build for the first time")
	}
	n := startNode(t)
	var wallet, rich string
	n.call(&wallet, "sim_account", "wallet")
	n.call(&rich, "sim_account", "rich")
	received := n.send("rich", wallet, "10", "0x")
	n.commit(1)
	coin, forwarder, outer := n.deploy(coinCode), n.deploy(forwarderCode), n.deploy(outerCode)
	paid := n.send("wallet", rich, "1.5", "0x")
	self := n.send("wallet", wallet, "2", "0x")
	tokens := n.send("wallet", coin, "0", "0xa9059cbb"+arguments(rich, int64(250_000_001)))
	inside := n.send("rich", outer, "3", "0x"+arguments(wallet, forwarder))
	undone := n.send("wallet", forwarder, "1", "0x"+arguments(rich, int64(1)))
	tooMany := n.send("rich", coin, "0", "0xa9059cbb"+arguments(wallet, int64(999_999_000_000)))
	through := n.send("wallet", forwarder, "0.25", "0x"+arguments(rich, int64(0)))
	fork := n.commit(1)
	back := n.send("rich", coin, "0", "0xa9059cbb"+arguments(wallet, int64(1_000_000)))
	n.commit(70)

	r := &nodeWallet{node: n, connector: evm.Other, address: wallet, coin: strings.ToLower(coin), read: map[string]provider.Record{}}
	r.session = provider.NewDialer(provider.Description{Title: "the chain"}, provider.Config{AllowPrivate: true}).Open(provider.Credentials{
		provider.Address: secret.New(wallet), provider.RPCURL: secret.New(n.url)}, false)
	account, err := r.connector.Check(t.Context(), r.session)
	if err != nil || account.ID != "1337:"+strings.ToLower(wallet) || len(account.Warnings) != 1 {
		t.Errorf("%+v %v", account, err)
	}
	r.sync()
	r.wants(received, "+10 ETH")
	r.wants(paid, "-1.5 ETH and the fee")
	r.wants(self, "-0 ETH and the fee")
	r.wants(tokens, "-0 ETH and the fee", "-250.000001 "+r.coin)
	r.wants(inside, "+1.5 ETH")
	r.wants(undone, "-0 ETH and the fee")
	r.wants(tooMany)
	r.wants(through, "-0.25 ETH and the fee")
	r.wants(back, "+1 "+r.coin)

	n.call(new(any), "sim_fork", fork)
	n.commit(5)
	again := n.send("rich", wallet, "0.125", "0x")
	n.commit(100)
	r.sync()
	r.wants(back)
	r.wants(paid, "-1.5 ETH and the fee")
	r.wants(again, "+0.125 ETH")
	if r.removed == 0 {
		t.Error("nothing was taken back")
	}
}

// nodeWallet is what was read of the wallet on the node.
type nodeWallet struct {
	*node
	connector     evm.Connector
	session       *provider.Session
	address, coin string
	cursor        string
	read          map[string]provider.Record
	removed       int
}

// sync reads to the end, and requires that the records add up to what the node says that the wallet held then.
func (r *nodeWallet) sync() {
	r.Helper()
	for more := true; more; {
		p, err := r.connector.Read(r.Context(), r.session, "transactions", r.cursor)
		if err != nil || len(p.Omitted) > 0 {
			r.Fatal(p.Omitted, err)
		}
		for _, id := range p.Removed {
			delete(r.read, id)
			r.removed++
		}
		for _, record := range p.Records {
			r.read[record.ExternalID] = record
		}
		r.cursor, more = p.Cursor, p.More
	}
	sums := map[string]money.Decimal{}
	for _, record := range r.read {
		sums[record.Currency] = sums[record.Currency].Add(*record.Moved())
	}
	r.session.Cursors = map[string]string{"transactions": r.cursor}
	got, err := r.connector.Balances(r.Context(), r.session)
	if want := provider.Complete(sums).Balances; err != nil || fmt.Sprint(nonzero(got)) != fmt.Sprint(want) {
		r.Errorf("the records add up to %v, and the balance is %v %v", want, got, err)
	}
	var coins, tokens string
	r.call(&coins, "eth_getBalance", r.address, "finalized")
	r.call(&tokens, "eth_call", map[string]any{"to": r.coin, "data": "0x70a08231" + arguments(r.address)}, "finalized")
	held := func(text string, places int) money.Decimal {
		n, _ := new(big.Int).SetString(strings.TrimPrefix(text, "0x"), 16)
		return money.MustParse(n.String()).Mul(money.MustParse("0." + strings.Repeat("0", places-1) + "1"))
	}
	if want := held(coins, 18); !sums["ETH"].Equal(want) || !sums[r.coin].Equal(held(tokens, 6)) {
		r.Errorf("%v, and the node says %s ETH and %s tokens", sums, want, held(tokens, 6))
	}
}

// wants requires the records of a transaction, less the fee.
func (r *nodeWallet) wants(hash string, want ...string) {
	r.Helper()
	h := &history{T: r.T, read: map[string]provider.Record{}}
	for id, record := range r.read {
		if fee := record.Crypto.FeeQuantity; fee != nil {
			less := record.Quantity.Sub(*fee)
			c := *record.Crypto
			record.Quantity, c.FeeQuantity, record.Crypto, record.Type = &less, nil, &c, "and the fee"
		} else if record.Type == "FEE" {
			record.Quantity, record.Type = &money.Decimal{}, "and the fee"
		}
		h.read[id] = record
	}
	h.wants(hash, want...)
}
