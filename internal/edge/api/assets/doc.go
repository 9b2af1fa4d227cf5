// Package assets serves the routes of assets: lots, asset policies, prices and revaluations.
package assets
