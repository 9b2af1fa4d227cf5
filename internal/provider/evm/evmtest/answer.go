package evmtest

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
)

// row is an object of an answer.
type row = map[string]any

// refusal is an error of JSON-RPC.
type refusal struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// request is a call of a method.
type request struct {
	Version string            `json:"jsonrpc"`
	ID      json.RawMessage   `json:"id"`
	Method  string            `json:"method"`
	Params  []json.RawMessage `json:"params"`
}

// Answer answers a request with one call or several. The answers to several are in another order.
func (s *Server) Answer(w http.ResponseWriter, r *http.Request, body []byte) {
	if s.Revoked() || r.URL.Path != key {
		http.Error(w, `{"error":"invalid key"}`, http.StatusUnauthorized)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	var out any
	var several []request
	var single request
	switch {
	case r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json":
		out = row{"jsonrpc": "2.0", "id": nil, "error": refusal{-32600, "invalid request"}}
	case json.Unmarshal(body, &several) == nil && s.Together > 0 && len(several) > s.Together:
		out = row{"jsonrpc": "2.0", "id": nil, "error": refusal{-32600, "batch too large"}}
	case several != nil:
		answers := []row{}
		for _, one := range slices.Backward(several) {
			answers = append(answers, s.one(one))
		}
		out = answers
	case json.Unmarshal(body, &single) == nil:
		out = s.one(single)
	default:
		out = row{"jsonrpc": "2.0", "id": nil, "error": refusal{-32700, "parse error"}}
	}
	if err := json.NewEncoder(w).Encode(out); err != nil {
		panic(err)
	}
}

func (s *Server) one(call request) row {
	s.Methods[call.Method]++
	result, refused := s.result(call.Method, call.Params)
	if refused != nil {
		return row{"jsonrpc": "2.0", "id": call.ID, "error": refused}
	}
	return row{"jsonrpc": "2.0", "id": call.ID, "result": result}
}

func (s *Server) result(method string, params []json.RawMessage) (any, *refusal) {
	text := func(i int) (out string) {
		if i < len(params) {
			_ = json.Unmarshal(params[i], &out) // an object stays empty
		}
		return out
	}
	switch method {
	case "eth_chainId":
		return number(s.ChainID), nil
	case "eth_blockNumber":
		return number(s.Height()), nil
	case "eth_getCode":
		if code := s.Code[text(0)]; code != "" {
			return code, nil
		}
		return "0x", nil
	case "eth_getBalance", "eth_getTransactionCount":
		return s.state(method, text(0), text(1))
	case "eth_call":
		return s.call(params)
	case "eth_getBlockByNumber":
		return s.block(text(0), string(params[1]) == "true")
	case "eth_getTransactionByHash", "eth_getTransactionReceipt":
		for _, b := range s.blocks {
			for i, tx := range b.txs {
				if tx.hash == text(0) && method == "eth_getTransactionByHash" {
					return b.body(i), nil
				} else if tx.hash == text(0) {
					return b.receipt(i), nil
				}
			}
		}
		return nil, nil
	case "eth_getLogs":
		return s.logs(params)
	case "trace_filter", "trace_transaction":
		if s.Filters {
			return s.flat(method, params)
		}
	case "debug_traceBlockByNumber":
		if s.Traces {
			return s.nested(text(0))
		}
	}
	return nil, &refusal{-32601, "the method " + method + " does not exist/is not available"}
}

func number[T int | int64](n T) string { return fmt.Sprintf("0x%x", n) }

func big16(n *big.Int) string {
	if n == nil {
		return "0x0"
	}
	return "0x" + n.Text(16)
}

// at returns the block that a tag or a number stands for, and false if there is none.
func (s *Server) at(tag string) (block, *refusal, bool) {
	switch {
	case tag == "latest":
		return s.blocks[len(s.blocks)-1], nil, true
	case tag == "finalized" && s.Final:
		return s.blocks[len(s.blocks)-1], nil, true
	}
	var n int64
	if _, err := fmt.Sscanf(tag, "0x%x", &n); err != nil || fmt.Sprintf("0x%x", n) != tag {
		return block{}, &refusal{-32602, "invalid argument 0: hex string without 0x prefix"}, false
	}
	if n >= int64(len(s.blocks)) {
		return block{}, nil, false
	}
	return s.blocks[n], nil, true
}

func (s *Server) state(method, address, tag string) (any, *refusal) {
	b, refused, ok := s.at(tag)
	switch {
	case refused != nil:
		return nil, refused
	case !ok:
		return nil, &refusal{-32000, "header not found"}
	case !s.Archive && b.number < s.Height()-2:
		return nil, &refusal{-32000, "missing trie node 0123 (path ) state 0x4567 is not available"}
	case method == "eth_getBalance":
		return big16(b.balance(address)), nil
	}
	return number(b.nonces[address]), nil
}

func (s *Server) call(params []json.RawMessage) (any, *refusal) {
	var to struct{ To, Data string }
	if json.Unmarshal(params[0], &to) != nil {
		return nil, &refusal{-32602, "invalid params"}
	}
	t := s.Tokens[to.To]
	switch {
	case t == nil:
		return "0x", nil
	case to.Data == "0x95d89b41" && t.Symbol != "":
		return t.Symbol, nil
	case to.Data == "0x313ce567" && t.Decimals != "":
		return t.Decimals, nil
	case strings.HasPrefix(to.Data, "0x70a08231"):
		n := t.held["0x"+to.Data[len(to.Data)-40:]]
		if n == nil {
			n = new(big.Int)
		}
		return "0x" + Word(n), nil
	}
	return nil, &refusal{3, "execution reverted"}
}

func (s *Server) block(tag string, full bool) (any, *refusal) {
	b, refused, ok := s.at(tag)
	if refused != nil || !ok {
		return nil, refused
	}
	txs, withdrawals := []any{}, []row{}
	for i, tx := range b.txs {
		if full {
			txs = append(txs, b.body(i))
		} else {
			txs = append(txs, tx.hash)
		}
	}
	for i, w := range b.withdrawals {
		withdrawals = append(withdrawals, row{"index": number(b.first + i), "validatorIndex": "0x7", "address": w.Address,
			"amount": number(w.Gwei)})
	}
	return row{"number": number(b.number), "hash": b.hash, "timestamp": number(b.at.Unix()), "transactions": txs, "withdrawals": withdrawals,
		"miner": Address("miner"), "gasUsed": "0x0"}, nil
}

func (b block) body(i int) row {
	tx := b.txs[i]
	to := any(tx.To)
	if tx.To == "" {
		to = nil
	}
	out := row{"hash": tx.hash, "from": tx.From, "to": to, "input": "0x" + strings.TrimPrefix(tx.Input, "0x"), "value": big16(tx.Value),
		"gasPrice": number(tx.Price), "transactionIndex": number(i), "blockNumber": number(b.number), "blockHash": b.hash, "type": "0x2"}
	if tx.Mint != nil {
		out["mint"], out["type"] = big16(tx.Mint), "0x7e"
	}
	return out
}

func (b block) receipt(i int) row {
	tx := b.txs[i]
	out := row{"transactionHash": tx.hash, "blockNumber": number(b.number), "blockHash": b.hash, "status": "0x1", "gasUsed": number(tx.Gas),
		"effectiveGasPrice": number(tx.Price), "contractAddress": nil, "logs": []row{}, "logsBloom": "0x00", "from": tx.From}
	if tx.Failed {
		out["status"] = "0x0"
	}
	if tx.Silent {
		delete(out, "status")
	}
	if tx.created != "" {
		out["contractAddress"] = tx.created
	}
	if tx.L1Fee != nil {
		out["l1Fee"] = big16(tx.L1Fee)
	}
	if tx.BlobGas > 0 {
		out["blobGasUsed"], out["blobGasPrice"] = number(tx.BlobGas), number(tx.BlobPrice)
	}
	return out
}

// bounds returns the blocks of a range, or a refusal.
func (s *Server) bounds(from, to string) ([]block, *refusal) {
	a, refused, ok := s.at(from)
	b, other, okay := s.at(to)
	switch {
	case refused != nil:
		return nil, refused
	case other != nil:
		return nil, other
	case !ok || !okay || a.number > b.number:
		return nil, &refusal{-32000, "invalid block range params"}
	case s.Range > 0 && b.number-a.number >= s.Range:
		return nil, &refusal{-32000, fmt.Sprintf("eth_getLogs is limited to a %d blocks range", s.Range)}
	}
	return s.blocks[a.number : b.number+1], nil
}

func (s *Server) logs(params []json.RawMessage) (any, *refusal) {
	var filter struct {
		FromBlock, ToBlock string
		Topics             []json.RawMessage
	}
	if json.Unmarshal(params[0], &filter) != nil {
		return nil, &refusal{-32602, "invalid params"}
	}
	wanted := make([][]string, len(filter.Topics))
	for i, raw := range filter.Topics {
		one := ""
		if json.Unmarshal(raw, &wanted[i]) != nil && json.Unmarshal(raw, &one) == nil {
			wanted[i] = []string{one}
		}
	}
	blocks, refused := s.bounds(filter.FromBlock, filter.ToBlock)
	if refused != nil {
		return nil, refused
	}
	out := []row{}
	for _, b := range blocks {
		for _, tx := range b.txs {
			for _, l := range tx.Logs {
				if !tx.Failed && matches(l.Topics, wanted) {
					out = append(out, row{"address": l.Contract, "topics": l.Topics, "data": l.Data, "blockNumber": number(b.number), "blockHash": b.hash,
						"transactionHash": tx.hash, "logIndex": number(l.index), "removed": false})
				}
			}
		}
	}
	if s.Results > 0 && len(out) > s.Results {
		return nil, &refusal{-32005, fmt.Sprintf("query returned more than %d results", s.Results)}
	}
	return out, nil
}

func matches(topics []string, wanted [][]string) bool {
	for i, any := range wanted {
		if any != nil && (i >= len(topics) || !slices.Contains(any, topics[i])) {
			return false
		}
	}
	return true
}

// frames returns the calls of a transaction as trace_filter states them.
func (b block) frames(tx Tx) (out []row) {
	kind := "CALL"
	if tx.To == "" {
		kind = "CREATE"
	}
	var visit func(c Call, path []int)
	visit = func(c Call, path []int) {
		action, result := row{"from": c.From, "to": c.To, "value": big16(c.Value), "gas": "0x0", "input": "0x"}, any(row{"gasUsed": "0x0"})
		one := row{"type": "call", "subtraces": len(c.Calls), "traceAddress": path, "transactionHash": tx.hash, "blockNumber": b.number,
			"blockHash": b.hash}
		switch c.Type {
		case "CREATE":
			one["type"], result = "create", row{"address": c.To}
			delete(action, "to")
		case "SELFDESTRUCT":
			one["type"] = "suicide"
			action, result = row{"address": c.From, "refundAddress": c.To, "balance": big16(c.Value)}, nil
		default:
			action["callType"] = strings.ToLower(c.Type)
			if c.Type == "" {
				action["callType"] = "call"
			}
		}
		one["action"], one["result"] = action, result
		if c.Failed {
			one["error"], one["result"] = "Reverted", nil
		}
		out = append(out, one)
		for i, inner := range c.Calls {
			visit(inner, append(slices.Clone(path), i))
		}
	}
	visit(Call{Type: kind, From: tx.From, To: tx.to(), Value: tx.Value, Failed: tx.Failed, Calls: tx.Calls}, []int{})
	return out
}

func (s *Server) flat(method string, params []json.RawMessage) (any, *refusal) {
	out := []row{}
	if method == "trace_transaction" {
		for _, b := range s.blocks {
			for _, tx := range b.txs {
				if string(params[0]) == `"`+tx.hash+`"` {
					out = b.frames(tx)
				}
			}
		}
		return out, nil
	}
	var filter struct {
		FromBlock, ToBlock     string
		FromAddress, ToAddress []string
	}
	if json.Unmarshal(params[0], &filter) != nil || (filter.FromAddress == nil) == (filter.ToAddress == nil) {
		return nil, &refusal{-32602, "invalid params"}
	}
	blocks, refused := s.bounds(filter.FromBlock, filter.ToBlock)
	if refused != nil {
		return nil, refused
	}
	for _, b := range blocks {
		for _, tx := range b.txs {
			for _, one := range b.frames(tx) {
				action, result := one["action"].(row), one["result"]
				from, to := []any{action["from"], action["address"]}, []any{action["to"], action["refundAddress"]}
				if made, ok := result.(row); ok {
					to = append(to, made["address"])
				}
				if filter.FromAddress != nil && slices.Contains(from, any(filter.FromAddress[0])) ||
					filter.ToAddress != nil && slices.Contains(to, any(filter.ToAddress[0])) {
					out = append(out, one)
				}
			}
		}
	}
	if s.Results > 0 && len(out) > s.Results {
		return nil, &refusal{-32005, fmt.Sprintf("query returned more than %d results", s.Results)}
	}
	return out, nil
}

func (s *Server) nested(tag string) (any, *refusal) {
	b, refused, ok := s.at(tag)
	switch {
	case refused != nil:
		return nil, refused
	case !ok:
		return nil, &refusal{-32000, "block not found"}
	case b.number == 0:
		return nil, &refusal{-32000, "genesis is not traceable"}
	}
	var visit func(c Call) row
	visit = func(c Call) row {
		one := row{"type": c.Type, "from": c.From, "to": c.To, "value": big16(c.Value), "gas": "0x0", "gasUsed": "0x0", "input": "0x"}
		if c.Type == "" {
			one["type"] = "CALL"
		}
		if c.Failed {
			one["error"] = "execution reverted"
		}
		if c.Type == "STATICCALL" {
			delete(one, "value")
		}
		calls := []row{}
		for _, inner := range c.Calls {
			calls = append(calls, visit(inner))
		}
		if len(calls) > 0 {
			one["calls"] = calls
		}
		return one
	}
	out := []row{}
	for _, tx := range b.txs {
		kind := ""
		if tx.To == "" {
			kind = "CREATE"
		}
		out = append(out, row{"txHash": tx.hash, "result": visit(Call{Type: kind, From: tx.From, To: tx.to(), Value: tx.Value,
			Failed: tx.Failed, Calls: tx.Calls})})
	}
	return out, nil
}
