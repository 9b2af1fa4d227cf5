// Package firmjob runs one task for many clients of an accounting firm: a readiness check, a classification or a report. A job is a
// background task. It goes through the clients one after the other and stores a result for each, so that a job that is interrupted goes on
// where it was.
//
// A job acts for the person who has started it. What the person may do for a client is read again when its turn comes: a client that has
// ended the access, or for which the person has no role any more, is skipped. A result is shown only to people who have a role for the
// client at that moment.
package firmjob
