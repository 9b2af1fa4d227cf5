// Package db is one handle for SQLite and PostgreSQL: open, transactions, the few places where the two differ, and migrations.
//
// Areas write portable SQL once. Placeholders are ?, and @org stands for the organization the transaction is bound to:
// a statement that touches a tenant table without tying it to @org is refused before it reaches the database.
// Times are millisecond UTC, amounts are exact decimals, text sorts by bytes; both engines agree on all three.
package db
