// Package arch contains only tests, of the structure of this module: which layer may import which, what may be imported
// and called where, and how long files and functions may be. The message of a failing rule says why the rule exists.
package arch
