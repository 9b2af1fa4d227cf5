// Package audit keeps who changed what: one row a change, in the change's own transaction, each row hashed over the one before it.
package audit
