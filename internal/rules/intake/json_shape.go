package intake

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bursarhq/bursar/internal/base/money"
)

// shapePaths are the properties of a transaction in requests of the API.
var shapePaths = []string{
	"external_id", "external.timestamp", "external.description", "external.direction", "external.quantity", "external.currency",
	"external.value_fiat.gross", "external.value_fiat.fee", "external.value_fiat.net", "external.value_fiat.currency",
	"provider_category", "vendor", "memo", "transaction_type", "internal.memo", "internal.transaction_type", "group",
	"crypto.chain", "crypto.transaction_hash", "crypto.block_number", "crypto.from_address", "crypto.to_address", "crypto.asset_type",
	"crypto.contract_address", "crypto.token_id", "crypto.fee_quantity", "crypto.fee_asset_type",
	"bank.bank_name", "bank.account_last4", "bank.counterparty_name",
	"card.merchant_name", "card.merchant_category", "card.cardholder_name", "card.last4",
}

// shapeIgnored are properties in responses of the API that describe the books a transaction came from rather than the
// transaction; a name that ends in a dot means all properties below it.
var shapeIgnored = []string{
	"source_id", "id", "account_id", "organization_id", "legal_entity_id", "source_class", "provider", "sequence_number", "etag",
	"created_at", "updated_at", "crypto", "bank", "card", "external.value_fiat", "suggested", "suggested.", "guidance.", "internal.status",
	"internal.journal_entry_id", "latest_gl_sync_attempt", "latest_gl_sync_attempt.",
}

var shapePlaces = func() map[string]int {
	places := map[string]int{}
	for i, path := range shapePaths {
		places[path] = i
	}
	return places
}()

// shapeText returns the text of a property.
func shapeText(e *entry, path string) string { return e.text(shapePlaces[path]) }

// shapeNumber parses a decimal as the API does; a JSON number is parsed from its text.
func shapeNumber(e *entry, path string) *money.Decimal {
	place := shapePlaces[path]
	text := e.text(place)
	if text == "" {
		return nil
	}
	var d money.Decimal
	var err error
	if e.row.numbers[place] {
		d, err = jsonNumber(text)
	} else {
		d, err = money.Parse(text)
	}
	if err != nil {
		e.faultf(place, "%q %v", shorten(text), err)
		return nil
	}
	return &d
}

// interpretShape reads an object in the format of POST /v1/transactions.
func interpretShape(e *entry) ([]Record, string) {
	for i := 0; i < len(e.row.content); i += 2 {
		if path := e.row.content[i]; !isShapePath(path) && (e.row.content[i+1] != "" || !strings.HasPrefix(path, "tag_ids")) {
			e.faults = append(e.faults, Fault{Line: e.row.line, Column: path,
				Message: "is not a known property; map the columns if the file has another format"})
		}
	}
	r := Record{Line: e.row.line, ExternalID: e.id(shapePlaces["external_id"], false), Description: shapeText(e, "external.description"),
		Currency: e.currency(shapePlaces["external.currency"]), ProviderCategory: shapeText(e, "provider_category"),
		Vendor: shapeText(e, "vendor"), Memo: firstOf(shapeText(e, "memo"), shapeText(e, "internal.memo")), Group: shapeText(e, "group"),
		Type: strings.ToUpper(firstOf(shapeText(e, "transaction_type"), shapeText(e, "internal.transaction_type")))}
	if r.Type != "" && !isType(r.Type) {
		e.faultf(shapePlaces["transaction_type"], "%q is not a transaction type", shorten(r.Type))
	}
	c := clock{}
	r.Timestamp = e.instant(&c, shapePlaces["external.timestamp"], shapeText(e, "external.timestamp"))
	switch direction := shapeText(e, "external.direction"); direction {
	case "credit":
		r.Inflow = true
	case "debit":
	default:
		e.faultf(shapePlaces["external.direction"], "%q must be credit or debit", shorten(direction))
	}
	if r.Quantity = shapeNumber(e, "external.quantity"); r.Quantity != nil && r.Quantity.Sign() <= 0 {
		e.faultf(shapePlaces["external.quantity"], "%s must be above zero; state the direction in external.direction, not by the sign",
			r.Quantity)
	}
	shapeValue(e, &r)
	shapeDetails(e, &r)
	if len(e.faults) > 0 {
		return nil, ""
	}
	if r.Quantity == nil && r.Value == nil {
		e.faultf(shapePlaces["external.quantity"], "is empty, and so is the value")
	}
	return []Record{r}, ""
}

func isShapePath(path string) bool {
	if _, ok := shapePlaces[path]; ok {
		return true
	}
	return slices.ContainsFunc(shapeIgnored, func(known string) bool {
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

func shapeValue(e *entry, r *Record) {
	const in = "external.value_fiat."
	t := triple{shapeNumber(e, in+"gross"), shapeNumber(e, in+"fee"), shapeNumber(e, in+"net")}
	currency := strings.ToUpper(shapeText(e, in+"currency"))
	if t.gross == nil && t.net == nil {
		if t.fee != nil || currency != "" {
			e.faultf(shapePlaces[in+"gross"], "is empty; a value has gross, fee and net")
		}
		return
	}
	if !isFiat(currency) {
		e.faultf(shapePlaces[in+"currency"], "%q is not a fiat currency", shorten(currency))
		return
	}
	var err error
	if r.Value, err = t.value(currency, 0); err != nil {
		e.faultf(shapePlaces[in+"gross"], "%v", err)
	}
}

func shapeDetails(e *entry, r *Record) {
	c := Crypto{Chain: shapeText(e, "crypto.chain"), TransactionHash: shapeText(e, "crypto.transaction_hash"),
		From: shapeText(e, "crypto.from_address"), To: shapeText(e, "crypto.to_address"), AssetType: shapeText(e, "crypto.asset_type"),
		ContractAddress: shapeText(e, "crypto.contract_address"), TokenID: shapeText(e, "crypto.token_id"),
		FeeQuantity: shapeNumber(e, "crypto.fee_quantity"), FeeAssetType: shapeText(e, "crypto.fee_asset_type")}
	if c.FeeQuantity != nil && c.FeeQuantity.Sign() < 0 {
		e.faultf(shapePlaces["crypto.fee_quantity"], "%s is below zero", c.FeeQuantity)
	}
	if block := shapeText(e, "crypto.block_number"); block != "" {
		n, err := strconv.ParseInt(block, 10, 64)
		if err != nil || n < 0 {
			e.faultf(shapePlaces["crypto.block_number"], "%q is not a block number", shorten(block))
		}
		c.BlockNumber = n
	}
	if c.AssetType == "" && !isFiat(r.Currency) {
		c.AssetType = r.Currency
	}
	if c != (Crypto{}) {
		r.Crypto = &c
	}
	if b := (Bank{shapeText(e, "bank.bank_name"), shapeText(e, "bank.account_last4"), shapeText(e, "bank.counterparty_name")}); b != (Bank{}) {
		r.Bank = &b
	}
	if d := (Card{shapeText(e, "card.merchant_name"), shapeText(e, "card.merchant_category"), shapeText(e, "card.cardholder_name"),
		shapeText(e, "card.last4")}); d != (Card{}) {
		r.Card = &d
	}
}
