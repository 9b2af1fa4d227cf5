package treasury

// SpamListing is what an organization always lets through or never, on the wire.
type SpamListing struct {
	ID        string  `json:"id" doc:"spl_ and 26 characters"`
	Verdict   string  `json:"verdict" enum:"allow,deny" doc:"What becomes of arrivals that it fits. Allow wins over everything, deny over all else"`
	Kind      string  `json:"kind" enum:"contract,address,symbol" doc:"What it is about: the contract of a token, the address at the other end, or the symbol of an asset"`
	Chain     *string `json:"chain" doc:"Of a contract; null means on every chain"`
	Value     string  `json:"value" doc:"The contract, address or symbol" example:"0x5bD1C8a3F60e94B7d2c01E86a7f39B50c84dE211"`
	Note      *string `json:"note" doc:"Why"`
	CreatedBy *string `json:"created_by" doc:"The user who made it"`
	CreatedAt string  `json:"created_at" format:"date-time" doc:"When it was made"`
}

// CreateSpamListing describes a new listing.
type CreateSpamListing struct {
	Verdict string  `json:"verdict" enum:"allow,deny" doc:"What becomes of arrivals that it fits"`
	Kind    string  `json:"kind" enum:"contract,address,symbol" doc:"What it is about"`
	Chain   *string `json:"chain,omitempty" maxLength:"64" doc:"Of a contract; left out, it is meant on every chain" example:"ethereum"`
	Value   string  `json:"value" minLength:"1" maxLength:"128" doc:"The contract, address or symbol; no two listings are about the same" example:"0x5bD1C8a3F60e94B7d2c01E86a7f39B50c84dE211"`
	Note    *string `json:"note,omitempty" maxLength:"500" doc:"Why"`
}
