package treasury

// SpamListing is a contract, address or symbol that is always or never spam.
type SpamListing struct {
	ID        string  `json:"id" doc:"Identifier: spl_ and 26 characters."`
	Verdict   string  `json:"verdict" enum:"allow,deny" doc:"allow: matching transactions are never spam. deny: they always are. allow takes precedence over deny."`
	Kind      string  `json:"kind" enum:"contract,address,symbol" doc:"What is listed: the contract of a token, the address of the other party, or the symbol of an asset."`
	Chain     *string `json:"chain" doc:"Blockchain of a contract; null for every blockchain."`
	Value     string  `json:"value" doc:"The contract, address or symbol." example:"0x5bD1C8a3F60e94B7d2c01E86a7f39B50c84dE211"`
	Note      *string `json:"note" doc:"Reason; null if none was given."`
	CreatedBy *string `json:"created_by" doc:"User who created the listing; null if none."`
	CreatedAt string  `json:"created_at" format:"date-time" doc:"When the record was created."`
}

// CreateSpamListing describes a new listing.
type CreateSpamListing struct {
	Verdict string  `json:"verdict" enum:"allow,deny" doc:"allow: matching transactions are never spam. deny: they always are."`
	Kind    string  `json:"kind" enum:"contract,address,symbol" doc:"Memo; null if none."`
	Chain   *string `json:"chain,omitempty" maxLength:"64" doc:"Blockchain of a contract. Defaults to every blockchain." example:"ethereum"`
	Value   string  `json:"value" minLength:"1" maxLength:"128" doc:"The contract, address or symbol. Each can be listed only once." example:"0x5bD1C8a3F60e94B7d2c01E86a7f39B50c84dE211"`
	Note    *string `json:"note,omitempty" maxLength:"500" doc:"Reason; null if none was given."`
}
