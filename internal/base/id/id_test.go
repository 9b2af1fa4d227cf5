package id_test

import (
	"crypto/rand"
	"math/big"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/id"
)

func TestAnIDIsItsPrefixAndTwentySixDigitsOfAUUIDv7(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	got := id.NewSource(clock.NewManual(at), rand.Reader).New(id.Organization)
	if !id.Valid(id.Organization, got) {
		t.Fatalf("%q is not valid", got)
	}
	v := new(big.Int)
	for _, c := range strings.TrimPrefix(got, "org_") {
		v.Mul(v, big.NewInt(32)).Add(v, big.NewInt(int64(strings.IndexRune("0123456789abcdefghjkmnpqrstvwxyz", c))))
	}
	if ms := new(big.Int).Rsh(v, 80).Int64(); ms != at.UnixMilli() {
		t.Errorf("the first 48 bits are %d, want the time %d", ms, at.UnixMilli())
	}
	if created, ok := id.Time(got); !ok || !created.Equal(at) {
		t.Errorf("its time is %v, want %v", created, at)
	}
	for _, none := range []string{"", "org", "org_", "org_x", "le_" + strings.Repeat("z", 26),
		id.Derive(id.JournalEntry, []byte("content"))} {
		if created, ok := id.Time(none); ok {
			t.Errorf("%q has the time %v", none, created)
		}
	}
	if version := new(big.Int).Rsh(v, 76).Int64() & 15; version != 7 {
		t.Errorf("version %d, want 7", version)
	}
}

func TestIDsSortByCreationAndNeverRepeat(t *testing.T) {
	t.Parallel()
	c := clock.NewManual(time.Unix(1e9, 0))
	s := id.NewSource(c, rand.Reader)
	last := ""
	for range 1000 {
		c.Advance(time.Millisecond)
		next := s.New(id.User)
		if next <= last {
			t.Fatalf("%s came after %s", next, last)
		}
		last = next
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	seen := map[string]bool{}
	for range 8 {
		wg.Go(func() {
			for range 2000 {
				x := s.New(id.User)
				mu.Lock()
				if seen[x] {
					t.Errorf("%s twice", x)
				}
				seen[x] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

func TestOtherTextIsNotAnID(t *testing.T) {
	t.Parallel()
	good := id.NewSource(clock.System{}, rand.Reader).New(id.Organization)
	for _, bad := range []string{"", "org_", good[4:], "usr_" + good[4:], good + "0", good[:29], strings.ToUpper(good),
		"org_8" + good[5:], "org_" + strings.Repeat("u", 26)} {
		if id.Valid(id.Organization, bad) {
			t.Errorf("%q passed", bad)
		}
	}
}

func TestADerivedIDIsAValidOneThatFollowsFromItsContent(t *testing.T) {
	t.Parallel()
	derive := func(content string) string { return id.Derive(id.JournalEntry, []byte(content)) }
	one, same, other := derive("a"), derive("a"), derive("b")
	if one != same || one == other || !id.Valid(id.JournalEntry, one) || !id.Valid(id.JournalEntry, other) {
		t.Errorf("%s %s %s", one, same, other)
	}
}

func TestLaterComparesWhenIDsOfAnyTypesWereCreated(t *testing.T) {
	t.Parallel()
	now := clock.NewManual(time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC))
	source := id.NewSource(now, rand.Reader)
	ids := []string{source.New(id.Request), source.New(id.JournalEntry), source.New(id.Organization)} // within a millisecond
	now.Advance(time.Millisecond)
	ids = append(ids, source.New(id.JournalEntry), source.New(id.Organization))
	for i, a := range ids {
		for j, b := range ids {
			if got := id.Later(a, b); got != (i > j) {
				t.Errorf("Later(%s, %s) is %t, but they are the %dth and the %dth", a, b, got, i, j)
			}
		}
	}
}
