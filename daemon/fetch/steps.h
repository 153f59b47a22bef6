#ifndef MSD_FETCH_STEPS_H
#define MSD_FETCH_STEPS_H
/*
 * Order and verification of the files of a fetch, without network access.
 *
 *   MANIFEST --came--> SIGNATURE --came, or not required--> FILE --> ... (NOTHING)
 *      '--there is none--> ALONE --came--> (NOTHING)
 *
 * A signature that is not required here is kept for clients that pull the module from
 * this daemon. If the edition is already present, the plan ends at once with is_had.
 */
#include "daemon/fetch/transfer/download_buffer.h"
#include "store/manifest/verify.h"
#include "store/trust.h"

struct msd_platform_machine;

#define MSD_FETCH_STEPS_PARTS                                                          \
	3u /* library or model, graph, params: in their order in a source */

enum msd_want {
	MSD_WANT_MANIFEST,
	MSD_WANT_SIGNATURE,
	MSD_WANT_FILE,  /* a file of the manifest: msd_fetch_steps_file() */
	MSD_WANT_ALONE, /* the source itself, which has no manifest */
	MSD_WANT_NOTHING
};

struct msd_fetch_steps {
	/* Set by the owner before begin. */
	struct msd_order order;
	char name[MSD_MAX_NAME_BYTES + 1]; /* order.name */
	bool has_digest;                   /* `digest` is the requested digest */
	struct msd_digest digest;
	struct msd_buf
		have; /* concatenated digests of editions already present; owned */
	uint64_t max_bytes;                         /* of all files */
	const struct msd_platform_machine *machine; /* borrowed */
	/* Read-only. */
	enum msd_want want;
	bool is_had;
	bool needs_devices; /* failed because the machine's devices are not known yet */
	struct msd_digest edition; /* digest: manifest, or single file */
	bool has_manifest;
	struct msd_edition_manifest manifest;
	struct msd_signers signers;
	uint64_t part_bytes[MSD_FETCH_STEPS_PARTS];
	struct msd_buf text, signature; /* text of the manifest; owned */
	/* Private. */
	unsigned part; /* index of the wanted part */
};

/**
 * Start. @may_be_alone: the requested digest is of the source's only file; then no
 * manifest is requested unless a signature is required. MSD_NOT_VERIFIED (no digest
 * was requested, and the policy is "digest").
 */
MSD_MUST_CHECK msd_err msd_fetch_steps_begin(struct msd_fetch_steps *p,
					     bool may_be_alone, struct msd_diag *d);
/**
 * Check the manifest and signature that the requester already has. Returns true if
 * nothing is to be downloaded: with is_had if they are trusted and match the request,
 * or with needs_devices.
 */
bool msd_fetch_steps_settle(struct msd_fetch_steps *p, struct msd_span manifest,
			    struct msd_span signature, struct msd_diag *d);
/**
 * The manifest or the signature is not available, for the reason @d. If that does not
 * matter, @d is finished. Errors also as by msd_fetch_steps_text().
 */
MSD_MUST_CHECK msd_err msd_fetch_steps_lacks(struct msd_fetch_steps *p,
					     struct msd_diag *d);
/**
 * The manifest or the signature arrived. Errors: those of msd_verify(),
 * MSD_UNSUPPORTED (not for this machine).
 */
MSD_MUST_CHECK msd_err msd_fetch_steps_text(struct msd_fetch_steps *p,
					    const struct msd_download_buffer *side,
					    struct msd_diag *d);
/** The wanted file of the manifest; NULL if none. */
const struct msd_edition_file *msd_fetch_steps_file(const struct msd_fetch_steps *p);
/**
 * The registry announces @digest for the single file, or for an archive with it.
 * MSD_NOT_VERIFIED.
 */
MSD_MUST_CHECK msd_err msd_fetch_steps_announce(struct msd_fetch_steps *p,
						const struct msd_digest *digest,
						bool may_be_archive,
						struct msd_diag *d);
/**
 * The wanted file arrived; it is the last part of @l. MSD_NOT_VERIFIED,
 * MSD_BAD_ARTIFACT (it is empty).
 */
MSD_MUST_CHECK msd_err msd_fetch_steps_came(struct msd_fetch_steps *p,
					    const struct msd_download_buffer *l,
					    struct msd_diag *d);
/** The single file still has the digest @digest, which is already present. */
void msd_fetch_steps_known(struct msd_fetch_steps *p, const struct msd_digest *digest);
void msd_fetch_steps_finish(struct msd_fetch_steps *p);
/**
 * Return the errors of a pull of @uri that need no network. @insecure allows plain
 * http to other machines. MSD_BAD_REQUEST, MSD_REFUSED, MSD_NOT_VERIFIED (the policy
 * is "digest", and @uri has no digest), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_source_check(const char *uri, enum msd_policy policy,
					bool insecure, struct msd_diag *d);

#endif
