// Package reference tells what refers to a record, in the words users know, from the references that db.Tables declares. A package that
// deletes records asks it what prevents that, so a new table that refers to them needs only its declaration.
package reference
