package solana

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/provider"
)

// The errors of servers of Solana that matter.
const (
	codeNotAvailable = -32004 // a block is not there yet
	codeBehind       = -32005 // the server is behind; some servers say so of too many requests
	codeSkipped      = -32007
	codeNoSnapshot   = -32008
	codeMissing      = -32009 // a block is not in the long-term storage
	codeNoHistory    = -32011
	codeScan         = -32012
	codeNoStatus     = -32014
	codeVersion      = -32015
	codeNotReached   = -32016
	codeTooMany      = -32429
	codeStatus       = 429 // some servers state the status of HTTP
	codeInternal     = -32603
)

var (
	// errVersion means that a transaction has a version that did not exist when this connector was written.
	errVersion = errors.New("it has a version that is not known")
	// errMissing means that the server does not have a transaction any more.
	errMissing = errors.New("the server does not have it: enter the address of a server with the whole history, and connect the wallet again")
)

// settings is the object with the options of a request.
type settings map[string]any

// client asks a server.
type client struct {
	s              *provider.Session
	address, query string
	left           int // how many requests the current call should still send
}

// dial returns a client for the server of a session.
func dial(s *provider.Session) (*client, error) {
	c := &client{s: s, address: s.Base(), left: requestsMax}
	if s.Text(provider.RPCURL) != "" {
		u, err := s.Entered(provider.RPCURL, "https://rpc.provider.example/?api-key=…")
		if err != nil {
			return nil, err
		}
		c.query, u.RawQuery = u.RawQuery, ""
		c.address = u.String()
	}
	return c, nil
}

// call sends a request and decodes its result.
func (c *client) call(ctx context.Context, method string, params []any, into any) error {
	c.left--
	if params == nil {
		params = []any{}
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return err
	}
	_, err = c.s.Do(ctx, provider.Call{
		Build: func(ctx context.Context) (*http.Request, error) {
			r, err := c.s.RequestAt(ctx, http.MethodPost, c.address, c.query, string(body))
			if err == nil {
				r.Header.Set("Content-Type", "application/json")
			}
			return r, err
		},
		Explain: func(a provider.Answer) error { return explain(a, into) },
	})
	return err
}

// explain returns the error that an answer states, and otherwise decodes its result.
func explain(a provider.Answer, into any) error {
	if a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden {
		return fault.Unauthorizedf("the server of Solana refuses access: check its address, and the key that it contains. The public server " +
			"refuses many data centers")
	}
	var answer struct {
		Version string          `json:"jsonrpc"`
		Result  json.RawMessage `json:"result"`
		Error   *struct {
			Code    int64  `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal(a.Body, &answer); err != nil {
		return provider.Nonsense(title, err)
	}
	switch {
	case answer.Error != nil:
		return refusal(answer.Error.Code, provider.Clean(answer.Error.Message))
	case a.Status != http.StatusOK || answer.Version != "2.0" || len(answer.Result) == 0:
		return provider.Nonsense(title, fmt.Errorf("status %d without a result and without an error", a.Status))
	}
	if err := json.Unmarshal(answer.Result, into); err != nil {
		return provider.Nonsense(title, err)
	}
	return nil
}

// refusal returns the error for one of a server.
func refusal(code int64, said string) error {
	switch code {
	case codeTooMany, codeStatus:
		return provider.Busy(0, title)
	case codeNotAvailable, codeBehind, codeNoSnapshot, codeScan, codeNoStatus, codeNotReached, codeInternal:
		return provider.Temporary(title, "%s", said)
	case codeSkipped, codeMissing:
		return errMissing
	case codeVersion:
		return errVersion
	case codeNoHistory:
		return fault.Conflictf("the server of Solana keeps no history of transactions: enter the address of one that does")
	}
	return fault.Conflictf("the server of Solana refuses the request: %s", said)
}

// entry is a transaction in the list of an address.
type entry struct {
	Signature string          `json:"signature"`
	Slot      *int64          `json:"slot"`
	Err       json.RawMessage `json:"err"`
	Time      *int64          `json:"blockTime"`
}

// pageSize is how many transactions a list can have.
const pageSize = 1000

// list returns the transactions of an address between two, the newest first. An empty text stands for no limit.
func (c *client) list(ctx context.Context, address, before, until string) (out []entry, err error) {
	options := settings{"limit": pageSize, "commitment": "finalized"}
	if before != "" {
		options["before"] = before
	}
	if until != "" {
		options["until"] = until
	}
	if err := c.call(ctx, "getSignaturesForAddress", []any{address, options}, &out); err != nil {
		return nil, err
	}
	if out == nil {
		return nil, provider.Nonsense(title, errors.New("the transactions are missing"))
	}
	for i, e := range out {
		if !isBase58(e.Signature, signatureSize) || e.Slot == nil || *e.Slot < 0 || i > 0 && *e.Slot > *out[i-1].Slot {
			return nil, provider.Nonsense(title, errors.New("a transaction has no signature, or is not in the order of the slots"))
		}
	}
	return out, nil
}

// transaction returns a transaction as the server states it.
func (c *client) transaction(ctx context.Context, signature string) (out json.RawMessage, err error) {
	err = c.call(ctx, "getTransaction", []any{signature, settings{"encoding": "json", "commitment": "finalized",
		"maxSupportedTransactionVersion": 0}}, &out)
	if err == nil && isNull(out) {
		err = errMissing
	}
	return out, err
}
