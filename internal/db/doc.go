// Package db is the only way to the database: one handle for SQLite and PostgreSQL, with transactions, the few places
// where the two differ, and migrations.
//
// # SQL
//
// Packages write portable SQL once, in their file sql.go. Placeholders are ?, and @org stands for the organization the
// transaction is bound to: a statement that names a tenant table without tying it to @org is refused before it reaches
// the database. Where the engines differ, a word in braces stands for a fragment of dialect.go. Times are UTC with
// milliseconds, amounts are exact decimals, text sorts by bytes; both engines agree on all three.
//
// # Transactions
//
// A use case runs in a function that gets a handle, Tx:
//
//	err := d.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
//		tags, err := db.All[tagRow](ctx, tx, "SELECT ... FROM tags WHERE organization_id = @org AND kind = ?", kind)
//		...
//		return db.Insert(ctx, tx, "tags", row)
//	})
//
//	Write        writes to one organization; within another write it is nested (see below)
//	WriteAlone   is Write for very large writes
//	WriteAcross  writes across organizations and takes the reason
//	GroupWrite   is Write for hot use cases, which share one commit (see below)
//	Read         reads one organization from one snapshot
//	ReadOne      reads one organization without a transaction
//	ReadAcross   reads across organizations and takes the reason
//
// What a function may do with its handle:
//
//	All, One               read rows into structs whose fields name their columns
//	Insert, Upsert         write rows of such structs
//	tx.Exec                runs a statement and returns the number of rows it changed
//	tx.Queue               runs a statement whose result nobody needs, without a round trip of its own
//	tx.Now, tx.NewID       give the time of the transaction and new identifiers
//	tx.Organization, tx.DB return what the transaction is bound to
//	tx.AfterCommit         runs a function after the commit, for effects outside the database
//	tx.SeesOneSnapshot     reports whether all its statements see the same data
//
// The function may run more than once: PostgreSQL rolls back transactions that collide, and Write then runs the
// function again, up to eight times in all (a group more often, if a write that failed leaves it each time). It must not
// have effects outside the database. A commit whose answer was lost is never repeated; its error is ErrCommitUnknown.
//
// A change to an audited table is committed only if the audit log has recorded it (audit.Record).
//
// # Nested writes
//
// Use cases call each other. A Write, GroupWrite or Read within another write takes part in its transaction. If a nested
// write fails, the outer one must return its error. If it does not, it fails with a message that says so: nothing of a
// write in which a nested one failed is committed.
//
// # Group commit
//
// Concurrent grouped writes of one organization run one after the other in one database transaction and share its
// commit; package groupcommit says how. They exchange data through tx.Group():
//
//	State         a value that all of them share for as long as the transaction lasts
//	OnRollback    undoes a change to such a value if the write that made it fails
//	BeforeCommit  runs a function at the end of the transaction, once for all of them; only there they write
//	Assume        lets them use what was not read, if Guard fails the commit should it be wrong
//	Precondition  has something written and committed that a grouped write needs before it can run
//
// Except for Assume and Guard, which need a group, these work in ordinary writes as well. On SQLite, ordinary writes of all
// organizations share commits too, because there is one writer; that needs no care in use cases.
package db
