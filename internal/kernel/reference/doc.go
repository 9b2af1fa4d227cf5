// Package reference finds what refers to a record and describes it in the words users know. It derives its statements
// from the references that db.Tables declares. A package that deletes records uses it to find out what prevents the
// deletion, so that a new table that refers to them needs only its declaration.
package reference
