// Package clientfigures shows an accounting firm what is to be done for its clients: how many transactions of each are open, which sources
// are not reconciled, and whether its last month can be closed.
//
// The figures of a client are stored with the client, with the number of the last change that they include. A background job computes those
// again that are out of date. What a page of the overview shows is out of date only where there was no time to compute it at once, and says
// of when it is.
package clientfigures
