package intake

import (
	"slices"
	"strings"
)

// taxNames are column names that may mean the rate of a tax, if the values are percentages, or else its amount.
var taxNames = []string{"tax", "vat", "ust", "mwst", "tva", "iva"}

// invoiceSynonyms are the column names by field of an invoice, folded and without punctuation, the most specific first: those of the
// exports of accounting programs and payment processors, and usual ones in English, German, French and Spanish. Fields are assigned in
// this order; a column is assigned only once.
var invoiceSynonyms = []struct {
	field Field
	names string // Separated by bars.
}{
	{FieldInvoiceNumber, "invoice number|invoicenumber|invoice no|invoiceno|invoice num|invoice id|number|no|num|doc number|document number|" +
		"rechnungsnummer|rechnung nr|numero de facture|n facture|numero de factura|n factura|invoice"},
	{FieldCustomerID, "customer id|customerid|client id|customer number|customer|kundennummer|numero de client|id de cliente"},
	{FieldCustomerName, "customer name|contact name|contactname|customer full name|client name|display name|customer|client|name|bill to|" +
		"company|company name|kunde|kundenname|nom du client|nombre del cliente|cliente"},
	{FieldCustomerEmail, "customer email|email|email address|emailaddress|contact email|bill email|e mail|correo|correo electronico"},
	{FieldDueDate, "due date|duedate|due date utc|due|payment due|fallig am|falligkeit|falligkeitsdatum|echeance|date d echeance|" +
		"fecha de vencimiento|vencimiento"},
	{FieldInvoiceDate, "invoice date|invoicedate|issue date|issued|date utc|finalized at utc|date|txn date|transaction date|created utc|" +
		"created|rechnungsdatum|datum|date de facture|date de facturation|fecha de factura|fecha"},
	{FieldCurrency, "currency|currency code|ccy|invoice currency|wahrung|devise|moneda|divisa"},
	{FieldDescription, "description|line description|item description|itemdescription|product service description|memo description|" +
		"beschreibung|leistung|libelle|designation|concepto|descripcion"},
	{FieldProduct, "product|product service|item product service|productservice|item name|item code|inventoryitemcode|inventory item code|" +
		"item|sku|produkt|artikel|produit|producto"},
	{FieldQuantity, "quantity|qty|item quantity|itemquantity|menge|anzahl|quantite|cantidad"},
	{FieldUnitPrice, "unit price|unitprice|unit amount|unitamount|item rate|itemrate|rate|sales price|price|einzelpreis|prix unitaire|" +
		"precio unitario|precio"},
	{FieldAmount, "line amount|lineamount|item amount|itemamount|line total|amount|net amount|subtotal|nettobetrag|betrag|montant ht|" +
		"montant|importe|base imponible"},
	{FieldTaxRate, "tax rate|tax percent|vat rate|steuersatz|ust satz|mwst satz|taux de tva|tipo de iva|" +
		strings.Join(taxNames, "|")},
	{FieldTaxAmount, "tax amount|taxamount|item tax amount|itemtaxamount|line tax|vat amount|tax|vat|steuerbetrag|ust|mwst|" +
		"montant tva|tva|iva"},
	{FieldTotal, "total|invoice total|total amount|grand total|gesamtbetrag|bruttobetrag|total ttc|importe total"},
	{FieldAmountDue, "amount remaining|amountremaining|remaining amount|open balance|balance due|balance|amount due|amountdue|" +
		"invoice amount due|invoiceamountdue|outstanding|amount outstanding|offener betrag|restbetrag|montant du|solde|saldo pendiente|saldo"},
	{FieldAmountPaid, "amount paid|amountpaid|paid amount|invoice amount paid|invoiceamountpaid|paid|bezahlt|montant paye|importe pagado"},
	{FieldStatus, "status|invoice status|state|etat|estado"},
	{FieldLegalEntity, "legal entity|entity|subsidiary|gesellschaft|entite|entidad"},
	{FieldLedgerAccount, "ledger account|account code|accountcode|account|income account|revenue account|gl account|" +
		"konto|erloskonto|compte|cuenta"},
	{FieldTaxLedgerAccount, "tax ledger account|tax account|steuerkonto"},
	{FieldMemo, "memo|customer memo|message on invoice|notes|note|reference|bemerkung|notes client|observaciones"},
}

// isInvoiceColumn reports whether a folded name is that of a field of an invoice.
func isInvoiceColumn(plain string) bool {
	for _, s := range invoiceSynonyms {
		if plain != "" && slices.Contains(strings.Split(s.names, "|"), plain) {
			return true
		}
	}
	return false
}
