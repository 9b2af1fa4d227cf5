// Package archive moves an organization to another database, with all that it is: Write writes it to one file, and Import reads that into a
// database on either engine, where every record has the id that it had.
//
// An archive is a ZIP file. It has one file of JSON lines for each table (tables/NAME.jsonl: a line is an array with the values of a row,
// in the order of the primary key) and manifest.json, which names the organization, the schema, and the columns, the number of rows and the
// SHA-256 of each table. Values are written in one way only, so that the hash of a table is the same on both engines.
// db.ArchivedTables says what of each table an archive has.
package archive
