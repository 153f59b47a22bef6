#include <criterion/criterion.h>

#include "daemon/supervisor/fetch/fetch_options.h"

#define HEX "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

static const struct {
	const char *uri;
	bool promises;
} uris[] = {{"oci://h:5000/m@sha256:" HEX, true},
	    {"oci://h/a/b@sha256:" HEX "?key=1", true},
	    {"oci://h/m:1", false},
	    {"oci://h/m@sha256:" HEX "0", false},
	    {"oci://h/m@sha256:" HEX "/x", false},
	    {"oci://h/m@sha256:", false},
	    {"https://h/m@sha256:" HEX, false},
	    {"modser://h:1/m", false},
	    {"", false}};

Test(promised, only_a_registrys_digest_leads_to_the_same_for_ever)
{
	for (unsigned i = 0; i < sizeof(uris) / sizeof(uris[0]); i++) {
		struct msd_digest digest = {0}, expected;

		cr_expect_eq(msd_uri_digest_read(uris[i].uri, &digest),
			     uris[i].promises, "%s", uris[i].uri);
		cr_assert(msd_digest_parse(msd_span_of(HEX), &expected));
		if (uris[i].promises)
			cr_expect(msd_digest_equal(&digest, &expected));
	}
}
