package price

// FaultsMax is how many faults of a file are named.
const FaultsMax = faultsMax
