// Package docs is the API reference at /docs: one page for each group of operations, an overview, guides and a full-text search. It
// renders the OpenAPI description and knows nothing else of the API, so that the pages cannot say what the description does not. Its
// examples were captured from the demo company by a test.
package docs
