// Package opening holds the use cases of opening balances: assets that were held before the books began and that somebody
// enters, changes or deletes (POST, PATCH and DELETE /v1/assets).
//
// An opening balance is a lot without a transaction. Its cost is posted against opening balance equity on the last
// instant before the first accounting period of its legal entity; a lot that cost nothing has no entry. It enters its
// pool on the date on which it was received, however long after that date it is entered, so that everything that was
// consumed since is computed again (package replay) and the entries concerned are corrected.
package opening
