package connection

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// Providers lists the providers that the contract names. Those without a connector are not available yet.
var Providers = []string{
	"binance", "bitget", "bitstamp", "coinbase", "gemini", "kraken", "kucoin", "okx", "plaid", "ramp", "brex", "stripe", "quickbooks", "xero",
	"netsuite", "rillet", "campfire", "bitcoin", "ethereum", "solana", "file",
	"arbitrum", "avalanche", "base", "bsc", "evm", "gnosis", "linea", "optimism", "polygon", "scroll",
}

const (
	// syncMinutesDefault is how often the schedule looks for something new unless a connection says otherwise.
	syncMinutesDefault = 15
	// syncMinutesMin and syncMinutesMax bound how often it can be told to look.
	syncMinutesMin = 5
	syncMinutesMax = 7 * 24 * 60
)

// CreateParams describe a new connection.
type CreateParams struct {
	Provider       string
	Name           string // empty: the name of the provider, where that is allowed
	LegalEntityIDs []string
	SourceID       string // empty: that of an earlier connection to the same account, or a new one
	NewSource      bool   // the account is none of those of other connections, which matters where the provider does not tell
	Fields         Credentials
	Classify       Classify
	SyncMinutes    *int
	ReturnTo       string // where the browser goes after a setup on a page of the provider
}

// UpdateParams are the requested changes; nil leaves a field as it is.
type UpdateParams struct {
	Name        *string
	Fields      Credentials // an empty text removes an optional field
	Classify    *Classify   // an empty one means that nothing happens to new transactions
	SyncMinutes *int
}

// validateName collects the faults of a name, and returns it as it is stored.
func validateName(faults *fault.List, name string) string {
	name = strings.TrimSpace(name)
	if n := utf8.RuneCountInString(name); n < 1 || n > nameMax {
		faults.Addf("name", "must have 1 to %d characters, not counting leading and trailing spaces", nameMax)
	}
	return name
}

// validate collects the faults of the value of a field. Messages never repeat it, unless it is shown anyway.
func (f Field) validate(faults *fault.List, value secret.Text) {
	text := value.Reveal()
	lines := strings.HasPrefix(strings.TrimSpace(text), "-----BEGIN ") // a private key in PEM
	switch {
	case strings.TrimSpace(text) == "":
		faults.Addf(f.Name, "must not be empty")
	case utf8.RuneCountInString(text) > f.Max:
		faults.Addf(f.Name, "must have at most %d characters", f.Max)
	case !lines && strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII || unicode.IsSpace(r) || unicode.IsControl(r) }):
		faults.Addf(f.Name, "must consist of printable ASCII characters without spaces")
	case f.Choices != nil && !slices.Contains(f.Choices, text):
		faults.Addf(f.Name, "must be one of %s", strings.Join(f.Choices, ", "))
	}
}

// provider returns a provider, and collects a fault if there is none.
func (s *Service) provider(faults *fault.List, name string) (Provider, bool) {
	found, ok := s.providers[name]
	switch {
	case ok && found.Unavailable != "":
		faults.Addf("provider", "%s", found.Unavailable)
	case ok:
	case slices.Contains(Providers, name):
		faults.Addf("provider", "%s is not available yet, available: %s", name, strings.Join(s.available(), ", "))
	default:
		faults.Addf("provider", "must be one of the providers of the documentation, available: %s", strings.Join(s.available(), ", "))
	}
	return found, ok
}

// validateFields collects the faults of the fields of a new connection. Without required ones, the setup is on a page of the provider, if
// it has one.
func (p Provider) validateFields(faults *fault.List, given Credentials) (hosted bool) {
	missing := []string{}
	for _, f := range p.Fields {
		value, sent := given[f.Name]
		switch {
		case f.Setup: // entered before
		case sent && !value.IsZero():
			f.validate(faults, value)
		case !f.Optional:
			missing = append(missing, f.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		switch f, known := p.field(name); {
		case !known:
			faults.Addf(name, "must be omitted: %s has no such field", p.Title)
		case f.Setup:
			faults.Addf(name, "must be omitted: it is entered with PUT /v1/connections/providers/%s", p.Name)
		}
	}
	hidden := slices.ContainsFunc(p.Fields, func(f Field) bool { return !f.Open && !f.Setup && !given[f.Name].IsZero() })
	if p.Begin != nil && !hidden {
		hosted = true
	}
	for _, name := range missing {
		f, _ := p.field(name)
		if !hosted || f.Open {
			faults.Addf(name, "is required for %s", p.Title)
		}
	}
	return hosted
}

// resolved is a new connection whose parameters were checked.
type resolved struct {
	CreateParams
	provider      Provider
	hosted        bool
	legalEntityID string
	repeats       *Connection // the connection to a general ledger that is authorized again instead
}

// check returns an error with every fault of a new connection that can be found without its provider.
func (s *Service) check(ctx context.Context, tx *db.Tx, p CreateParams) (r resolved, err error) {
	var faults fault.List
	r.CreateParams = p
	var known bool
	if r.provider, known = s.provider(&faults, p.Provider); !known {
		validateName(&faults, cmp.Or(p.Name, "x"))
		return r, s.checkEntities(ctx, tx, &faults, &r, Provider{Kind: Accounting}) // no other kind requires less
	}
	if k := r.provider.Kind; p.Name != "" || k == Exchange || k == Processor {
		r.Name = validateName(&faults, p.Name)
	} else {
		r.Name = r.provider.Title
	}
	r.hosted = r.provider.validateFields(&faults, p.Fields)
	validateClassify(&faults, r.provider, p.Classify)
	validateMinutes(&faults, p.SyncMinutes)
	s.validateReturn(&faults, r)
	if err := requireSetup(ctx, tx, &faults, r.provider); err != nil {
		return r, err
	}
	return r, s.checkEntities(ctx, tx, &faults, &r, r.provider)
}

// validateClassify collects the faults of what is to happen with new transactions.
func validateClassify(faults *fault.List, p Provider, c Classify) {
	switch {
	case c == "":
	case !slices.Contains(Classifications, c):
		faults.Addf("classify", "must be %s, or null", fault.Choices(Classifications))
	case !p.fillsSources():
		faults.Addf("classify", "must be omitted: no transactions are read from %s", p.Title)
	}
}

func validateMinutes(faults *fault.List, minutes *int) {
	if minutes != nil && *minutes != 0 && (*minutes < syncMinutesMin || *minutes > syncMinutesMax) {
		faults.Addf("sync_every_minutes", "must be from %d to %d, or 0 to look only on request", syncMinutesMin, syncMinutesMax)
	}
}

// checkEntities collects the faults of legal entities and source, and returns an error with all faults.
func (s *Service) checkEntities(ctx context.Context, tx *db.Tx, faults *fault.List, r *resolved, p Provider) error {
	switch {
	case len(r.LegalEntityIDs) > 1 || len(r.LegalEntityIDs) == 0 && (p.Kind == Exchange || p.Kind == Processor):
		faults.Addf("legal_entity_ids", "must have exactly one item")
		return faults.Err()
	case len(r.LegalEntityIDs) == 0 && p.Kind != Accounting:
		all, err := entity.All(ctx, tx)
		if err != nil {
			return err
		}
		if len(all) != 1 {
			faults.Addf("legal_entity_ids", "is required, because the organization has several legal entities: name the one that owns the accounts")
			return faults.Err()
		}
		r.LegalEntityIDs = []string{all[0].ID}
	}
	var currency string
	if len(r.LegalEntityIDs) == 1 {
		e, err := entity.Get(ctx, tx, r.LegalEntityIDs[0])
		if err := faults.MergeMissing(err, "legal_entity_ids[0]"); err != nil {
			return err
		}
		if err != nil {
			return faults.Err()
		}
		r.legalEntityID, currency = e.ID, e.BaseCurrency
	}
	if err := s.checkCurrency(ctx, tx, faults, p, currency); err != nil {
		return err
	}
	validateNewSource(faults, r.CreateParams, p)
	if r.SourceID != "" {
		if err := checkSource(ctx, tx, faults, r, p); err != nil {
			return err
		}
	}
	if err := faults.Err(); err != nil || p.Kind != Accounting {
		return err
	}
	return s.findRepeated(ctx, tx, r)
}

// checkCurrency collects a fault if no legal entity has the base currency that a general ledger requires.
func (s *Service) checkCurrency(ctx context.Context, tx *db.Tx, faults *fault.List, p Provider, currency string) error {
	if p.Currency == "" || currency == p.Currency {
		return nil
	}
	if currency != "" {
		faults.Addf("legal_entity_ids[0]", "must have the base currency %s, which is the only one of %s: it has %s", p.Currency,
			p.Title, currency)
		return nil
	}
	all, err := entity.All(ctx, tx)
	if !slices.ContainsFunc(all, func(e entity.LegalEntity) bool { return e.BaseCurrency == p.Currency }) {
		faults.Addf("provider", "%s requires a legal entity whose base currency is %s, and the organization has none", p.Title, p.Currency)
	}
	return err
}

// sourceTypes has the type of the source of a connection, by the kind of its provider.
var sourceTypes = map[Kind]source.Type{Exchange: source.Exchange, Processor: source.Other, Chain: source.Wallet}

// validateNewSource collects the faults of the statement that an account is none of those of other connections.
func validateNewSource(faults *fault.List, c CreateParams, p Provider) {
	switch {
	case !c.NewSource || p.Name == "": // the provider itself is wrong
	case c.SourceID != "":
		faults.Addf("new_source", "must be omitted if there is a source_id, which says which source it is")
	case sourceTypes[p.Kind] == "":
		faults.Addf("new_source", "must be omitted: %s tells which accounts it has", p.Title)
	}
}

// checkSource collects the faults of the source that a connection is to have.
func checkSource(ctx context.Context, tx *db.Tx, faults *fault.List, r *resolved, p Provider) error {
	found, err := source.Find(ctx, tx, r.SourceID)
	if err := faults.MergeMissing(err, "source_id"); err != nil {
		return err
	}
	want := sourceTypes[p.Kind]
	switch {
	case err != nil || p.Name == "": // the provider itself is wrong
	case want == "":
		faults.Addf("source_id", "must be omitted: %s creates a source for each account", p.Title)
	case found.Type != want && want == source.Other:
		faults.Addf("source_id", "must be a source of type other, which stands for a payment processor: %s is of type %s", found.Name, found.Type)
	case found.Type != want:
		faults.Addf("source_id", "must be a source of type %s: %s is of type %s", want, found.Name, found.Type)
	}
	if err == nil {
		r.SourceID = found.ID
		if r.legalEntityID != "" && found.LegalEntityID != r.legalEntityID {
			faults.Addf("source_id", "must be a source of the legal entity of the connection")
		}
	}
	return nil
}

// findRepeated finds the connection to a general ledger that is meant, if there is one already: it is then authorized again.
func (s *Service) findRepeated(ctx context.Context, tx *db.Tx, r *resolved) error {
	all, err := selectOfProvider(ctx, tx, r.provider.Name)
	for _, c := range all {
		if c.Status != Disconnected && c.LegalEntityID == r.legalEntityID {
			found := c.readAs(r.provider)
			r.repeats = &found
		}
	}
	return err
}

// encodeSettings returns settings as they are stored.
func encodeSettings(settings map[string]string) string {
	if len(settings) == 0 {
		return "{}"
	}
	text, err := json.Marshal(settings)
	if err != nil {
		panic("connection: settings cannot be encoded: " + err.Error())
	}
	return string(text)
}

// encodeTexts returns texts as they are stored.
func encodeTexts(texts []string) string {
	if len(texts) == 0 {
		return "[]"
	}
	text, err := json.Marshal(texts)
	if err != nil {
		panic("connection: texts cannot be encoded: " + err.Error())
	}
	return string(text)
}
