#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "store/trust.h"
#include "tests/support/exact.h"

#define LINE "RWTBTYPqfWgvWRNWO1qDAzShC5MkoD4e4kn2ndosDeVT/HXvjmy8Wp1o"
#define FILE_TEXT "untrusted comment: minisign public key 592F687DEA834DC1\n" LINE "\n"

static msd_err parse(const char *text, struct msd_public_key *ret)
{
	struct msd_diag d = {0};
	uint8_t *copy = exact_copy(text, strlen(text));
	const struct msd_span span = {copy, strlen(text)};
	const msd_err err = msd_public_key_parse(span, ret, &d);

	msd_diag_finish(&d);
	free(copy);
	return err;
}

Test(trust, a_key_is_read_with_its_comment_and_without)
{
	struct msd_public_key with, without;
	char id[MSD_KEY_ID_TEXT];

	cr_assert_eq(parse(FILE_TEXT, &with), MSD_OK);
	cr_assert_eq(parse(LINE, &without), MSD_OK);
	cr_assert_eq(memcmp(&with, &without, sizeof(with)), 0);
	msd_key_id_format(&with.id, id);
	cr_assert_str_eq(id, "592F687DEA834DC1");
}

Test(trust, what_is_no_key_is_refused)
{
	static const char *const bad[] = {
		"",
		"\n",
		"untrusted comment: none\n",
		"RW",
		LINE "A",
		FILE_TEXT LINE "\n",
		"untrusted comment: x\nuntrusted comment: y\n"};
	struct msd_public_key key;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_eq(parse(bad[i], &key), MSD_BAD_REQUEST, "%s", bad[i]);
}

Test(trust, a_key_is_trusted_once_and_sixteen_are_the_limit)
{
	struct msd_trust t = {0};
	struct msd_public_key key;

	cr_assert_eq(parse(LINE, &key), MSD_OK);
	for (unsigned i = 0; i < MSD_TRUST_KEYS; i++) {
		key.b[0] = (uint8_t)i;
		cr_assert_eq(msd_trust_add(&t, &key, NULL), MSD_OK);
		cr_assert_eq(msd_trust_add(&t, &key, NULL), MSD_OK);
	}
	cr_assert_eq(t.n_keys, MSD_TRUST_KEYS);
	key.b[0] = MSD_TRUST_KEYS;
	cr_assert_eq(msd_trust_add(&t, &key, NULL), MSD_TOO_LARGE);
}

Test(trust, policies_are_read_as_they_are_written)
{
	enum msd_policy policy = MSD_POLICY_COUNT;

	for (unsigned i = 0; i < MSD_POLICY_COUNT; i++) {
		const char *word = msd_policy_word((enum msd_policy)i);
		const struct msd_span span = msd_span_of(word);

		cr_assert(msd_policy_parse(span, &policy));
		cr_assert_eq(policy, i);
	}
	cr_assert_not(msd_policy_parse((struct msd_span){(const uint8_t *)"sign", 4},
				       &policy));
}

#define SIGNED_BY(id16)                                                                \
	"untrusted comment: signature\n" id16 "AAAA\ntrusted comment: x\nAAAA\n"
/* The first sixteen characters of signatures by the key of LINE, and by another. */
#define OURS "RUTBTYPqfWgvWRNW"
#define THEIRS "RUTBTYPqfWgvWxNW"

Test(trust, signatures_name_the_keys_that_they_were_made_by)
{
	struct msd_trust t = {0};
	struct msd_public_key key;

	cr_assert_eq(parse(LINE, &key), MSD_OK);
	cr_assert_eq(msd_trust_add(&t, &key, NULL), MSD_OK);
	cr_expect_eq(msd_trust_count_named(&t, msd_span_of(SIGNED_BY(OURS))), 1);
	cr_expect_eq(msd_trust_count_named(&t, msd_span_of(SIGNED_BY(THEIRS))), 0);
	cr_expect_eq(msd_trust_count_named(&t, msd_span_of(SIGNED_BY(THEIRS) SIGNED_BY(
						       OURS) SIGNED_BY(OURS))),
		     1, "once");
}

Test(trust, no_prefix_of_signatures_is_read_beyond_its_end)
{
	static const char text[] = SIGNED_BY(THEIRS) SIGNED_BY(OURS);
	struct msd_trust t = {0};
	struct msd_public_key key;

	cr_assert_eq(parse(LINE, &key), MSD_OK);
	cr_assert_eq(msd_trust_add(&t, &key, NULL), MSD_OK);
	for (size_t n = 0; n < sizeof(text); n++) {
		uint8_t *copy = exact_copy(text, n);

		cr_expect_leq(msd_trust_count_named(&t, (struct msd_span){copy, n}), 1);
		free(copy);
	}
}
