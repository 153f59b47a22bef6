#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "store/digest.h"

/* FIPS 180-4's example. */
static const char abc[] =
	"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

Test(digest, of_abc_is_the_standards_example)
{
	struct msd_digest digest;
	char text[MSD_DIGEST_TEXT];

	msd_digest_of(msd_span_of("abc"), &digest);
	msd_digest_format(&digest, text);
	cr_assert_str_eq(text, abc);
}

Test(digest, is_read_with_and_without_its_prefix)
{
	struct msd_digest plain, prefixed;
	char text[sizeof(abc) + sizeof("sha256:")];

	(void)snprintf(text, sizeof(text), "sha256:%s", abc);
	cr_assert(msd_digest_parse(msd_span_of(abc), &plain));
	cr_assert(msd_digest_parse(msd_span_of(text), &prefixed));
	cr_assert(msd_digest_equal(&plain, &prefixed));
}

Test(digest, other_texts_are_none)
{
	struct msd_digest digest;
	char upper[sizeof(abc)], odd[sizeof(abc)];

	memcpy(upper, abc, sizeof(abc));
	upper[1] = 'A';
	memcpy(odd, abc, sizeof(abc));
	odd[63] = 'g';
	cr_assert_not(msd_digest_parse(msd_span_of(upper), &digest));
	cr_assert_not(msd_digest_parse(msd_span_of(odd), &digest));
	cr_assert_not(msd_digest_parse(msd_span_of("sha256:"), &digest));
	for (size_t n = 0; n < sizeof(abc) - 1; n++) {
		struct msd_span prefix = {(const uint8_t *)abc, n};

		cr_assert_not(msd_digest_parse(prefix, &digest), "%zu digits", n);
	}
}
