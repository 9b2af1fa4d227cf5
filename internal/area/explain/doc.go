// Package explain takes the figures of reports apart: what a figure is made up of, each part with the figure it is in turn, down to journal lines,
// lots, prices and the transactions that they came from.
//
// A figure is named by a Query, in the words of the report it stands in. The parts of an explanation add up to the figure exactly; a part that is
// itself a figure of a report has the query that explains it, and one that is made of the lines, lots or dispositions listed beside it says so. What
// happened before a period is one part, the figure of the period before, so that an explanation costs what it shows and not what ever happened.
//
// The figures are those of the reports themselves, which are asked for the one row that matters.
package explain
