// Package assets groups the packages that turn transactions into books: prices and asset policies, lots with their cost basis,
// the booking of transactions as journal entries, reports on holdings, and revaluation.
package assets
