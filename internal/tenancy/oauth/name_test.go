package oauth_test

import (
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/tenancy/oauth"
)

func TestNamesOfAllLanguagesAreAccepted(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Ledger Tools", "帳簿", "Бухгалтер", "دفتر", "한글", "Tally ❤\ufe0f", "7", "Naïve", "🧾", "1\ufe0f\u20e3 Click",
		"חשבונות", "שָּׁלוֹם", "دفتر المُحَمَّد", "हिन्दी लेखा", "क़ुंदूज़", "บัญชีที่ดิน", "น้ำผึ้ง", "Kế toán Nguyễn", "Straße 8"} {
		if err := (oauth.RegisterParams{Name: name, RedirectURIs: []string{callback}}).Validate(); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestANameThatReadsAsTheServiceIsRefused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"bursɑr", "Ⲃursar", "ƅursar", "🅱ursar", "8ursar", "Bur5ar", "Burs4r", "Bur$@r", "🇧ursar", "🅑🅤🅡🅢🅐🅡", "🄱ursar",
		"Ᏼursar", "BURՏAR", "BURSΛR", "ßursar", "Bцгѕaг", "B\u0336ursar", "𝐁𝐮𝐫𝐬𝐚𝐫",
		"Bursar Support", "Bursar - Official", "Official Bursar", "The Bursar App", "(Bursar)", "Bursar's", "Bursar.com", "bursar_sync",
		"BursarSupport", "myBursar", "Bursar2", "Bursar8", "Bursar 365", "Bursar公式", "B u r s a r Support", "Bur-sar Bridge", "Ⲃursɑr Support",
		"Bursar✓"} {
		err := (oauth.RegisterParams{Name: name, RedirectURIs: []string{callback}}).Validate()
		if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "name must not be that of this service") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestANameMayContainThatOfTheServiceInALongerWord(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Reimbursario", "reimbursar", "Bursary", "Bursaries 8", "Bursarø",
		"Disbursartor", "Bur Sarah", "Abur Sar", "Bursa"} {
		if err := (oauth.RegisterParams{Name: name, RedirectURIs: []string{callback}}).Validate(); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}
