#ifndef MSD_STORE_VERIFY_H
#define MSD_STORE_VERIFY_H
/*
 * Whether a manifest may be believed. Where signatures are wanted they are checked over
 * its bytes before anything reads them; then it must be of the module that is asked
 * for, not older than what its signers have signed before, and not expired.
 */
#include "store/manifest/manifest.h"
#include "store/manifest/signature.h"

/* What a key has signed for the module: nothing below is taken again. */
struct msd_floor {
	struct msd_key_id id;
	uint64_t version;
};

struct msd_order {
	const char *name; /* of the module; NULL or "": of any */
	struct msd_trust trust;
	struct msd_floor floors[MSD_TRUST_KEYS];
	uint32_t n_floors;
	uint64_t now_s; /* not later than the real time: msd_known_time() */
};

/**
 * Read @text if it may be believed. @signatures is looked at under the policy "signed"
 * alone. Finish *ret with msd_edition_manifest_finish(), in every case. Errors:
 * MSD_NOT_VERIFIED, those of msd_edition_manifest_parse().
 */
MSD_MUST_CHECK msd_err msd_verify(const struct msd_order *order, struct msd_span text,
				  struct msd_span signatures,
				  struct msd_edition_manifest *ret,
				  struct msd_signers *ret_signers, struct msd_diag *d);

#endif
