package connection

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// Mode says whether what an account has is real. An account may have both, which its provider keeps apart.
type Mode string

// The modes.
const (
	Live Mode = "live"
	Test Mode = "test"
)

// Account is what a provider says about the account of a connection.
type Account struct {
	ID       string // empty if the provider does not tell
	Name     string // for people, empty if there is none
	Mode     Mode   // empty if the provider has no modes
	Currency string // an ISO 4217 code; empty if the account has none of its own
	Parts    []Part // the accounts that the sign-in shows, if it shows several
	Divided  bool   // each part is a source of its own
	Warnings []string
}

// Part is one of several accounts of a sign-in.
type Part struct {
	ID, Name string
	Card     bool
	Currency string // an ISO 4217 code
	Last4    string
}

// requireAccount returns an error of kind Conflict if credentials are of another account than that of the connection, or of another mode.
func (c Connection) requireAccount(a Account) error {
	field := apiKey
	if c.AuthMethod == byOAuth {
		field = ""
	}
	at := func(message string) []fault.Field {
		if field == "" {
			return nil
		}
		return []fault.Field{{Name: field, Message: message}}
	}
	switch {
	case c.ExternalAccountID != "" && a.ID != "" && a.ID != c.ExternalAccountID:
		return fault.ConflictAt(at("is of another account than that of the connection"),
			"the API key is of the account %s, and the connection %s is to the account %s: create another connection for it", a.ID, c.ID,
			c.ExternalAccountID)
	case c.Mode != "" && a.Mode != c.Mode:
		return fault.ConflictAt(at("is of another mode than the connection"),
			"the API key is of %s mode, and the connection %s reads the data of %s mode: disconnect it and create another one", a.Mode, c.ID, c.Mode)
	}
	return nil
}

// requireFree returns an error of kind Conflict if another connection has the account or the source of a connection. A new connection to an
// account that was disconnected gets the source of the earlier one, if that had the same mode. same reports whether another connection has
// the same API key, which decides if the account of one of them is not told.
func requireFree(ctx context.Context, tx *db.Tx, c *Connection, same func(other Connection) bool) error {
	others, err := selectOfProvider(ctx, tx, c.Provider)
	if err != nil {
		return err
	}
	advice := "choose another one, or omit source_id"
	for _, other := range others {
		sameAccount := other.ExternalAccountID == c.ExternalAccountID && c.ExternalAccountID != "" ||
			(c.ExternalAccountID == "" || other.ExternalAccountID == "") && same(other)
		switch {
		case other.ID == c.ID || !sameAccount:
		case other.Status == Disconnected:
			if c.SourceID == "" && other.SourceID != "" && other.LegalEntityID == c.LegalEntityID && (other.Mode == "" || other.Mode == c.Mode) {
				if found, err := source.Find(ctx, tx, other.SourceID); err == nil {
					c.SourceID = found.ID
					advice = "it is that of an earlier connection to this account. Send another source_id, or disconnect the other connection first"
				}
			}
		case coincide(other.LegalEntityID, c.LegalEntityID, other.SourceID == "" && other.ItemID == ""):
			return fault.ConflictAt([]fault.Field{{Name: apiKey, Message: "is of an account that is connected already"}},
				"%s is connected to this account already: use that one, or disconnect it first", other.namedFor(ctx))
		}
	}
	if c.SourceID == "" {
		return nil
	}
	if others, err = selectOfSource(ctx, tx, c.SourceID, ""); err != nil { // those of other providers, too
		return err
	}
	for _, other := range others {
		if other.ID != c.ID && other.Status != Disconnected {
			return fault.ConflictAt([]fault.Field{{Name: "source_id", Message: "is the source of another connection"}},
				"%s has the source %s: %s", other.namedFor(ctx), c.SourceID, advice)
		}
	}
	return nil
}

// coincide reports whether two connections to one account would do the same twice. A general ledger, which no transactions are read from,
// may be connected once for each legal entity.
func coincide(one, other string, ledger bool) bool {
	return !ledger || one == other || one == "" || other == ""
}

// likeMax is how many connections are named that a new one may be to the account of.
const likeMax = 3

// requireTold returns an error of kind Conflict if a new connection may be to the account of another one of its legal entity, whose history
// would then be read into a second source. That is so if the provider does not tell one of the two accounts; a person has to tell it then.
func requireTold(ctx context.Context, tx *db.Tx, c *Connection, a Account) error {
	if c.SourceID != "" || c.newSource || a.Divided {
		return nil
	}
	others, err := selectWithSource(ctx, tx)
	if err != nil {
		return err
	}
	used := map[string]bool{} // by the id of the source
	for _, other := range others {
		if other.Status != Disconnected {
			used[other.SourceID] = true
		}
	}
	var like []string
	for _, other := range slices.Backward(others) { // the latest first
		if other.ID == c.ID || !c.mayBeTo(other) {
			continue
		}
		if other.Status != Disconnected {
			like = append(like, fmt.Sprintf("%s (if so, send the credentials with PATCH /v1/connections/%s instead)", other.namedFor(ctx), other.ID))
			continue
		}
		if used[other.SourceID] {
			continue
		}
		used[other.SourceID] = true
		if _, err := source.Find(ctx, tx, other.SourceID); fault.KindOf(err) == fault.NotFound {
			continue
		} else if err != nil {
			return err
		}
		like = append(like, fmt.Sprintf("%s, which is disconnected (if so, continue with its source: send source_id %s)", other.namedFor(ctx),
			other.SourceID))
	}
	if len(like) == 0 {
		return nil
	}
	rest := ""
	if more := len(like) - likeMax; more > 0 {
		like, rest = like[:likeMax], fmt.Sprintf("; or of another connection to %s (%d more)", c.title, more)
	}
	return fault.ConflictAt([]fault.Field{{Name: "source_id", Message: "is required, unless it is another account and new_source is true"}},
		"it is not known whether this is the account of %s%s. If it is another account, send new_source true", strings.Join(like, "; or of "),
		rest)
}

// mayBeTo reports whether a new connection may be to the account of another one, as far as the provider tells.
func (c Connection) mayBeTo(other Connection) bool {
	told := other.ExternalAccountID != "" && c.ExternalAccountID != ""
	distinct := other.Mode != "" && c.Mode != "" && other.Mode != c.Mode
	return other.Provider == c.Provider && other.LegalEntityID == c.LegalEntityID && other.SourceID != "" && !told && !distinct
}

// requireKnown returns an error of kind Conflict if the account of another connection to a payment processor is not known, because it may
// be that of a new connection: what the account has would then be counted twice.
func requireKnown(ctx context.Context, tx *db.Tx, p Provider) error {
	if p.Kind != Processor {
		return nil
	}
	others, err := selectOfProvider(ctx, tx, p.Name)
	for _, other := range others {
		if other.Status != Disconnected && other.ExternalAccountID == "" {
			return fault.Conflictf("the account of %s is not known, and may be this one: send its api_key again with PATCH, or disconnect it first",
				other.namedFor(ctx))
		}
	}
	return err
}

// namedFor returns how a connection is called in a message to the actor.
func (c Connection) namedFor(ctx context.Context) string {
	if !c.visibleTo(actor.From(ctx)) {
		return "another connection"
	}
	return "the connection " + c.Name + " (" + c.ID + ")"
}

// visibleTo reports whether an actor may see a connection. One for all of the organization is visible to every actor.
func (c Connection) visibleTo(who actor.Actor) bool {
	return c.LegalEntityID == "" || who.Sees(c.LegalEntityID)
}
