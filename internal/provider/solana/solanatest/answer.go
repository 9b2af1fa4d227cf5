package solanatest

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
)

// row is an object of an answer.
type row = map[string]any

// refusal is an error of JSON-RPC.
type refusal struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Answer answers a request.
func (s *Server) Answer(w http.ResponseWriter, r *http.Request, body []byte) {
	if s.Revoked() {
		http.Error(w, "Forbidden", http.StatusForbidden)
		return
	}
	var call struct {
		Version string            `json:"jsonrpc"`
		ID      json.RawMessage   `json:"id"`
		Method  string            `json:"method"`
		Params  []json.RawMessage `json:"params"`
	}
	w.Header().Set("Content-Type", "application/json")
	out := row{"jsonrpc": "2.0"}
	if err := json.Unmarshal(body, &call); err != nil || r.Method != http.MethodPost || call.Version != "2.0" ||
		r.Header.Get("Content-Type") != "application/json" {
		out["error"], out["id"] = refusal{-32700, "Parse error"}, nil
	} else {
		out["id"] = call.ID
		if result, refused := s.result(call.Method, call.Params); refused != nil {
			out["error"] = refused
		} else {
			out["result"] = result
		}
	}
	if err := json.NewEncoder(w).Encode(out); err != nil {
		panic(err)
	}
}

// options is what the requests state beside an address.
type options struct {
	Limit      int    `json:"limit"`
	Before     string `json:"before"`
	Until      string `json:"until"`
	Commitment string `json:"commitment"`
	Encoding   string `json:"encoding"`
	Version    *int   `json:"maxSupportedTransactionVersion"`
	Program    string `json:"programId"`
}

// result returns the result of a request.
func (s *Server) result(method string, params []json.RawMessage) (any, *refusal) {
	if method == "getBlockTime" {
		return s.blockTime(params)
	}
	var key string
	var first, second options
	for i, into := range []any{&key, &first, &second} {
		if i < len(params) && json.Unmarshal(params[i], into) != nil {
			return nil, &refusal{-32602, "Invalid params"}
		}
	}
	last := first
	if method == "getTokenAccountsByOwner" {
		last = second
	}
	switch {
	case method == "getGenesisHash":
		return Genesis, nil
	case method == "getFirstAvailableBlock":
		return s.First, nil
	case len(params) < 2 || last.Commitment != "finalized":
		return nil, &refusal{-32602, "Invalid params: the tests want what is final"}
	case method == "getBalance":
		return s.context(s.accounts[key].lamports), nil
	case method == "getAccountInfo":
		return s.context(s.info(key)), nil
	case method == "getTokenSupply":
		if _, ok := s.supply[key]; !ok {
			return nil, &refusal{-32602, "Invalid param: could not find account"}
		}
		return s.context(s.amount(key, s.supply[key])), nil
	case method == "getTokenAccountsByOwner":
		return s.context(s.owned(key, first.Program)), nil
	case method == "getSignaturesForAddress":
		return s.list(key, first), nil
	case method == "getTransaction":
		return s.transaction(key, first)
	}
	return nil, &refusal{-32601, "Method not found"}
}

func (s *Server) context(value any) row {
	return row{"context": row{"apiVersion": "3.1.8", "slot": 1000 + len(s.done)}, "value": value}
}

// blockTime returns the time of the last block.
func (s *Server) blockTime(params []json.RawMessage) (any, *refusal) {
	if len(params) != 1 || string(params[0]) != strconv.Itoa(1000+len(s.done)) {
		return nil, &refusal{-32602, "Invalid params: the tests want the last block"}
	}
	return s.Now().Add(-Finality).Unix(), nil
}

func (s *Server) info(key string) any {
	a, ok := s.accounts[key]
	if !ok {
		return nil
	}
	owner := System
	if a.tokens != nil {
		owner = a.tokens.Program
	}
	return row{"data": []string{"", "base64"}, "executable": false, "lamports": a.lamports, "owner": owner,
		"rentEpoch": 18446744073709551615.0, "space": 0}
}

func (s *Server) amount(mint string, amount int64) row {
	return row{"amount": strconv.FormatInt(amount, 10), "decimals": s.decimals[mint], "uiAmount": nil, "uiAmountString": ""}
}

// owned returns the token accounts of a wallet.
func (s *Server) owned(owner, program string) []row {
	out := []row{}
	for _, key := range slices.Sorted(maps.Keys(s.accounts)) {
		a := s.accounts[key]
		if a.tokens == nil || a.tokens.Owner != owner || a.tokens.Program != program {
			continue
		}
		out = append(out, row{"pubkey": key, "account": row{"lamports": a.lamports, "owner": program, "executable": false, "space": 165,
			"data": row{"program": "spl-token", "space": 165, "parsed": row{"type": "account", "info": row{"isNative": a.tokens.Mint == Native,
				"mint": a.tokens.Mint, "owner": owner, "state": "initialized", "tokenAmount": s.amount(a.tokens.Mint, a.tokens.Change)}}}}})
	}
	return out
}

// list returns the signatures of the transactions of an account, the newest first.
func (s *Server) list(key string, o options) []row {
	out, seen := []row{}, o.Before == ""
	for _, e := range slices.Backward(s.done) {
		if e.signature == o.Until || len(out) == min(cmp.Or(o.Limit, 1000), s.PageSize) {
			break
		}
		if seen && slices.Contains(e.keys, key) {
			out = append(out, row{"signature": e.signature, "slot": e.slot, "err": e.err(), "memo": nil, "blockTime": e.time(),
				"confirmationStatus": "finalized"})
		}
		seen = seen || e.signature == o.Before
	}
	return out
}

func (e executed) err() any {
	if e.Failed {
		return row{"InstructionError": []any{0, row{"Custom": 1}}}
	}
	return nil
}

func (e executed) time() any {
	if e.Timeless {
		return nil
	}
	return e.At.Unix()
}

// transaction returns a transaction.
func (s *Server) transaction(signature string, o options) (any, *refusal) {
	at := slices.IndexFunc(s.done, func(e executed) bool { return e.signature == signature })
	if at < 0 || s.Missing[signature] {
		return nil, nil
	}
	e := s.done[at]
	if e.Lookup > 0 && o.Version == nil {
		return nil, &refusal{-32015, "Transaction version (0) is not supported by the requesting client. Please try the request again with the " +
			"following configuration parameter: \"maxSupportedTransactionVersion\": 0"}
	}
	var pre, post []int64
	before, after := []row{}, []row{}
	for i := range e.keys {
		pre, post = append(pre, e.pre[i].lamports), append(post, e.post[i].lamports)
		before, after = s.holds(before, i, e.pre[i], e.Old), s.holds(after, i, e.post[i], e.Old)
	}
	static := len(e.keys) - e.Lookup
	writable := static + e.Lookup/2
	version := any("legacy")
	if e.Lookup > 0 {
		version = 0
	}
	program := slices.Index(e.keys, cmp.Or(e.Program, System))
	return row{"slot": e.slot, "blockTime": e.time(), "version": version,
		"transaction": row{"signatures": []string{e.signature}, "message": row{"accountKeys": e.keys[:static],
			"header":       row{"numRequiredSignatures": 1, "numReadonlySignedAccounts": 0, "numReadonlyUnsignedAccounts": 2},
			"instructions": []row{{"programIdIndex": program, "accounts": []int{0}, "data": "", "stackHeight": 1}}, "recentBlockhash": Genesis}},
		"meta": row{"err": e.err(), "fee": e.Fee, "preBalances": pre, "postBalances": post, "preTokenBalances": before,
			"postTokenBalances": after, "innerInstructions": []row{}, "logMessages": []string{}, "rewards": []row{},
			"loadedAddresses": row{"writable": e.keys[static:writable], "readonly": e.keys[writable:]}, "computeUnitsConsumed": 150}}, nil
}

// holds adds what an account holds of a token.
func (s *Server) holds(out []row, index int, held state, old bool) []row {
	if held.tokens == nil {
		return out
	}
	one := row{"accountIndex": index, "mint": held.tokens.Mint, "owner": held.tokens.Owner, "programId": held.tokens.Program,
		"uiTokenAmount": s.amount(held.tokens.Mint, held.tokens.Change)}
	if old {
		delete(one, "owner")
		delete(one, "programId")
	}
	return append(out, one)
}
