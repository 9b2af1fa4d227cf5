// Package firmrequest lets an accounting firm ask a client for something: for access to its books, and for accounts to be connected or
// files to be uploaded. The client gets a link by mail to a page on which it does so, and which works until the request ends.
//
// A request is stored in the organization of the firm, and what is connected by it in that of the client. A database transaction is bound
// to one of them, so that what follows in the other is repeated by a job, or undone if the request has ended meanwhile.
package firmrequest
