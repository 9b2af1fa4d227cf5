package bitcoin

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/bitcoin/bitcointest"
)

// startNode builds and starts a node of btcd on a chain of its own, which pays for blocks to an address.
func startNode(t *testing.T, miner string) *bitcointest.Node {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "btcd")
	build := exec.CommandContext(t.Context(), "go", "build", "-C", "../../../tools", "-o", program, "github.com/btcsuite/btcd")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("btcd cannot be built: %v\n%s", err, out)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	settings := filepath.Join(dir, "btcd.conf")
	if err := os.WriteFile(settings, []byte("[Application Options]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	node := exec.Command(program, "--regtest", "--configfile="+settings, "--datadir="+dir, "--logdir="+dir, "--rpcuser=test", "--rpcpass=test",
		"--notls", "--rpclisten="+address, "--nolisten", "--miningaddr="+miner)
	node.Stdout, node.Stderr = t.Output(), t.Output()
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = node.Process.Kill() // it may have ended
		_ = node.Wait()
	})
	out := &bitcointest.Node{URL: "http://" + address, User: "test", Password: "test"}
	for until := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		var height int
		err := out.Call(&height, "getblockcount")
		if err == nil {
			return out
		}
		if time.Now().After(until) {
			t.Fatal(err)
		}
	}
}

// signer is an extended private key.
type signer struct {
	chain []byte
	key   secp256k1.ModNScalar
}

// public returns the public key that follows from it.
func (s signer) public() extended {
	return extended{s.chain, secp256k1.NewPrivateKey(&s.key).PubKey()}
}

// child returns the private key with an index, by BIP32: the public one with the same index is the sum of points where this one is that of
// numbers.
func (s signer) child(t *testing.T, index uint32) signer {
	t.Helper()
	public, err := s.public().child(index)
	if err != nil {
		t.Fatal(err)
	}
	var add secp256k1.ModNScalar
	add.SetByteSlice(s.public().derive(index)[:sha256.Size])
	add.Add(&s.key)
	out := signer{public.chain, add}
	if !out.public().point.IsEqual(public.point) {
		t.Fatal("the public key is not that of the private one")
	}
	return out
}

// sign returns a transaction whose first and only input spends an output for the hash of the public key.
func (s signer) sign(t *testing.T, unsigned string) string {
	t.Helper()
	raw, err := hex.DecodeString(unsigned)
	if err != nil || raw[4] != 1 || raw[41] != 0 {
		t.Fatalf("not a transaction with one input without a signature: %s %v", unsigned, err)
	}
	public := s.public().point.SerializeCompressed()
	script := toKeyHash(hash160(public)).script
	with := func(script []byte) []byte {
		return append(append(append(append([]byte(nil), raw[:41]...), byte(len(script))), script...), raw[42:]...)
	}
	once := sha256.Sum256(binary.LittleEndian.AppendUint32(with(script), 1))
	twice := sha256.Sum256(once[:])
	signature := append(ecdsa.Sign(secp256k1.NewPrivateKey(&s.key), twice[:]).Serialize(), 1)
	push := append([]byte{byte(len(signature))}, signature...)
	return hex.EncodeToString(with(append(append(push, byte(len(public))), public...)))
}

// regtest returns an address of the network for tests.
func regtest(key extended) string {
	return encodeBase58(append([]byte{0x6f}, hash160(key.point.SerializeCompressed())...))
}

// The wallet mines coins on a node of btcd, spends some of them, and the node goes over to another chain.
func TestAWalletOnANodeOfBtcdIsRead(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("btcd takes half a minute to build for the first time")
	}
	seed := sha256.Sum256([]byte("a wallet for tests"))
	root := signer{chain: make([]byte, chainSize)}
	root.key.SetByteSlice(seed[:])
	payload := append(binary.BigEndian.AppendUint32(nil, xpub), make([]byte, 9)...)
	payload = append(append(payload, root.chain...), root.public().point.SerializeCompressed()...)
	account := encodeBase58(payload)
	first, change := root.child(t, 0).child(t, 0), root.child(t, 1).child(t, 7)

	h := begin(t, account)
	node := startNode(t, regtest(first.public()))
	node.AddressOf = func(script string) string {
		if err := h.own.recognize([]int{0, 0}); err != nil {
			return ""
		}
		if at, ok := h.own.places[script]; ok {
			return h.own.outputs[at.branch][at.index].address
		}
		return bitcointest.Stranger
	}
	server := httptest.NewServer(node)
	t.Cleanup(server.Close)
	config := provider.Config{URL: server.URL, AllowPrivate: true}
	description := Connector{}.Describe()
	description.Rate = provider.Rate{}
	session := provider.NewDialer(description, config).Open(provider.Credentials{provider.Address: secret.New(account)}, false)
	call := func(into any, method string, params ...any) {
		t.Helper()
		if err := node.Call(into, method, params...); err != nil {
			t.Fatalf("%s: %v", method, err)
		}
	}
	r := &nodeWallet{T: t, session: session, read: map[string]provider.Record{}}

	var hashes []string
	call(&hashes, "generate", 105)
	r.sync("5000", 100) // those of the last five blocks are not final
	var mined struct {
		Txs []string `json:"tx"`
	}
	call(&mined, "getblock", hashes[0], 1)
	var unsigned, id string
	stranger := encodeBase58(append([]byte{0x6f}, make([]byte, 20)...))
	call(&unsigned, "createrawtransaction", []any{map[string]any{"txid": mined.Txs[0], "vout": 0}},
		map[string]any{stranger: 30, regtest(change.public()): 19.9999})
	call(&id, "sendrawtransaction", first.sign(t, unsigned))
	call(&hashes, "generate", 6)
	r.sync("5270", 107) // the wallet has mined the fee of its own transaction
	paid := r.read[id]
	if paid.Inflow || paid.Quantity.String() != "30.0001" || paid.Crypto.FeeQuantity.String() != "0.0001" || paid.Crypto.BlockNumber != 106 {
		t.Errorf("%+v %+v", paid, paid.Crypto)
	}

	var nothing any
	call(&nothing, "invalidateblock", hashes[0]) // the transaction returns to those that wait
	call(&hashes, "generate", 7)
	r.sync("5320", 108)
	if r.removed == 0 {
		t.Error("nothing was taken back")
	}
	if again := r.read[id]; again.Quantity == nil || again.Quantity.String() != "30.0001" {
		t.Errorf("%+v", again)
	}
}

// nodeWallet is what was read of the wallet on the node.
type nodeWallet struct {
	*testing.T
	session *provider.Session
	cursor  string
	read    map[string]provider.Record
	removed int
}

// sync reads to the end, and requires a balance and a number of records.
func (r *nodeWallet) sync(balance string, records int) {
	r.Helper()
	for more := true; more; {
		p, err := Connector{}.Read(r.Context(), r.session, ledger, r.cursor)
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
	sum := money.Decimal{}
	for _, record := range r.read {
		sum = sum.Add(*record.Moved())
	}
	got, err := Connector{}.Balances(r.Context(), r.session)
	want := []provider.Balance{{Currency: symbol, Amount: money.MustParse(balance)}}
	if err != nil || sum.String() != balance || fmt.Sprint(got.Balances) != fmt.Sprint(want) || len(r.read) != records {
		r.Errorf("%d records add up to %s, and the balance is %v %v; want %d records and %s", len(r.read), sum, got, err, records, balance)
	}
}
