package db

import "fmt"

// Kind says how a table is spread when one PostgreSQL is not enough.
type Kind string

// The kinds. Tenant tables follow their organization; reference tables are small, read mostly and copied everywhere;
// local ones belong to one coordinator.
const (
	Tenant    Kind = "tenant"
	Reference Kind = "reference"
	Local     Kind = "local"
)

// Table registers one table. Unaudited says why a change to it on behalf of an organization needs no audit row; empty means it does.
type Table struct {
	Name      string
	Kind      Kind
	Unaudited string
}

// Tables lists every table there is; a test holds it against the catalogs of both engines.
var Tables = []Table{
	{Name: "organizations", Kind: Tenant},
	{Name: "members", Kind: Tenant},
	{Name: "legal_entities", Kind: Tenant},
	{Name: "cost_basis_elections", Kind: Tenant},
	{Name: "tags", Kind: Tenant},
	{Name: "ledger_accounts", Kind: Tenant},
	{Name: "accounting_periods", Kind: Tenant,
		Unaudited: "months follow from the calendar and the time zone, and a change of that is audited"},
	{Name: "period_closings", Kind: Tenant},
	{Name: "period_closing_balances", Kind: Tenant},
	{Name: "fx_rates", Kind: Tenant},
	{Name: "prices", Kind: Tenant},
	{Name: "journal_entries", Kind: Tenant},
	{Name: "journal_lines", Kind: Tenant},
	{Name: "journal_tags", Kind: Tenant, Unaudited: "it restates the tags of an entry, which is audited"},
	{Name: "account_balances", Kind: Tenant, Unaudited: "it restates lines, which are audited"},
	{Name: "account_units", Kind: Tenant, Unaudited: "it restates lines, which are audited"},
	{Name: "bookings", Kind: Tenant, Unaudited: "it says what an entry, which is audited, followed from"},
	{Name: "lot_pools", Kind: Tenant, Unaudited: "it restates lots"},
	{Name: "lots", Kind: Tenant, Unaudited: "lots follow from entries, which are audited"},
	{Name: "lot_takes", Kind: Tenant, Unaudited: "it restates what entries, which are audited, take from lots"},
	{Name: "lot_uses", Kind: Tenant, Unaudited: "it restates what entries, which are audited, take from lots"},
	{Name: "lot_positions", Kind: Tenant, Unaudited: "it restates lots and what was taken from them"},
	{Name: "lot_gains", Kind: Tenant, Unaudited: "it restates what was taken from lots"},
	{Name: "lot_selections", Kind: Tenant},
	{Name: "asset_policies", Kind: Tenant},
	{Name: "revaluations", Kind: Tenant},
	{Name: "revaluation_parts", Kind: Tenant, Unaudited: "it restates a revaluation, which is audited"},
	{Name: "revaluation_items", Kind: Tenant, Unaudited: "it restates a revaluation, which is audited"},
	{Name: "revaluation_rows", Kind: Tenant, Unaudited: "it restates a revaluation, which is audited"},
	{Name: "sources", Kind: Tenant},
	{Name: "aggregator_items", Kind: Tenant},
	{Name: "transactions", Kind: Tenant},
	{Name: "transaction_counts", Kind: Tenant, Unaudited: "it restates transactions, which are audited"},
	{Name: "transaction_tags", Kind: Tenant, Unaudited: "it restates the tags of a transaction, which is audited"},
	{Name: "spam_listings", Kind: Tenant},
	{Name: "spam_dealings", Kind: Tenant, Unaudited: "it restates what arrived, which is audited"},
	{Name: "spam_sightings", Kind: Tenant, Unaudited: "it restates what arrived, which is audited"},
	{Name: "spam_bursts", Kind: Tenant, Unaudited: "it restates what arrived, which is audited"},
	{Name: "transaction_links", Kind: Tenant},
	{Name: "transfer_ambiguities", Kind: Tenant, Unaudited: "it says what could not be decided, so that nothing was"},
	{Name: "transfer_refusals", Kind: Tenant, Unaudited: "it restates that a link was undone, which is audited"},
	{Name: "transfer_marks", Kind: Tenant, Unaudited: "it says how far new transactions were matched"},
	{Name: "imports", Kind: Tenant,
		Unaudited: "how far an import is says what transactions, which are audited, show; its beginning and its end are audited"},
	{Name: "import_chunks", Kind: Tenant, Unaudited: "it is a file on its way in"},
	{Name: "import_faults", Kind: Tenant, Unaudited: "it says what could not be read and changed nothing"},
	{Name: "classification_runs", Kind: Tenant,
		Unaudited: "how far a run is says what entries, which are audited, show; its beginning and its end are audited"},
	{Name: "classification_results", Kind: Tenant, Unaudited: "it says what a run decided; what came of that is audited"},
	{Name: "precedents", Kind: Tenant, Unaudited: "it restates what was booked, which is audited"},
	{Name: "precedent_features", Kind: Tenant, Unaudited: "it restates what was booked, which is audited"},
	{Name: "precedent_marks", Kind: Tenant, Unaudited: "it says how far was learned"},
	{Name: "memory_documents", Kind: Tenant},
	{Name: "memory_rules", Kind: Tenant},
	{Name: "memory_versions", Kind: Tenant},
	{Name: "organization_state", Kind: Tenant, Unaudited: "it is the end of the audit chain itself"},
	{Name: "audit_log", Kind: Tenant, Unaudited: "it is the audit itself"},
	{Name: "events", Kind: Tenant, Unaudited: "an event restates a change that is audited"},
	{Name: "relays", Kind: Tenant, Unaudited: "it says how far events were handed on"},
	{Name: "idempotency_keys", Kind: Tenant, Unaudited: "it holds answers, not facts"},
	{Name: "transaction_texts", Kind: Local}, // and what follows is SQLite's index of texts
	{Name: "transaction_texts_config", Kind: Local},
	{Name: "transaction_texts_data", Kind: Local},
	{Name: "transaction_texts_docsize", Kind: Local},
	{Name: "transaction_texts_idx", Kind: Local},
	{Name: "users", Kind: Reference},
	{Name: "api_keys", Kind: Reference},
	{Name: "goose_db_version", Kind: Local},
	{Name: "river_client", Kind: Local},
	{Name: "river_client_queue", Kind: Local},
	{Name: "river_job", Kind: Local},
	{Name: "river_leader", Kind: Local},
	{Name: "river_migration", Kind: Local},
	{Name: "river_notification", Kind: Local},
	{Name: "river_queue", Kind: Local},
}

var tablesByName = func() map[string]Table {
	m := make(map[string]Table, len(Tables))
	for _, t := range Tables {
		if _, twice := m[t.Name]; twice {
			panic(fmt.Sprintf("db: table %s is registered twice", t.Name))
		}
		m[t.Name] = t
	}
	return m
}()
