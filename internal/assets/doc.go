// Package assets groups what turns transactions into books: prices and asset policies, the lots with their cost basis, the booking of
// transactions as journal entries, the positions held, and their revaluation.
package assets
