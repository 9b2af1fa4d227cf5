package evm

import (
	"encoding/json"
	"math/big"
	"strings"
)

// body is a transaction as a block contains it.
type body struct {
	Hash      string  `json:"hash"`
	From      string  `json:"from"`
	To        *string `json:"to"`
	Input     string  `json:"input"`
	Value     number  `json:"value"`
	Mint      number  `json:"mint"` // coins that a rollup makes for the sender
	Price     number  `json:"gasPrice"`
	Index     height  `json:"transactionIndex"`
	Block     height  `json:"blockNumber"`
	BlockHash string  `json:"blockHash"`

	original json.RawMessage
}

// parseBody returns a transaction.
func parseBody(raw json.RawMessage) (out body, err error) {
	out = body{Index: -1, Block: -1}
	if err := json.Unmarshal(raw, &out); err != nil {
		return out, err
	}
	out.Hash, out.BlockHash, out.From = strings.ToLower(out.Hash), strings.ToLower(out.BlockHash), strings.ToLower(out.From)
	if out.To != nil {
		to := strings.ToLower(*out.To)
		out.To = &to
	}
	if !isHash(out.Hash) || !isHash(out.BlockHash) || !isAddress(out.From) || out.To != nil && !isAddress(*out.To) || out.Value.Int == nil ||
		out.Index < 0 || out.Block < 0 {
		return out, errForm
	}
	out.original = raw
	return out, nil
}

// receipt is what became of a transaction.
type receipt struct {
	Hash      string  `json:"transactionHash"`
	Block     height  `json:"blockNumber"`
	BlockHash string  `json:"blockHash"`
	Status    number  `json:"status"`
	Gas       number  `json:"gasUsed"`
	Price     number  `json:"effectiveGasPrice"`
	L1Fee     number  `json:"l1Fee"` // of the OP stack and of Scroll
	BlobGas   number  `json:"blobGasUsed"`
	BlobPrice number  `json:"blobGasPrice"`
	Created   *string `json:"contractAddress"`

	original json.RawMessage
}

// parseReceipt returns a receipt. Its events are left out of the original: those that concern the wallet are in originals of their own.
func parseReceipt(raw json.RawMessage) (out receipt, err error) {
	out = receipt{Block: -1}
	if err := json.Unmarshal(raw, &out); err != nil {
		return out, err
	}
	out.Hash, out.BlockHash = strings.ToLower(out.Hash), strings.ToLower(out.BlockHash)
	if !isHash(out.Hash) || !isHash(out.BlockHash) || out.Block < 0 || out.Gas.Int == nil || out.Created != nil &&
		!isAddress(strings.ToLower(*out.Created)) {
		return out, errForm
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return out, err
	}
	delete(all, "logs")
	delete(all, "logsBloom")
	out.original, err = json.Marshal(all)
	return out, err
}

// executed is a transaction and what became of it.
type executed struct {
	body
	receipt receipt
}

// succeeded reports whether a transaction did what it was to do. Receipts of before October 2017 do not tell.
func (e executed) succeeded() bool { return e.receipt.Status.Int == nil || e.receipt.Status.Sign() > 0 }

// fee returns what the sender has paid for a transaction.
func (e executed) fee() *big.Int {
	price := e.receipt.Price
	if price.Int == nil {
		price = e.Price
	}
	out := new(big.Int).Mul(e.receipt.Gas.Int, price.orZero())
	out.Add(out, e.receipt.L1Fee.orZero())
	return out.Add(out, new(big.Int).Mul(e.receipt.BlobGas.orZero(), e.receipt.BlobPrice.orZero()))
}

// to returns who a transaction goes to: the new contract if it makes one.
func (e executed) to() string {
	switch {
	case e.To != nil:
		return *e.To
	case e.receipt.Created != nil:
		return strings.ToLower(*e.receipt.Created)
	}
	return ""
}

// selectorSize is how many characters name a method of a contract.
const selectorSize = 10

// category returns the method that a transaction calls, and an empty text for a plain transfer.
func (e executed) category() string {
	switch {
	case e.To == nil:
		return "create"
	case len(e.Input) < selectorSize:
		return ""
	}
	selector := strings.ToLower(e.Input[:selectorSize])
	if !isHex(selector, (selectorSize-2)/2) {
		return ""
	}
	if name := methods[selector]; name != "" {
		return name
	}
	return selector
}

// methods are the methods of tokens, which say nothing but what is recorded anyway.
var methods = map[string]string{
	"0xa9059cbb": "transfer", "0x23b872dd": "transferFrom", "0x095ea7b3": "approve", "0x42842e0e": "safeTransferFrom",
	"0xf242432a": "safeTransferFrom", "0x2eb2c2d6": "safeBatchTransferFrom", "0xd0e30db0": "deposit", "0x2e1a7d4d": "withdraw",
}
