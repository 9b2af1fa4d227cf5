package template

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/tag"
)

// Limits of templates.
const (
	AccountsMax = 500
	TagsMax     = 200
	RulesMax    = 200

	contentMax     = 200_000 // bytes of a template as it is stored
	nameMax        = 200
	descriptionMax = 2000
	codeMax        = 32
	templatesMax   = 100 // of a firm
)

func versionText(n int64) string { return strconv.FormatInt(n, 10) }

// validate adds everything that is wrong with a template.
func (t Template) validate(faults *fault.List) error {
	if n := utf8.RuneCountInString(t.Name); n < 1 || n > nameMax {
		faults.Addf("name", "must have 1 to %d characters, not counting spaces before and after", nameMax)
	}
	if utf8.RuneCountInString(t.Description) > descriptionMax {
		faults.Addf("description", "must have at most %d characters", descriptionMax)
	}
	switch t.Kind {
	case Chart:
		if len(t.Content.Rules) > 0 {
			faults.Addf("rules", "must be omitted: a template of kind %s has ledger accounts and tags", Chart)
		}
		if len(t.Content.Accounts)+len(t.Content.Tags) == 0 {
			faults.Addf("accounts", "is required, or tags")
			faults.Addf("tags", "is required, or accounts")
		}
	case Rules:
		for name, there := range map[string]bool{"accounts": len(t.Content.Accounts) > 0, "tags": len(t.Content.Tags) > 0} {
			if there {
				faults.Addf(name, "must be omitted: a template of kind %s has rules, which name accounts by code", Rules)
			}
		}
		if len(t.Content.Rules) == 0 {
			faults.Addf("rules", "is required")
		}
	default:
		faults.Addf("kind", "must be one of %s", fault.Choices(Kinds))
	}
	return t.Content.validate(faults)
}

func (c Content) validate(faults *fault.List) error {
	for _, l := range []struct {
		name      string
		have, max int
	}{{"accounts", len(c.Accounts), AccountsMax}, {"tags", len(c.Tags), TagsMax}, {"rules", len(c.Rules), RulesMax}} {
		if l.have > l.max {
			faults.Addf(l.name, "must have at most %d items, but has %d", l.max, l.have)
		}
	}
	for _, check := range []func(*fault.List) error{c.validateAccounts, c.validateTags, c.validateRules} {
		if err := check(faults); err != nil {
			return err
		}
	}
	if faults.Empty() {
		if n := len(c.text()); n > contentMax {
			faults.Addf(c.largest(), "make the template too long: it has %d bytes, and may have %d", n, contentMax)
		}
	}
	return nil
}

// largest names the list that a template consists of.
func (c Content) largest() string {
	if len(c.Rules) > 0 {
		return "rules"
	}
	return "accounts"
}

// text returns the content as it is stored.
func (c Content) text() string {
	out, err := json.Marshal(c)
	if err != nil {
		panic(fmt.Sprintf("template: content that cannot be written down: %v", err)) // it has texts, numbers and booleans only
	}
	return string(out)
}

func contentOf(text string) (c Content, err error) {
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return c, fmt.Errorf("template: stored content: %w", err)
	}
	return c, nil
}

func (c Content) validateAccounts(faults *fault.List) error {
	at := map[string]int{} // by code
	for i, a := range c.Accounts {
		field := fmt.Sprintf("accounts[%d]", i)
		if a.Code == "" {
			faults.Addf(field+".code", "is required: rules and other accounts of templates refer to it")
		} else if first, there := at[a.Code]; there {
			faults.Addf(field+".code", "must be unique: accounts[%d] has %s too", first, a.Code)
		} else {
			at[a.Code] = i
		}
		if err := faults.Merge(fault.PrefixFields(field+".", a.params("").Validate())); err != nil {
			return err
		}
		validateCode(faults, field+".parent_code", a.ParentCode)
	}
	for i, a := range c.Accounts {
		above, there := at[a.ParentCode]
		if a.ParentCode == "" || !there {
			continue // at the top, or below an account that the client must have
		}
		field := fmt.Sprintf("accounts[%d].parent_code", i)
		if p := c.Accounts[above]; p.Type != a.Type && p.Type.Valid() && a.Type.Valid() {
			faults.Addf(field, "must be an account of type %s: %s is of type %s", a.Type, p, p.Type)
		}
		for steps := 0; there && above != i; steps++ {
			if above, there = at[c.Accounts[above].ParentCode]; steps > len(c.Accounts) {
				break // a circle further up, which the accounts in it report
			}
		}
		if there && above == i {
			faults.Addf(field, "must not be the account itself or one below it")
		}
	}
	return nil
}

func validateCode(faults *fault.List, field, code string) {
	if utf8.RuneCountInString(code) > codeMax {
		faults.Addf(field, "must have at most %d characters", codeMax)
	}
	if code != strings.TrimSpace(code) {
		faults.Addf(field, "must not begin or end with a space")
	}
}

func (c Content) validateTags(faults *fault.List) error {
	at := map[Tag]int{}
	for i, t := range c.Tags {
		field := fmt.Sprintf("tags[%d]", i)
		if err := faults.Merge(fault.PrefixFields(field+".", tag.Validate(t.Kind, t.Name))); err != nil {
			return err
		}
		if first, there := at[t]; there {
			faults.Addf(field+".name", "must be unique: tags[%d] is the same", first)
		} else {
			at[t] = i
		}
	}
	return nil
}

func (c Content) validateRules(faults *fault.List) error {
	at := map[matching]int{}
	for i, r := range c.Rules {
		field := fmt.Sprintf("rules[%d]", i)
		for _, code := range r.codes() {
			if code == "" {
				faults.Addf(field+".ledger_account_code", "must be the code of a ledger account")
				break
			}
		}
		if r.Tag != nil {
			if err := faults.Merge(fault.PrefixFields(field+".tag.", tag.Validate(r.Tag.Kind, r.Tag.Name))); err != nil {
				return err
			}
		}
		one, err := r.params(own).Read()
		if err != nil {
			if err := faults.Merge(fault.PrefixFields(field+".", renamed(err))); err != nil {
				return err
			}
			continue
		}
		if first, there := at[matchingOf(one)]; there {
			faults.Addf(field, "must not match the same as rules[%d]", first)
			continue
		}
		at[matchingOf(one)] = i
	}
	return nil
}
