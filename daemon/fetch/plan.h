#ifndef MSD_FETCH_PLAN_H
#define MSD_FETCH_PLAN_H
/*
 * What is fetched after what, and whether it may be believed: steps without a network.
 *
 *   MANIFEST --came--> SIGNATURE --came, or none is wanted--> FILE --> ... (NOTHING)
 *      '--there is none--> ALONE --came--> (NOTHING)
 *
 * A signature that nobody wants here is kept for who asks this daemon for the module.
 * Wherever the edition turns out to be there already it ends, with is_had.
 */
#include "daemon/fetch/landing.h"
#include "store/manifest/verify.h"

struct msd_platform_machine;

#define MSD_PLAN_PARTS                                                                 \
	3u /* library or model, graph, params: as they lie in a source                 \
	    */

enum msd_want {
	MSD_WANT_MANIFEST,
	MSD_WANT_SIGNATURE,
	MSD_WANT_FILE,  /* of the manifest: msd_plan_file() */
	MSD_WANT_ALONE, /* the source itself, which has no manifest */
	MSD_WANT_NOTHING
};

struct msd_plan {
	/* The owner's, before it begins. */
	struct msd_order order;
	char name[MSD_MAX_NAME_BYTES + 1]; /* order.name */
	bool has_digest;                   /* what was promised */
	struct msd_digest digest;
	struct msd_buf have; /* digests in a row, of what is there already; owned */
	uint64_t max_bytes;  /* of all files */
	const struct msd_platform_machine *machine; /* borrowed */
	/* Read-only. */
	enum msd_want want;
	bool is_had;
	bool needs_devices; /* it failed, as those of the machine are not known */
	struct msd_digest edition; /* of the manifest, or of the one file */
	bool has_manifest;
	struct msd_edition_manifest manifest;
	struct msd_signers signers;
	uint64_t part_bytes[MSD_PLAN_PARTS];
	struct msd_buf text, signature; /* of the manifest; owned */
	/* Its own. */
	unsigned part; /* that is wanted */
};

/** Begin. @may_be_alone: what was promised is the source's one file, and no manifest is
 * asked for where nobody must have signed one. MSD_NOT_VERIFIED (nothing was promised,
 * and the policy is "digest"). */
MSD_MUST_CHECK msd_err msd_plan_begin(struct msd_plan *p, bool may_be_alone,
				      struct msd_diag *d);
/** The asker has a manifest and its signature of an earlier time: true, and is_had,
 * when these may be believed and are what is asked for, or needs_devices; nothing is to
 * be fetched then. */
bool msd_plan_settle(struct msd_plan *p, struct msd_span manifest,
		     struct msd_span signature, struct msd_diag *d);
/** The manifest or the signature is not to be had for the reason @d, which is taken
 * where it does not matter; errors as by msd_plan_text(), too. */
MSD_MUST_CHECK msd_err msd_plan_lacks(struct msd_plan *p, struct msd_diag *d);
/** The manifest or the signature came. Errors: those of msd_verify(), MSD_UNSUPPORTED
 * (not for this machine). */
MSD_MUST_CHECK msd_err msd_plan_text(struct msd_plan *p, const struct msd_landing *side,
				     struct msd_diag *d);
/** The file that is wanted; NULL: none of a manifest. */
const struct msd_edition_file *msd_plan_file(const struct msd_plan *p);
/** The one file will hash to @digest, its registry says. MSD_NOT_VERIFIED. */
MSD_MUST_CHECK msd_err msd_plan_announce(struct msd_plan *p,
					 const struct msd_digest *digest,
					 struct msd_diag *d);
/** The file that is wanted came, the last part of @l. MSD_NOT_VERIFIED,
 * MSD_BAD_ARTIFACT (it is empty). */
MSD_MUST_CHECK msd_err msd_plan_came(struct msd_plan *p, const struct msd_landing *l,
				     struct msd_diag *d);
/** The one file is still the one of @digest, which is there. */
void msd_plan_known(struct msd_plan *p, const struct msd_digest *digest);
void msd_plan_finish(struct msd_plan *p);

#endif
