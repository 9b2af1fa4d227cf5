// Package books serves the routes of the books: legal entities, ledger accounts, tags, journal entries, accounting periods and FX rates.
package books
