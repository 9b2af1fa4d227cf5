// Package interchange exports the journal of an organization as plain text for hledger, beancount or a spreadsheet, and
// imports such files. Exports include the chart of accounts and the exchange rates; an exported file can be imported
// again without creating duplicates. Package notation reads and writes the formats.
package interchange
