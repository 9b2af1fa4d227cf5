// Package firmrequest lets an accounting firm ask a client for something: for access to its books, and for accounts to be connected or
// files to be uploaded. The client gets a link by mail to a page on which it does so, and which works until the request ends.
//
// A request is stored in the organization of the firm, and what is connected by it in that of the client. A database transaction is bound
// to one of them. One in the books of the client locks the link, which belongs to neither and is deleted by whoever ends the request, so
// that nothing is stored for a request that has ended. What follows in the other organization is repeated by a job, or undone.
package firmrequest
