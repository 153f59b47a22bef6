#ifndef MSD_STORE_VERIFY_H
#define MSD_STORE_VERIFY_H
/*
 * Trust check of a manifest. If signatures are required, they are checked over its
 * bytes before the parser reads them. Then the manifest must be for the requested
 * module, not older than its signers' earlier versions, and not expired.
 */
#include "store/manifest/manifest.h"
#include "store/manifest/signature.h"

/* Highest version that a key has signed for the module: lower ones are refused. */
struct msd_floor {
	struct msd_key_id id;
	uint64_t version;
};

struct msd_order {
	const char *name; /* expected module; NULL or "" means any */
	struct msd_trust trust;
	struct msd_floor floors[MSD_TRUST_KEYS];
	uint32_t n_floors;
	uint64_t now_s; /* not later than the real time: msd_trusted_clock() */
};

/**
 * Parse @text if it is trusted. @signatures is used only with the policy "signed".
 * Finish *ret with msd_edition_manifest_finish(), in every case. Errors:
 * MSD_NOT_VERIFIED, those of msd_edition_manifest_parse().
 */
MSD_MUST_CHECK msd_err msd_verify(const struct msd_order *order, struct msd_span text,
				  struct msd_span signatures,
				  struct msd_edition_manifest *ret,
				  struct msd_signers *ret_signers, struct msd_diag *d);

#endif
