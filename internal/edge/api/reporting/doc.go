// Package reporting serves the reports: financial statements, holdings, gains and losses, and the explanation of a figure.
package reporting
