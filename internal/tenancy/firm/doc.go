// Package firm lets an accounting firm work for its clients. An organization becomes a firm by its firm settings. A client is another
// organization that has given the firm access; its owners see who has it, and can end it at any time.
//
// What counts is stored in the organization of the client: which firm has access (firm_access), and which of its people with which role
// (firm_people). The firm's own list of clients (firm_clients) follows it: a database transaction is bound to one organization, so each one
// that changes access queues a job that brings the list up to date, which also runs at once after the commit.
package firm
