package intake

import (
	"slices"
	"strings"
)

// taxNames are column names, without spaces, that may mean the rate of a tax, if the values are percentages, or else its amount.
var taxNames = []string{"tax", "salestax", "vat", "gst", "ust", "mwst", "tva", "iva"}

// invoiceSynonyms are the column names by field of an invoice, folded and without punctuation, the most specific first: those of the
// exports of accounting programs and payment processors, and usual ones in English, German, French and Spanish. They are compared without
// spaces. Fields are assigned in this order; a column is assigned only once.
var invoiceSynonyms = []struct {
	field Field
	names string // Separated by bars.
}{
	{FieldInvoiceNumber, "invoice number|invoice no|invoice num|invoice id|number|no|num|doc number|document number|" +
		"rechnungsnummer|rechnung nr|numero de facture|n facture|numero de factura|n factura|invoice"},
	{FieldDocumentType, "document type|doc type|transaction type|txn type|invoice type|type|belegart|dokumentart|type de document|" +
		"tipo de documento"},
	{FieldCustomerID, "customer id|client id|customer number|customer|kundennummer|numero de client|id de cliente"},
	{FieldCustomerName, "customer name|contact name|customer full name|client name|display name|customer|client|name|bill to|" +
		"company|company name|kunde|kundenname|nom du client|nombre del cliente|cliente"},
	{FieldCustomerEmail, "customer email|email|email address|contact email|bill email|correo|correo electronico"},
	{FieldDueDate, "due date|due date utc|due|payment due|fallig|fallig am|falligkeit|falligkeitsdatum|echeance|date d echeance|" +
		"fecha de vencimiento|vencimiento"},
	{FieldInvoiceDate, "invoice date|issue date|issued|date utc|finalized at utc|date|txn date|transaction date|created utc|" +
		"created|rechnungsdatum|datum|date de facture|date de facturation|fecha de factura|fecha"},
	{FieldCurrency, "currency|currency code|ccy|invoice currency|wahrung|devise|moneda|divisa"},
	{FieldDescription, "description|line description|item description|product service description|memo description|" +
		"beschreibung|leistung|libelle|designation|concepto|descripcion"},
	{FieldProduct, "product|product service|item product service|item name|item code|inventory item code|" +
		"item|sku|produkt|artikel|produit|producto"},
	{FieldQuantity, "quantity|qty|item quantity|menge|anzahl|quantite|cantidad"},
	{FieldUnitPrice, "unit price|unit amount|item rate|rate|sales price|price|einzelpreis|prix unitaire|precio unitario|precio"},
	{FieldAmount, "line amount|item amount|line total|amount|net amount|subtotal|netto|nettobetrag|betrag|montant ht|" +
		"montant|importe|base imponible"},
	{FieldDiscountRate, "discount percent|discount rate|discount percentage|rabattsatz|discount"},
	{FieldDiscountAmount, "total discount amount|discount amount|total discount|line discount amount|discount|rabatt|remise|descuento"},
	{FieldTaxRate, "tax rate|item tax rate|sales tax rate|tax percent|vat rate|gst rate|steuersatz|ust satz|mwst satz|taux de tva|" +
		"tipo de iva|" + strings.Join(taxNames, "|")},
	{FieldTaxAmount, "tax amount|item tax amount|sales tax amount|line tax|vat amount|gst amount|steuerbetrag|montant tva|" +
		strings.Join(taxNames, "|")},
	{FieldTotal, "total|invoice total|total amount|grand total|gesamtbetrag|bruttobetrag|total ttc|importe total"},
	{FieldAmountDue, "amount remaining|remaining amount|open balance|balance due|balance|amount due|" +
		"invoice amount due|outstanding|amount outstanding|offener betrag|restbetrag|montant du|solde|saldo pendiente|saldo"},
	{FieldAmountPaid, "amount paid|paid amount|invoice amount paid|paid|bezahlt|montant paye|importe pagado"},
	{FieldStatus, "status|invoice status|state|etat|estado"},
	{FieldLegalEntity, "legal entity|entity|subsidiary|gesellschaft|entite|entidad"},
	{FieldLedgerAccount, "ledger account|account code|account|income account|revenue account|gl account|" +
		"konto|erloskonto|compte|cuenta"},
	{FieldTaxLedgerAccount, "tax ledger account|tax account|steuerkonto"},
	{FieldMemo, "memo|customer memo|message on invoice|notes|note|reference|bemerkung|notes client|observaciones"},
}

// isInvoiceColumn reports whether a name without spaces is that of a field of an invoice.
func isInvoiceColumn(name string) bool {
	for _, s := range invoiceSynonyms {
		if name != "" && slices.ContainsFunc(strings.Split(s.names, "|"), func(known string) bool { return joined(known) == name }) {
			return true
		}
	}
	return false
}

// The types of documents in the lists of accounting programs, without spaces: invoices to customers, and everything else.
var (
	invoiceTypes = strings.Split("invoice|invoices|salesinvoice|taxinvoice|customerinvoice|arinvoice|accrec|rechnung|facture|factura", "|")
	otherTypes   = strings.Split("creditmemo|creditnote|salescreditnote|accreccredit|customercredit|gutschrift|avoir|notadecredito|"+
		"estimate|estimates|quote|quotation|proforma|proformainvoice|salesorder|angebot|devis|presupuesto|"+
		"salesreceipt|cashsale|payment|receivepayment|customerpayment|prepayment|overpayment|salesprepayment|salesoverpayment|"+
		"arprepayment|aroverpayment|refund|refundreceipt|cashrefund|deposit|statement|statementcharge|charge|delayedcharge|delayedcredit|"+
		"bill|accpay|accpaycredit|billcredit|billcreditnote|billpayment|billpaymentcheck|billpaymentcreditcard|vendorcredit|supplierinvoice|"+
		"purchaseinvoice|purchaseorder|purchord|purchasecreditnote|check|cheque|expense|cashexpense|creditcard|creditcardexpense|"+
		"creditcardcredit|creditcardpayment|transfer|journal|journalentry|generaljournal|taxpayment|salestaxpayment|timeactivity|"+
		"inventoryqtyadjust|inventorystartingvalue|payrollcheck|paycheck", "|")
)

// IsInvoiceType reports whether a type of document is an invoice to a customer, and whether it is a known type.
func IsInvoiceType(text string) (invoice, known bool) {
	name := joined(plainName(text))
	invoice = slices.Contains(invoiceTypes, name)
	return invoice, invoice || slices.Contains(otherTypes, name)
}

// sumWords are what rows are called that state a sum.
var sumWords = []string{"total", "totals", "grand total", "sub total", "subtotal", "sum", "invoice total", "total due",
	"total amount", "net total", "balance due", "amount due", "summe", "gesamt", "gesamtsumme", "gesamtbetrag", "zwischensumme", "somme",
	"sous total", "suma", "totale"}

// IsSum reports whether a text is what a row is called that states a sum.
func IsSum(text string) bool {
	name := plainName(text)
	return slices.Contains(sumWords, name) || strings.HasPrefix(name, "total for ") || strings.HasPrefix(name, "total of ")
}
