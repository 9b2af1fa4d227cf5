// Package opening holds the use cases of opening balances: assets that were held before the books began and that a user
// creates, changes or deletes (POST, PATCH and DELETE /v1/assets).
//
// An opening balance is a lot without a transaction. Its cost is posted against opening balance equity in the opening
// period, which stands before every month (period.Opening); a lot that cost nothing has no entry. It enters its
// pool on the date on which it was received, even if it is created long after that date. Everything that was consumed since
// is then computed again (package replay), and the entries that change are corrected.
package opening
