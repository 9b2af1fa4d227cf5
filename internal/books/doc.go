// Package books groups the general ledger: legal entities, ledger accounts, tags, FX rates, accounting periods,
// journal entries and the balances kept with them, and the import and export of whole journals. It knows nothing of
// wallets, transactions or lots.
package books
