package plaidtest

import (
	"fmt"
	"net/http"
	"slices"
	"time"
)

// linkFields are the fields of a request for a page on which a person signs in.
type linkFields struct {
	ClientName string   `json:"client_name"`
	Language   string   `json:"language"`
	Countries  []string `json:"country_codes"`
	Products   []string `json:"products"`
	User       struct {
		ID string `json:"client_user_id"`
	} `json:"user"`
	Hosted *struct {
		Back     string `json:"completion_redirect_uri"`
		Lifetime int    `json:"url_lifetime_seconds"`
	} `json:"hosted_link"`
	Transactions struct {
		Days int `json:"days_requested"`
	} `json:"transactions"`
}

// link is a page on which a person signs in.
type link struct {
	Back     string
	expires  time.Time
	renews   bool
	sessions []map[string]any
}

// AddPublicToken makes a public token that can be exchanged once.
func (s *Server) AddPublicToken() string {
	token := fmt.Sprintf("public-production-%04d", len(s.public))
	s.public[token] = true
	return token
}

// SignIn has a person use the page that was made last, and returns where the browser is sent back to. A person who gives up comes back
// without having signed in.
func (s *Server) SignIn(gives bool) string {
	last := s.links[fmt.Sprintf("link-production-%04d", len(s.links)-1)]
	one := map[string]any{"link_session_id": fmt.Sprint(len(last.sessions)), "started_at": s.Now().Format(time.RFC3339),
		"finished_at": s.Now().Format(time.RFC3339), "events": []any{map[string]any{"event_name": "OPEN"}}}
	switch {
	case !gives:
		one["exit"] = map[string]any{"error": nil}
	case last.renews:
		s.ItemError = ""
		one["events"] = []any{map[string]any{"event_name": "HANDOFF"}, map[string]any{"event_name": "OPEN"}}
	default:
		one["results"] = map[string]any{"item_add_results": []any{map[string]any{"public_token": s.AddPublicToken(), "accounts": s.accounts(),
			"institution": map[string]any{"name": "First Platypus Bank", "institution_id": "ins_109508"}}}}
	}
	last.sessions = append(last.sessions, one)
	return last.Back
}

// answerSetup answers requests that connect a bank, and reports whether it was one.
func (s *Server) answerSetup(w http.ResponseWriter, path string, f fields) bool {
	switch path {
	case "/item/public_token/exchange":
		if !s.public[f.PublicToken] {
			refuse(w, "INVALID_INPUT", "INVALID_PUBLIC_TOKEN", "could not find matching public token")
			return true
		}
		s.public[f.PublicToken] = false
		answer(w, map[string]any{"access_token": accessToken, "item_id": ItemID})
	case "/link/token/create":
		s.createLink(w, f)
	case "/link/token/get":
		l := s.links[f.LinkToken]
		if l == nil {
			refuse(w, "INVALID_INPUT", "INVALID_LINK_TOKEN", "could not find matching link token")
			return true
		}
		answer(w, map[string]any{"link_token": f.LinkToken, "link_sessions": l.sessions, "metadata": map[string]any{}})
	default:
		return false
	}
	return true
}

func (s *Server) createLink(w http.ResponseWriter, f fields) {
	renews := f.AccessToken != ""
	switch {
	case f.ClientName == "" || len(f.ClientName) > 30 || f.Language != "en" || len(f.Countries) == 0 || f.User.ID == "" || f.Hosted == nil:
		refuse(w, "INVALID_REQUEST", "MISSING_FIELDS", "the following required fields are missing")
		return
	case renews && (f.AccessToken != accessToken || f.Products != nil):
		refuse(w, "INVALID_INPUT", "INVALID_FIELD", "products must not be sent in update mode")
		return
	case !renews && (!slices.Equal(f.Products, []string{"transactions"}) || f.Transactions.Days != 730):
		refuse(w, "INVALID_INPUT", "INVALID_FIELD", "products must have transactions")
		return
	}
	token := fmt.Sprintf("link-production-%04d", len(s.links))
	l := &link{Back: f.Hosted.Back, expires: s.Now().Add(time.Duration(f.Hosted.Lifetime) * time.Second), renews: renews}
	s.links[token] = l
	answer(w, map[string]any{"link_token": token, "expiration": l.expires.Format(time.RFC3339),
		"hosted_link_url": "https://secure.plaid.com/hl/" + token})
}
