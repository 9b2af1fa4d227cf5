// Package opening holds the use cases of opening balances: assets that were held before the books began and that a user
// creates, changes or deletes (POST, PATCH and DELETE /v1/assets).
//
// An opening balance is a lot without a transaction. Its cost is posted against opening balance equity in the opening
// period, which stands before every month (period.Opening); a lot that cost nothing has no entry. It enters its
// pool before everything else, so that every disposal can consume it; the date on which it was received only determines the
// order among lots and the holding period. Everything that was consumed from the pool is computed again when it is created,
// changed or deleted (package replay), and the entries that change are corrected.
package opening
