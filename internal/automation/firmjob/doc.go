// Package firmjob runs one task for many clients of an accounting firm: a readiness check, a classification or a report. A job is a
// background task. It goes through the clients one after the other and stores a result for each, so that a job that is interrupted goes on
// where it was.
//
// A job acts for the person who has started it. What the person may do for a client is read again when its turn comes: a client that has
// ended the access, or for which the person no longer has a role, is skipped. A result is shown only to people who have a role for the
// client at that moment.
//
// After some seconds a job gives way to those of other firms, and goes on when it has its next turn.
//
// A job resembles a run of the package batchrun: it has a status, counts and results, and is executed under a claim. What both need of a
// claim is in the package task. The rest is not shared, because it is about other rows: results of a run follow each other in the order of
// transactions and are stored in batches with what they change, in one organization; those of a job exist from its beginning, and each is
// about another organization.
package firmjob
