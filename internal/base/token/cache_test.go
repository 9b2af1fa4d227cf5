package token_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/token"
)

func TestWhatWasReadIsUsedForHalfASecondAndKnownForLonger(t *testing.T) {
	t.Parallel()
	var c token.Cache[string]
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if _, ok := c.Get("a", at); ok || c.Has("a") {
		t.Error("an empty cache has something")
	}
	c.Put("a", "one", at)
	c.Put("b", "two", at)
	if v, ok := c.Get("a", at.Add(token.CachedFor-1)); !ok || v != "one" {
		t.Errorf("just before: %q %t", v, ok)
	}
	if _, ok := c.Get("a", at.Add(token.CachedFor)); ok || !c.Has("a") {
		t.Error("it is used for too long, or not known any more")
	}
	c.ForgetWhere(func(v string) bool { return v == "two" })
	c.Forget("a")
	if c.Has("a") || c.Has("b") {
		t.Error("what was forgotten is there")
	}
	for i := range 10_001 { // as many as it holds, and one
		c.Put(strconv.Itoa(i), "x", at)
	}
	if c.Has("0") || !c.Has("10000") {
		t.Error("a full cache does not make room")
	}
}
