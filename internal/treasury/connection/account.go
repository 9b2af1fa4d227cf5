package connection

import (
	"context"

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
// the same API key, for providers that do not tell the account.
func requireFree(ctx context.Context, tx *db.Tx, c *Connection, same func(other Connection) bool) error {
	others, err := selectAll(ctx, tx)
	if err != nil {
		return err
	}
	for _, other := range others {
		sameAccount := other.Provider == c.Provider && (other.ExternalAccountID == c.ExternalAccountID && c.ExternalAccountID != "" ||
			c.ExternalAccountID == "" && same(other))
		switch {
		case other.ID == c.ID:
		case other.Status == Disconnected:
			if sameAccount && c.SourceID == "" && other.SourceID != "" && other.LegalEntityID == c.LegalEntityID &&
				(other.Mode == "" || other.Mode == c.Mode) {
				if found, err := source.Find(ctx, tx, other.SourceID); err == nil {
					c.SourceID = found.ID
				}
			}
		case sameAccount && coincide(other.LegalEntityID, c.LegalEntityID, other.SourceID == "" && other.ItemID == ""):
			return fault.ConflictAt([]fault.Field{{Name: apiKey, Message: "is of an account that is connected already"}},
				"%s is connected to this account already: use that one, or disconnect it first", other.namedFor(ctx))
		case other.SourceID == c.SourceID && c.SourceID != "":
			return fault.ConflictAt([]fault.Field{{Name: "source_id", Message: "is the source of another connection"}},
				"%s has this source: choose another one, or omit source_id", other.namedFor(ctx))
		}
	}
	return nil
}

// coincide reports whether two connections to one account would do the same twice. A general ledger, which no transactions are read from,
// may be connected once for each legal entity.
func coincide(one, other string, ledger bool) bool {
	return !ledger || one == other || one == "" || other == ""
}

// requireKnown returns an error of kind Conflict if the account of another connection to a payment processor is not known, because it may
// be that of a new connection: what the account has would then be counted twice.
func requireKnown(ctx context.Context, tx *db.Tx, p Provider) error {
	if p.Kind != Processor {
		return nil
	}
	others, err := selectAll(ctx, tx)
	for _, other := range others {
		if other.Provider == p.Name && other.Status != Disconnected && other.ExternalAccountID == "" {
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
