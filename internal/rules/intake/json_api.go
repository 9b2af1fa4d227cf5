package intake

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bursarhq/bursar/internal/base/money"
)

// apiPaths are the properties of a transaction in requests of the API.
var apiPaths = []string{
	"external_id", "external.timestamp", "external.description", "external.direction", "external.quantity", "external.currency",
	"external.value_fiat.gross", "external.value_fiat.fee", "external.value_fiat.net", "external.value_fiat.currency",
	"provider_category", "vendor", "memo", "transaction_type", "internal.memo", "internal.transaction_type", "group",
	"crypto.chain", "crypto.transaction_hash", "crypto.block_number", "crypto.from_address", "crypto.to_address", "crypto.asset_type",
	"crypto.contract_address", "crypto.token_id", "crypto.fee_quantity", "crypto.fee_asset_type",
	"bank.bank_name", "bank.account_last4", "bank.counterparty_name",
	"card.merchant_name", "card.merchant_category", "card.cardholder_name", "card.last4",
}

// apiIgnored are properties in responses of the API that describe the books a transaction came from rather than the
// transaction; a name that ends in a dot means all properties below it.
var apiIgnored = []string{
	"source_id", "id", "account_id", "organization_id", "legal_entity_id", "source_class", "provider", "sequence_number", "etag",
	"created_at", "updated_at", "crypto", "bank", "card", "external.value_fiat", "suggested", "suggested.", "guidance.", "internal.status",
	"internal.journal_entry_id", "latest_gl_sync_attempt", "latest_gl_sync_attempt.",
}

var apiColumns = func() map[string]int {
	places := map[string]int{}
	for i, path := range apiPaths {
		places[path] = i
	}
	return places
}()

// apiText returns the text of a property.
func apiText(e *entry, path string) string { return e.text(apiColumns[path]) }

// apiNumber parses a decimal as the API does; a JSON number is parsed from its text.
func apiNumber(e *entry, path string) *money.Decimal {
	index := apiColumns[path]
	text := e.text(index)
	if text == "" {
		return nil
	}
	var d money.Decimal
	var err error
	if e.row.numbers[index] {
		d, err = jsonNumber(text)
	} else {
		d, err = money.Parse(text)
	}
	if err != nil {
		e.faultf(index, "%q %v", shorten(text), err)
		return nil
	}
	return &d
}

// interpretAPI reads an object in the format of POST /v1/transactions.
func interpretAPI(e *entry) ([]Record, string) {
	for i := 0; i < len(e.row.content); i += 2 {
		if path := e.row.content[i]; !isAPIPath(path) && (e.row.content[i+1] != "" || !strings.HasPrefix(path, "tag_ids")) {
			e.faults = append(e.faults, Fault{Line: e.row.line, Column: path,
				Message: "is not a known property; map the columns if the file has another format"})
		}
	}
	r := Record{Line: e.row.line, ExternalID: e.id(apiColumns["external_id"], false), Description: apiText(e, "external.description"),
		Currency: e.currency(apiColumns["external.currency"]), ProviderCategory: apiText(e, "provider_category"),
		Vendor: apiText(e, "vendor"), Memo: firstOf(apiText(e, "memo"), apiText(e, "internal.memo")), Group: apiText(e, "group"),
		Type: strings.ToUpper(firstOf(apiText(e, "transaction_type"), apiText(e, "internal.transaction_type")))}
	if r.Type != "" && !isType(r.Type) {
		e.faultf(apiColumns["transaction_type"], "%q is not a transaction type", shorten(r.Type))
	}
	c := clock{}
	r.Timestamp = e.instant(&c, apiColumns["external.timestamp"], apiText(e, "external.timestamp"))
	switch direction := apiText(e, "external.direction"); direction {
	case "credit":
		r.Inflow = true
	case "debit":
	default:
		e.faultf(apiColumns["external.direction"], "%q must be credit or debit", shorten(direction))
	}
	if r.Quantity = apiNumber(e, "external.quantity"); r.Quantity != nil && r.Quantity.Sign() <= 0 {
		e.faultf(apiColumns["external.quantity"], "%s must be above zero; state the direction in external.direction, not by the sign",
			r.Quantity)
	}
	readAPIValue(e, &r)
	readAPIDetails(e, &r)
	if len(e.faults) > 0 {
		return nil, ""
	}
	if r.Quantity == nil && r.Value == nil {
		e.faultf(apiColumns["external.quantity"], "is empty, and so is the value")
	}
	return []Record{r}, ""
}

func isAPIPath(path string) bool {
	if _, ok := apiColumns[path]; ok {
		return true
	}
	return slices.ContainsFunc(apiIgnored, func(known string) bool {
		return known == path || strings.HasSuffix(known, ".") && strings.HasPrefix(path, known)
	})
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

func readAPIValue(e *entry, r *Record) {
	const in = "external.value_fiat."
	t := triple{apiNumber(e, in+"gross"), apiNumber(e, in+"fee"), apiNumber(e, in+"net")}
	currency := strings.ToUpper(apiText(e, in+"currency"))
	if t.gross == nil && t.net == nil {
		if t.fee != nil || currency != "" {
			e.faultf(apiColumns[in+"gross"], "is empty; a value has gross, fee and net")
		}
		return
	}
	if !isFiat(currency) {
		e.faultf(apiColumns[in+"currency"], "%q is not a fiat currency", shorten(currency))
		return
	}
	var err error
	if r.Value, err = t.value(currency, 0); err != nil {
		e.faultf(apiColumns[in+"gross"], "%v", err)
	}
}

func readAPIDetails(e *entry, r *Record) {
	c := Crypto{Chain: apiText(e, "crypto.chain"), TransactionHash: apiText(e, "crypto.transaction_hash"),
		From: apiText(e, "crypto.from_address"), To: apiText(e, "crypto.to_address"), AssetType: apiText(e, "crypto.asset_type"),
		ContractAddress: apiText(e, "crypto.contract_address"), TokenID: apiText(e, "crypto.token_id"),
		FeeQuantity: apiNumber(e, "crypto.fee_quantity"), FeeAssetType: apiText(e, "crypto.fee_asset_type")}
	if c.FeeQuantity != nil && c.FeeQuantity.Sign() < 0 {
		e.faultf(apiColumns["crypto.fee_quantity"], "%s is below zero", c.FeeQuantity)
	}
	if block := apiText(e, "crypto.block_number"); block != "" {
		n, err := strconv.ParseInt(block, 10, 64)
		if err != nil || n < 0 {
			e.faultf(apiColumns["crypto.block_number"], "%q is not a block number", shorten(block))
		}
		c.BlockNumber = n
	}
	if c.AssetType == "" && !isFiat(r.Currency) {
		c.AssetType = r.Currency
	}
	if c != (Crypto{}) {
		r.Crypto = &c
	}
	if b := (Bank{apiText(e, "bank.bank_name"), apiText(e, "bank.account_last4"), apiText(e, "bank.counterparty_name")}); b != (Bank{}) {
		r.Bank = &b
	}
	if d := (Card{apiText(e, "card.merchant_name"), apiText(e, "card.merchant_category"), apiText(e, "card.cardholder_name"),
		apiText(e, "card.last4")}); d != (Card{}) {
		r.Card = &d
	}
}
