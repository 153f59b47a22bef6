#ifndef MSD_STORE_MANIFEST_H
#define MSD_STORE_MANIFEST_H
/*
 * What a module consists of, as its maker says it: a JSON text that lies beside its
 * files, and that a signature may vouch for (signature.h).
 *
 *   {"name": "digits", "version": 7, "created": "2026-11-22T10:00:00Z",
 *    "expires": "2027-11-22T10:00:00Z",
 *    "platform": {"arch": "amd64", "device": "cuda", "capability": "sm_90"},
 *    "files": [{"path": "digits.so", "sha256": "...", "size": 8240, "role":
 * "library"}], "tests": [...], "warmup": 3}
 *
 * expires, device, capability, tests and warmup may be absent. A path is a name in the
 * manifest's own folder. A key that is not known is passed over, one that comes twice
 * is refused. The text is small, flat and of few values: that is looked at before
 * anything is allocated for it.
 */
#include "proto/limits.h"
#include "store/manifest/vector.h"
#include "store/record.h"

#define MSD_MANIFEST_BYTES (1u << 20) /* of its text */
#define MSD_MANIFEST_DEPTH 8u         /* brackets in each other */
#define MSD_MANIFEST_VALUES (256u * 1024u)
#define MSD_MANIFEST_WORD 64u /* bytes of a word of its platform */
#define MSD_MANIFEST_WARMUP 1000u

struct msd_edition_manifest {
	char name[MSD_MAX_NAME_BYTES + 1];
	uint64_t version;
	uint64_t created_s, expires_s; /* since the epoch; 0: it does not expire */
	char arch[MSD_MANIFEST_WORD];  /* as registries have it: "amd64" */
	char device[MSD_MANIFEST_WORD], capability[MSD_MANIFEST_WORD]; /* "": any */
	struct msd_edition_file files[MSD_EDITION_FILES];
	uint32_t n_files;
	struct msd_vectors tests;
	uint32_t warmup;
};

/**
 * Read @text; finish with msd_edition_manifest_finish(), after a failure too. Errors:
 * MSD_BAD_ARTIFACT (naming what is wrong, and where), MSD_TOO_LARGE, MSD_UNSUPPORTED
 * (an archive that only a compiler makes a library of), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_edition_manifest_parse(struct msd_span text,
						  struct msd_edition_manifest *ret,
						  struct msd_diag *d);
void msd_edition_manifest_finish(struct msd_edition_manifest *m);
/** The one file of @role; NULL: there is none. */
const struct msd_edition_file *
msd_edition_manifest_file(const struct msd_edition_manifest *m, enum msd_role role);
/** Append the text of a manifest without tests. */
void msd_edition_manifest_write(const struct msd_edition_manifest *m,
				struct msd_buf *out);

#endif
