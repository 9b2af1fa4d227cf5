package firm

// InsertNew stores a new client, and nothing else: no books are created.
var InsertNew = insertNew
