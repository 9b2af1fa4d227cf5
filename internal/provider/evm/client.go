package evm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/provider"
)

const (
	// togetherMax is how many calls a request has. Some nodes allow fewer.
	togetherMax = 20
	// codeMissing is the error for a method that does not exist, and codeBusy one for too many requests or too many results.
	codeMissing = -32601
	codeBusy    = -32005
)

// call is a call of a method of the node.
type call struct {
	method string
	params []any
	read   func(result json.RawMessage) error // an error means that the result makes no sense
	// refused is why the node does not do it; nil if it does.
	refused *refusal
}

// refusal is an error that a node states.
type refusal struct {
	Code    int64  `json:"code"`
	Message string `json:"message"`
}

// says reports whether the error contains one of several words.
func (r *refusal) says(words ...string) bool {
	text := strings.ToLower(r.Message)
	for _, word := range words {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// unsupported reports whether the node does not have the method.
func (r *refusal) unsupported() bool {
	return r != nil && (r.Code == codeMissing || r.says("method not found", "does not exist", "not available", "not supported",
		"unsupported", "disabled", "not allowed", "not enabled", "not whitelisted", "upgrade", "your plan", "paid"))
}

// tooLarge reports whether the range of blocks is too long, or has too many results.
func (r *refusal) tooLarge() bool {
	return r != nil && r.says("more than", "block range", "range is too", "too large", "response size", "too many results", "too many logs",
		"limited to", "timeout", "timed out", "exceeds", "exceed max", "maximum", "narrow", "too wide", "10 block", "up to a")
}

// oversized reports whether the answer would be larger than the node sends.
func (r *refusal) oversized() bool {
	return r != nil && r.says("response size", "response is too", "response too", "too large")
}

// reverted reports whether a contract has refused a call.
func (r *refusal) reverted() bool {
	return r != nil && (r.Code == 3 || r.says("revert", "opcode", "out of gas", "jump", "execution error", "vm execution", "stack "))
}

// busy reports whether the node refuses because there are too many requests.
func (r *refusal) busy() bool {
	return r.Code == 429 || r.Code == -32429 || r.says("rate limit", "too many requests", "request count", "per second", "daily request",
		"capacity", "quota") || r.Code == codeBusy && !r.tooLarge()
}

// behind reports whether another try may get an answer: the request went to a node that is behind another one, or that has failed.
func (r *refusal) behind() bool {
	return r.says("header not found", "unknown block", "block not found", "internal error", "temporarily", "try again", "unfinalized",
		"after last accepted") && !r.tooLarge()
}

// denied reports whether the node refuses the key of its address.
func (r *refusal) denied() bool {
	return r.says("api key", "apikey", "unauthorized", "invalid project", "forbidden", "authenticate")
}

// errTogether means that the node does not accept that many calls at once.
var errTogether = errors.New("too many calls at once")

// client asks a node.
type client struct {
	s               *provider.Session
	title           string
	endpoint, query string
	together        int
}

// dial returns a client for the node of a session.
func dial(s *provider.Session, w wallet) (*client, error) {
	u, err := s.Entered(provider.RPCURL, "https://rpc.provider.example/v2/…")
	if err != nil {
		return nil, err
	}
	c := &client{s: s, title: w.title, query: u.RawQuery, together: togetherMax}
	u.RawQuery = ""
	c.endpoint = u.String()
	return c, nil
}

// do sends calls, several in a request. Those that the node refuses have refused set; other failures are the error.
func (c *client) do(ctx context.Context, calls ...*call) error {
	for len(calls) > 0 {
		n := min(len(calls), c.together)
		err := c.send(ctx, calls[:n])
		if (errors.Is(err, errTogether) || errors.Is(err, provider.ErrTooLarge)) && n > 1 {
			c.together = max(1, n/4)
			continue
		}
		if err != nil {
			return err
		}
		calls = calls[n:]
	}
	return nil
}

// must sends calls that the node has to answer.
func (c *client) must(ctx context.Context, calls ...*call) error {
	if err := c.do(ctx, calls...); err != nil {
		return err
	}
	for _, one := range calls {
		if one.refused != nil {
			return c.refuses(one)
		}
	}
	return nil
}

// refuses returns the error for a call that the node has refused.
func (c *client) refuses(one *call) error {
	return fault.Conflictf("the node of %s refuses %s: %s", c.title, one.method, provider.Clean(one.refused.Message))
}

// nonsense returns the error for an answer that is not one of a node.
func (c *client) nonsense(format string, args ...any) error {
	return provider.Nonsense("the node of "+c.title, fmt.Errorf(format, args...))
}

// message is a request or an answer of JSON-RPC.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      any             `json:"id"`
	Method  string          `json:"method,omitempty"`
	Params  []any           `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *refusal        `json:"error,omitempty"`
}

// send sends calls in one request.
func (c *client) send(ctx context.Context, calls []*call) error {
	all := make([]message, len(calls))
	for i, one := range calls {
		all[i] = message{Version: "2.0", ID: i + 1, Method: one.method, Params: one.params}
	}
	content := any(all)
	if len(all) == 1 {
		content = all[0]
	}
	body, err := json.Marshal(content)
	if err != nil {
		return err
	}
	_, err = c.s.Do(ctx, provider.Call{
		Cost: min(len(calls), togetherMax),
		Build: func(ctx context.Context) (*http.Request, error) {
			r, err := c.s.RequestAt(ctx, http.MethodPost, c.endpoint, c.query, string(body))
			if err == nil {
				r.Header.Set("Content-Type", "application/json")
			}
			return r, err
		},
		Explain: func(a provider.Answer) error { return c.explain(a, calls) },
	})
	return err
}

// explain returns the error that an answer states, and otherwise reads the results.
func (c *client) explain(a provider.Answer, calls []*call) error {
	switch a.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fault.Unauthorizedf("the node of %s refuses access: check its address, and the key that it contains", c.title)
	case http.StatusRequestEntityTooLarge:
		return errTogether
	}
	var answers []message
	if len(calls) > 1 && strings.HasPrefix(string(a.Body), "[") {
		if err := json.Unmarshal(a.Body, &answers); err != nil {
			return c.nonsense("%w", err)
		}
	} else {
		answers = make([]message, 1)
		if err := json.Unmarshal(a.Body, &answers[0]); err != nil {
			return c.nonsense("%w", err)
		}
		if len(calls) > 1 {
			return c.refusedAll(answers[0].Error)
		}
	}
	if len(answers) != len(calls) {
		return c.nonsense("%d answers to %d calls", len(answers), len(calls))
	}
	seen := make([]bool, len(calls))
	for _, answer := range answers {
		id, ok := answer.ID.(float64)
		at := int(id) - 1
		if !ok && len(calls) == 1 {
			at = 0 // some nodes leave it out of errors
		}
		if at < 0 || at >= len(calls) || seen[at] {
			return c.nonsense("an answer to no call")
		}
		seen[at] = true
		if err := c.take(calls[at], answer); err != nil {
			return err
		}
	}
	return nil
}

// refusedAll returns the error for one answer to several calls.
func (c *client) refusedAll(r *refusal) error {
	switch {
	case r == nil:
		return c.nonsense("one answer to several calls")
	case r.denied():
		return c.denied()
	case r.busy() && !r.says("batch"):
		return provider.Busy(0, "the node of "+c.title)
	}
	return errTogether
}

func (c *client) denied() error {
	return fault.Unauthorizedf("the node of %s refuses the key in its address: check the address", c.title)
}

// take takes the answer to a call.
func (c *client) take(to *call, answer message) error {
	to.refused = answer.Error
	switch r := answer.Error; {
	case answer.Version != "2.0":
		return c.nonsense("it is not JSON-RPC")
	case r == nil && len(answer.Result) == 0:
		return c.nonsense("%s has no result", to.method)
	case r == nil:
		if err := to.read(answer.Result); err != nil {
			return c.nonsense("%s: %w", to.method, err)
		}
	case r.busy():
		return provider.Busy(0, "the node of "+c.title)
	case r.denied():
		return c.denied()
	case r.behind():
		return provider.Temporary("the node of "+c.title, "%s", provider.Clean(r.Message))
	}
	return nil
}
