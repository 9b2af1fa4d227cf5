package intake

// synonyms are the column names by field, folded and without punctuation, the most specific first, in English, German,
// French and Spanish. Fields are assigned in this order; a column is assigned only once.
var synonyms = []struct {
	field Field
	names string // Separated by bars.
}{
	{FieldTimestamp, "timestamp|date time|datetime|datetime utc|created utc|created at|completed date|booking date|posting " +
		"date|posted date|post date|" +
		"transaction date|trade date|value date|date utc|date|time utc|utc time|created|time|" +
		"buchungstag|buchungsdatum|datum|wertstellung|valutadatum|valuta datum|zeitpunkt|" +
		"date operation|date d operation|date de l operation|date comptable|date de comptabilisation|date valeur|date de valeur|" +
		"fecha operacion|fecha de operacion|fecha contable|fecha valor|fecha"},
	{FieldTime, "time|time of day|uhrzeit|zeit|heure|hora"},
	{FieldID, "transaction id|transactionid|txid|tx id|id|reference id|unique id|external id|fitid|trade id|order id|transaction number|" +
		"transaktions id|transaktionsnummer|umsatz id|vorgangsnummer|identifiant|numero d operation|id transaction|" +
		"id de transaccion|numero de operacion|id operacion"},
	{FieldDebit, "debit|debit amount|money out|paid out|withdrawal|withdrawals|withdrawal amount|outflow|amount out|spent|" +
		"soll|ausgang|ausgaben|belastung|lastschrift|montant debit|depenses|sortie|cargo|cargos|debe|salida|gasto"},
	{FieldCredit, "credit|credit amount|money in|paid in|deposit|deposits|deposit amount|inflow|amount in|received|" +
		"haben|eingang|einnahmen|gutschrift|montant credit|recettes|entree|abono|abonos|haber|entrada|ingreso"},
	{FieldAmount, "amount|transaction amount|gross amount|gross|quantity|quantity transacted|amount transacted|change|volume|size|sum|total|" +
		"betrag|umsatz|menge|summe|montant|somme|quantite|importe|monto|cantidad"},
	{FieldFee, "fee|fees|fee amount|commission|charges|transaction fee|gebuhr|gebuhren|entgelt|frais|commissions|comision|comisiones|tarifa"},
	{FieldNet, "net|net amount|netto|nettobetrag|net recu|montant net|neto|importe neto"},
	{FieldBalance, "balance|running balance|account balance|balance after|saldo|kontostand|saldo nach buchung|solde|solde apres operation"},
	{FieldCurrency, "currency|asset|coin|ccy|currency code|amount currency|symbol|token|wahrung|waehrung|devise|monnaie|moneda|divisa"},
	{FieldFeeCurrency, "fee currency|fee asset|fee coin|gebuhrenwahrung|devise des frais|moneda de comision"},
	{FieldDirection, "direction|debit credit|credit debit|dr cr|cr dr|d c|credit or debit|transaction direction|side|soll " +
		"haben|soll haben kennzeichen|" +
		"s h|sens|debit credit indicator|debe haber|sentido|tipo de movimiento"},
	{FieldValueGross, "value|fiat value|usd value|eur value|value usd|value eur|gross value|market " +
		"value|wert|gegenwert|valeur|contrevaleur|valor"},
	{FieldDescription, "description|details|narrative|transaction description|text|payment details|title|notes|note|" +
		"verwendungszweck|buchungstext|beschreibung|vorgang|libelle|libelle operation|intitule|motif|concepto|descripcion|detalle"},
	{FieldCounterparty, "counterparty|payee|name|counterparty name|beneficiary|payer|merchant|merchant name|recipient|" +
		"auftraggeber empfanger|beguenstigter zahlungspflichtiger|beguns " +
		"zahlungspfl|beguenstigter|empfanger|zahlungsempfanger|gegenpartei|auftraggeber|" +
		"name zahlungsbeteiligter|beneficiaire|tiers|contrepartie|beneficiario|ordenante|contraparte"},
	{FieldProviderCategory, "category|type|transaction type|operation|kategorie|buchungsart|umsatzart|art|categorie|type " +
		"operation|categoria|tipo"},
	{FieldMemo, "memo|reference|remark|comment|comments|referenz|kundenreferenz|bemerkung|notiz|reference " +
		"client|commentaire|remarque|referencia|" +
		"observaciones|comentario"},
	{FieldAccount, "account|account number|iban|source account|auftragskonto|konto|kontonummer|iban auftragskonto|compte|numero de " +
		"compte|cuenta|" +
		"numero de cuenta"},
	{FieldTransactionHash, "transaction hash|txhash|tx hash|hash"},
	{FieldBlockNumber, "block|block number|blockno|block height"},
	{FieldFrom, "from address|sender address"},
	{FieldTo, "to address|recipient address|destination address"},
	{FieldContract, "contract address|token address|contract"},
	{FieldChain, "chain|network|blockchain|netzwerk|reseau|red"},
	{FieldCardLast4, "card number|card last 4|last four digits|kartennummer|numero de carte|numero de tarjeta"},
	{FieldCardholder, "cardholder|card holder|name on card|karteninhaber|titulaire|titular"},
}
