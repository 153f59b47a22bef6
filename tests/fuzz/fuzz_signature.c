#include "store/manifest/signature.h"
#include "tests/fuzz/fuzz.h"

/* Made for tests, and of no other use. */
static const char key[] = "RWTBTYPqfWgvWRNWO1qDAzShC5MkoD4e4kn2ndosDeVT/HXvjmy8Wp1o";
static const char text[] = "{\"name\": \"digits\"}\n";

int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	const struct msd_span message = {(const uint8_t *)text, sizeof(text) - 1};
	struct msd_trust trust = {.policy = MSD_POLICY_SIGNED};
	struct msd_signers signers;
	struct msd_diag d = {0};
	msd_err err = msd_public_key_parse(
		(struct msd_span){(const uint8_t *)key, sizeof(key) - 1},
		&trust.keys[0], &d);

	trust.n_keys = 1;
	if (err == MSD_OK) {
		err = msd_signature_check(message, (struct msd_span){data, n}, &trust,
					  &signers, &d);
	}
	msd_diag_finish(&d);
	return err == MSD_OK;
}
