package tag

// Referring are the tables that name tags.
var Referring = referring
