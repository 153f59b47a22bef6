#include <criterion/criterion.h>
#include <stdio.h>

#include "store/manifest/verify.h"

#define DAY UINT64_C(86400)

/* Two keys, made for this file. */
#define KEY "RWTBTYPqfWgvWRNWO1qDAzShC5MkoD4e4kn2ndosDeVT/HXvjmy8Wp1o"
#define SECRET                                                                         \
	"untrusted comment: minisign encrypted secret key\n"                           \
	"RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAwU2D" \
	"6n"                                                                           \
	"1oL1lMroAlCK3om8jqLF9EWlQ0/fgyif2ivCik3yMGfkG82xNWO1qDAzShC5MkoD4e4kn2ndosDe" \
	"VT/HXvjmy8Wp1oAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"

static struct msd_order order_of(enum msd_policy policy)
{
	struct msd_order o = {.name = "digits", .now_s = 20000 * DAY};
	struct msd_public_key key;

	o.trust.policy = policy;
	cr_assert_eq(msd_public_key_parse(msd_span_of(KEY), &key, NULL), MSD_OK);
	cr_assert_eq(msd_trust_add(&o.trust, &key, NULL), MSD_OK);
	return o;
}

static void write_manifest(uint64_t version, uint64_t expires_s, struct msd_buf *text)
{
	struct msd_edition_manifest m = {.name = "digits",
					 .version = version,
					 .expires_s = expires_s,
					 .arch = "amd64",
					 .n_files = 1};

	m.files[0] = (struct msd_edition_file){.bytes = 1, .name = "digits.so"};
	msd_edition_manifest_write(&m, text);
	cr_assert_not(text->bad);
}

/* Of a manifest that is signed as it should be. */
static msd_err verify(const struct msd_order *o, uint64_t version, uint64_t expires_s)
{
	struct msd_buf text = {0}, signature = {0};
	struct msd_signers signers;
	struct msd_edition_manifest m;

	write_manifest(version, expires_s, &text);
	cr_assert_eq(msd_signature_make((struct msd_span){text.p, text.n},
					msd_span_of(SECRET), "", &signature, NULL),
		     MSD_OK);
	const msd_err err = msd_verify(o, (struct msd_span){text.p, text.n},
				       (struct msd_span){signature.p, signature.n}, &m,
				       &signers, NULL);
	msd_edition_manifest_finish(&m);
	msd_buf_finish(&text);
	msd_buf_finish(&signature);
	return err;
}

Test(verify, a_signed_manifest_of_the_module_is_believed)
{
	const struct msd_order o = order_of(MSD_POLICY_SIGNED);

	cr_expect_eq(verify(&o, 7, 0), MSD_OK);
}

Test(verify, another_modules_manifest_is_not)
{
	struct msd_order o = order_of(MSD_POLICY_SIGNED);

	o.name = "letters";
	cr_expect_eq(verify(&o, 7, 0), MSD_NOT_VERIFIED);
}

Test(verify, a_lower_version_than_the_key_has_signed_is_not)
{
	struct msd_order o = order_of(MSD_POLICY_SIGNED);

	o.n_floors = 1;
	o.floors[0] = (struct msd_floor){o.trust.keys[0].id, 7};
	cr_expect_eq(verify(&o, 6, 0), MSD_NOT_VERIFIED);
	cr_expect_eq(verify(&o, 7, 0), MSD_OK);
	cr_expect_eq(verify(&o, 8, 0), MSD_OK);
}

Test(verify, what_another_key_has_signed_does_not_count_against_this_one)
{
	struct msd_order o = order_of(MSD_POLICY_SIGNED);

	o.n_floors = 1;
	o.floors[0] = (struct msd_floor){{{1}}, 99};
	cr_expect_eq(verify(&o, 6, 0), MSD_OK);
}

Test(verify, an_expired_one_is_not_believed_once_the_time_is_known)
{
	struct msd_order o = order_of(MSD_POLICY_SIGNED);

	cr_expect_eq(verify(&o, 7, o.now_s), MSD_OK);
	cr_expect_eq(verify(&o, 7, o.now_s - 1), MSD_NOT_VERIFIED);
}

Test(verify, without_signatures_only_a_policy_that_wants_none_believes)
{
	static const msd_err wanted[MSD_POLICY_COUNT] = {[MSD_POLICY_SIGNED] =
								 MSD_NOT_VERIFIED};
	struct msd_buf text = {0};

	write_manifest(7, 0, &text);
	for (unsigned i = 0; i < MSD_POLICY_COUNT; i++) {
		const struct msd_order o = order_of((enum msd_policy)i);
		struct msd_signers signers;
		struct msd_edition_manifest m;

		cr_expect_eq(msd_verify(&o, (struct msd_span){text.p, text.n},
					(struct msd_span){NULL, 0}, &m, &signers, NULL),
			     wanted[i]);
		msd_edition_manifest_finish(&m);
	}
	msd_buf_finish(&text);
}
