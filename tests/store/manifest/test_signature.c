/* The signatures are minisign's own, 0.11. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "store/manifest/signature.h"
#include "tests/support/exact.h"

#define TEXT "{\"name\": \"digits\"}\n"
#define KEY "RWTBTYPqfWgvWRNWO1qDAzShC5MkoD4e4kn2ndosDeVT/HXvjmy8Wp1o"
#define OTHER_KEY "RWS47Mf25URILLNmNBCeI3KFNwz9fHSnIihp/w2OYltFJPhR/pD3BjNa"
/* Made for this file, and of no other use. */
#define SECRET                                                                         \
	"untrusted comment: minisign encrypted secret key\n"                           \
	"RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAwU2D" \
	"6n"                                                                           \
	"1oL1lMroAlCK3om8jqLF9EWlQ0/fgyif2ivCik3yMGfkG82xNWO1qDAzShC5MkoD4e4kn2ndosDe" \
	"VT/HXvjmy8Wp1oAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"
#define UNTRUSTED "untrusted comment: signature from minisign secret key\n"
#define HASHED                                                                         \
	UNTRUSTED                                                                      \
	"RUTBTYPqfWgvWUwuLlF9Akwmpsr0BMoOQFbtMCqsJ9/1BextHq6we8HV1GUk58r0H+"           \
	"zcGWPBWoH1Ntj4K2Gh1wp2Ziy+qYLYrQg=\n"                                         \
	"trusted comment: digits 7\n"                                                  \
	"NR2ttWbe30dmfl6lqr6sM7rusfCKhJvwhWClg1NYpayxN2Zst3j3HXmdAgI/"                 \
	"SQrqS79w6v76HblNHr1ahBTlCg==\n"
#define PLAIN                                                                          \
	UNTRUSTED                                                                      \
	"RWTBTYPqfWgvWfnIGmtD3KkzsAwTwah3cB0WDAM/"                                     \
	"GHdakHUcfn2WO6eAsz9AM/o+Aj4DC2eFKZ6p4tXdZ9jo7hnEZZP8j3ndTwc=\n"               \
	"trusted comment: digits 7\n"                                                  \
	"AaDlKmpcORvbgidY5/vk9XBZ9XNOmv1//bClWkuohxZl/"                                \
	"u+ZovtMxo6rYFMRv3+TTb+ajOzRPEGVOJNiJL24AQ==\n"
#define OTHER                                                                          \
	UNTRUSTED                                                                      \
	"RUS47Mf25URILHt3Do1Bg2eD03DiZtEZiLpCa2xSB0hC5qu7PX/"                          \
	"bQOVEHRWOh2K9Vjtv/CGgN/etxW4hbuU3QMwA9dyJ+dk4FAs=\n"                          \
	"trusted comment: digits 7\n"                                                  \
	"3IYBrz/gJJfM1szUruZGRqmj4YBOA4I0WA70efS60tfB0rIsY0sJvjovzDFvk59e4TFM4wGnfIVy" \
	"Oc6ulKA0BQ==\n"

static struct msd_trust trust_of(const char *key, const char *other, uint32_t least)
{
	struct msd_trust t = {.policy = MSD_POLICY_SIGNED, .least = least};
	struct msd_public_key k;

	cr_assert_eq(msd_public_key_parse(msd_span_of(key), &k, NULL), MSD_OK);
	cr_assert_eq(msd_trust_add(&t, &k, NULL), MSD_OK);
	if (other != NULL) {
		cr_assert_eq(msd_public_key_parse(msd_span_of(other), &k, NULL),
			     MSD_OK);
		cr_assert_eq(msd_trust_add(&t, &k, NULL), MSD_OK);
	}
	return t;
}

/* In blocks of exactly their size. */
static msd_err check_bytes(struct msd_span text, struct msd_span signatures,
			   const struct msd_trust *t)
{
	uint8_t *a = exact_copy(text.p, text.n);
	uint8_t *b = exact_copy(signatures.p, signatures.n);
	struct msd_signers signers;
	struct msd_diag d = {0};
	const msd_err err = msd_signature_check((struct msd_span){a, text.n},
						(struct msd_span){b, signatures.n}, t,
						&signers, &d);

	msd_diag_finish(&d);
	free(a);
	free(b);
	return err;
}

static msd_err check(const char *text, const char *signatures,
		     const struct msd_trust *t)
{
	return check_bytes(msd_span_of(text), msd_span_of(signatures), t);
}

Test(signature, both_of_minisigns_kinds_are_taken)
{
	const struct msd_trust t = trust_of(KEY, NULL, 0);

	cr_expect_eq(check(TEXT, HASHED, &t), MSD_OK);
	cr_expect_eq(check(TEXT, PLAIN, &t), MSD_OK);
}

Test(signature, the_key_that_is_not_trusted_is_named)
{
	const struct msd_trust t = trust_of(OTHER_KEY, NULL, 0);
	struct msd_signers signers;
	struct msd_diag d = {0};

	cr_assert_eq(msd_signature_check(msd_span_of(TEXT), msd_span_of(HASHED), &t,
					 &signers, &d),
		     MSD_NOT_VERIFIED);
	cr_assert_not_null(strstr(msd_diag_text(&d), "592F687DEA834DC1"));
	msd_diag_finish(&d);
}

Test(signature, every_byte_of_the_text_counts)
{
	const struct msd_trust t = trust_of(KEY, NULL, 0);
	char text[] = TEXT;

	for (size_t i = 0; i < sizeof(text) - 1; i++) {
		text[i] = (char)(text[i] ^ 1);
		cr_expect_eq(check(text, HASHED, &t), MSD_NOT_VERIFIED, "byte %zu", i);
		text[i] = (char)(text[i] ^ 1);
	}
}

/* What stands behind "untrusted comment: " is vouched for by nobody, as it says. */
Test(signature, every_byte_of_it_counts_but_the_untrusted_comment)
{
	const struct msd_trust t = trust_of(KEY, NULL, 0);
	const size_t from = sizeof("untrusted comment: ") - 1;
	const size_t to = sizeof(UNTRUSTED) - 2;
	char signature[] = HASHED;

	for (size_t i = 0; i < 8 * (sizeof(signature) - 1); i++) {
		const char bit = (char)(1 << i % 8);

		if (i / 8 >= from && i / 8 < to)
			continue;
		signature[i / 8] = (char)(signature[i / 8] ^ bit);
		cr_expect_eq(check(TEXT, signature, &t), MSD_NOT_VERIFIED, "bit %zu",
			     i);
		signature[i / 8] = (char)(signature[i / 8] ^ bit);
	}
}

Test(signature, every_prefix_is_refused)
{
	const struct msd_trust t = trust_of(KEY, NULL, 0);

	for (size_t n = 0; n < sizeof(HASHED) - 1; n++) {
		cr_expect_eq(check_bytes(msd_span_of(TEXT),
					 (struct msd_span){(const uint8_t *)HASHED, n},
					 &t),
			     MSD_NOT_VERIFIED, "%zu bytes", n);
	}
}

Test(signature, one_of_several_is_enough_where_one_is_wanted)
{
	const struct msd_trust t = trust_of(KEY, NULL, 1);

	cr_expect_eq(check(TEXT, OTHER HASHED, &t), MSD_OK);
	cr_expect_eq(check(TEXT, HASHED OTHER, &t), MSD_OK);
}

Test(signature, two_of_two_are_two_different_keys)
{
	const struct msd_trust t = trust_of(KEY, OTHER_KEY, 2);

	cr_expect_eq(check(TEXT, HASHED, &t), MSD_NOT_VERIFIED);
	cr_expect_eq(check(TEXT, HASHED PLAIN, &t), MSD_NOT_VERIFIED);
	cr_expect_eq(check(TEXT, HASHED OTHER, &t), MSD_OK);
}

Test(signature, a_forged_one_of_a_trusted_key_ends_it)
{
	const struct msd_trust t = trust_of(KEY, OTHER_KEY, 1);

	cr_expect_eq(check(TEXT " ", OTHER, &t), MSD_NOT_VERIFIED);
	cr_expect_eq(check(TEXT, HASHED "x\n", &t), MSD_NOT_VERIFIED);
}

Test(signature, what_it_makes_it_takes)
{
	const struct msd_trust t = trust_of(KEY, NULL, 0);
	struct msd_buf made = {0};

	cr_assert_eq(msd_signature_make(msd_span_of(TEXT), msd_span_of(SECRET),
					"digits 7", &made, NULL),
		     MSD_OK);
	cr_expect_eq(
		check_bytes(msd_span_of(TEXT), (struct msd_span){made.p, made.n}, &t),
		MSD_OK);
	msd_buf_finish(&made);
}

Test(signature, what_is_no_open_secret_key_is_refused)
{
	static const char locked[] =
		"untrusted comment: x\n"
		"RWRTY0IyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
		"AA"
		"wU2D6n1oL1lMroAlCK3om8jqLF9EWlQ0/"
		"fgyif2ivCik3yMGfkG82xNWO1qDAzShC5MkoD4e"
		"4kn2ndosDeVT/"
		"HXvjmy8Wp1oAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n";
	struct msd_buf out = {0};

	cr_expect_eq(msd_signature_make(msd_span_of(TEXT), msd_span_of(locked), "",
					&out, NULL),
		     MSD_UNSUPPORTED);
	cr_expect_eq(msd_signature_make(msd_span_of(TEXT),
					msd_span_of("untrusted comment: x\n"), "", &out,
					NULL),
		     MSD_BAD_REQUEST);
	cr_expect_eq(
		msd_signature_make(msd_span_of(TEXT), msd_span_of(""), "", &out, NULL),
		MSD_BAD_REQUEST);
}
