#ifndef MSD_STORE_MANIFEST_H
#define MSD_STORE_MANIFEST_H
/*
 * The manifest of a module, written by its maker: a JSON text next to its files,
 * which may be signed (signature.h).
 *
 *   {"name": "digits", "version": 7, "created": "2026-11-22T10:00:00Z",
 *    "expires": "2027-11-22T10:00:00Z",
 *    "platform": {"arch": "amd64", "device": "cuda", "capability": "sm_90"},
 *    "files": [{"path": "digits.so", "sha256": "...", "size": 8240,
 *               "role": "library"}], "tests": [...], "warmup": 3}
 *
 * expires, device, capability, tests and warmup are optional. A path is a file name
 * in the manifest's own directory. Unknown keys are ignored, duplicate keys are
 * refused. The text is small, flat and has few values; this is checked before any
 * allocation.
 */
#include "proto/limits.h"
#include "store/manifest/vector.h"
#include "store/record.h"

#define MSD_MANIFEST_BYTES (1u << 20) /* maximum size of its text */
#define MSD_MANIFEST_DEPTH 8u         /* maximum nesting of brackets */
#define MSD_MANIFEST_VALUES (256u * 1024u)
#define MSD_MANIFEST_WORD 64u /* size of a platform field */
#define MSD_MANIFEST_WARMUP 1000u

struct msd_edition_manifest {
	char name[MSD_MAX_NAME_BYTES + 1];
	uint64_t version;
	uint64_t created_s, expires_s; /* since the epoch; 0: it does not expire */
	char arch[MSD_MANIFEST_WORD];  /* as in registries: "amd64" */
	char device[MSD_MANIFEST_WORD],
		capability[MSD_MANIFEST_WORD]; /* "" means any */
	struct msd_edition_file files[MSD_EDITION_FILES];
	uint32_t n_files;
	struct msd_vectors tests;
	uint32_t warmup;
};

/**
 * Parse @text; finish with msd_edition_manifest_finish(), also after a failure.
 * Errors: MSD_BAD_ARTIFACT (naming the fault and its place), MSD_TOO_LARGE,
 * MSD_UNSUPPORTED (an archive that needs a compiler), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_edition_manifest_parse(struct msd_span text,
						  struct msd_edition_manifest *ret,
						  struct msd_diag *d);
void msd_edition_manifest_finish(struct msd_edition_manifest *m);
/** The only file of @role; NULL if none. */
const struct msd_edition_file *
msd_edition_manifest_file(const struct msd_edition_manifest *m, enum msd_role role);
/** Append the text of a manifest without tests. */
void msd_edition_manifest_write(const struct msd_edition_manifest *m,
				struct msd_buf *out);

#endif
