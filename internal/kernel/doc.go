// Package kernel groups the infrastructure that every write uses and that knows nothing of accounting: who acts
// (actor), the row that serializes an organization's writes (orgstate), the audit log, the outbox of events,
// idempotency keys, and background tasks.
package kernel
