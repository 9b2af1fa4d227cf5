// Package groupcommit lets concurrent writers share one commit.
//
// Writers submit their body to a Queue under a key. The first one to find no leader for its key starts one: a goroutine
// that begins a database transaction, collects the waiting members into a batch, runs their bodies one after the other and
// commits them together. While it commits, the next members gather. Nobody waits for company: a lone member is a batch of one.
//
// Bodies run in the goroutine of the caller that submitted them, so that a panic stays with its caller. The leader only
// decides when each body runs.
//
// States of a member:
//
//	       Submit
//	         │
//	         ▼
//	     ┌────────┐  the caller's context ends   ┌───────────┐
//	┌───▶│ queued │─────────────────────────────▶│ withdrawn │  the body never runs
//	│    └────────┘                              └───────────┘
//	│        │ the leader takes it into a batch
//	│        ▼
//	│    ┌─────────┐ the body fails or panics    ┌────────┐
//	│    │ running │────────────────────────────▶│ failed │  the others go on
//	│    └─────────┘                             └────────┘
//	│        │ the body returns nil
//	│        ▼
//	│    ┌──────┐ commit                         ┌───────────┐
//	│    │ done │───────────────────────────────▶│ committed │
//	│    └──────┘                                └───────────┘
//	│        │ the transaction is rolled back    ┌──────────┐
//	├────────┤──────────────────────────────────▶│ rejected │  everybody who was done gets the error
//	│        │ not retryable, or too often       └──────────┘
//	└────────┘ retryable
//
// A member is queued until the transaction of its batch has begun: a caller whose context ends while the leader waits for
// the database does not wait with it. If the transaction cannot be begun at all, everybody who waits for it is rejected.
//
// A member that is withdrawn or fails leaves the batch. It does not make the others run again, unless its failure also
// ended the database transaction they share.
//
// The package knows nothing about databases: Options.Commit begins the transaction, calls Batch.Run and commits.
package groupcommit
