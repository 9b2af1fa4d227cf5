package api

func (a *API) docsPage() []byte { return nil }
