// Package audit keeps the audit log: one record for every change, written in the transaction of the change. Records form
// a hash chain, so that none can be altered, removed or reordered without Verify noticing.
package audit
