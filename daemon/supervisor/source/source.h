#ifndef MSD_SUPERVISOR_SOURCE_H
#define MSD_SUPERVISOR_SOURCE_H
/*
 * The source of a module, as its workers get it: one memfd with all bytes and their
 * hash. It is sealed, so that checked bytes cannot change. Bytes of any origin (an
 * upload, local files) are converted to this form.
 *
 * The functions of this header process all bytes, and may wait for a file system:
 * call them on a thread, not on the loop (source_job.h).
 */
#include <stdint.h>

#include "proto/base/bytes.h"
#include "proto/base/diag.h"
#include "store/digest.h"

/* Parts, one after the other in the memfd. */
enum msd_source_part {
	MSD_PART_MODEL, /* a library, or a framework's model */
	MSD_PART_GRAPH, /* for a graph executor, with its library */
	MSD_PART_PARAMS,
	MSD_PART_COUNT
};

struct msd_source {
	int fd; /* sealed memfd, owned; -1: none */
	uint64_t bytes;
	uint64_t part_bytes[MSD_PART_COUNT]; /* 0: no such part */
	/* List of the files that its model names and that follow it
	 * (proto/words/external_data.h), in msgpack; owned; empty: none. */
	struct msd_buf files;
	struct msd_digest sha256; /* of all bytes */
	/* Digest of its manifest, and the version in that manifest; for a source from
	 * the store, its name there. 0: no manifest, and not stored yet. */
	struct msd_digest edition;
	uint64_t version;
	bool has_name;
	struct msd_digest name; /* the name that was requested from a registry */
	/*
	 * The manifest as its author wrote it, and its signature, for the store:
	 * owned until they are stored. Empty if there is no manifest, or no signature
	 * is required.
	 */
	struct msd_buf manifest_text, signature;
};

#define MSD_SOURCE_NAME "modserd-artifact" /* name of the memfds in /proc */

/** Return the name in the store: the digest of its manifest, or that of its bytes. */
static inline const struct msd_digest *
msd_source_edition(const struct msd_source *source)
{
	return source->version > 0 ? &source->edition : &source->sha256;
}
/** Report that the memory for @bytes is not available: MSD_NO_SPACE. */
msd_err msd_source_no_space(uint64_t bytes, int error, struct msd_diag *d);
/**
 * Map @bytes of @fd writable, to fill it; NULL: out of memory. A child process does
 * not inherit the mapping: its copy would prevent sealing until its exec. Does not
 * block.
 */
void *msd_source_map(int fd, uint64_t bytes);
/**
 * Seal source->fd against all changes, and store its sizes and hash. It must not be
 * mapped writable. Errors: MSD_IO.
 */
MSD_MUST_CHECK msd_err msd_source_seal(struct msd_source *source, struct msd_diag *d);
/** The same for @bytes that the writer has hashed already. */
MSD_MUST_CHECK msd_err msd_source_seal_hashed(struct msd_source *source,
					      const struct msd_digest *sha256,
					      uint64_t bytes, struct msd_diag *d);
/**
 * Read local files into a sealed source, one path for each part; all but the first
 * may be NULL. A folder as the first is that of a SavedModel: its model and the files
 * of its variables are read; one as the parameters has shards
 * (proto/words/params_folder.h). @with: for a model, the paths of the files that it
 * names, separated by ':'; NULL: none. On failure *@ret is unchanged. Errors: MSD_IO,
 * MSD_BAD_ARTIFACT (an empty file), MSD_TOO_LARGE (over @max_bytes), MSD_NO_SPACE.
 */
MSD_MUST_CHECK msd_err msd_source_read(const char *const paths[MSD_PART_COUNT],
				       const char *with, uint64_t max_bytes,
				       struct msd_source *ret, struct msd_diag *d);
/**
 * Check the size of an artifact. Errors: MSD_BAD_REQUEST (empty), MSD_TOO_LARGE. Does
 * not block.
 */
MSD_MUST_CHECK msd_err msd_source_check_size(uint64_t bytes, uint64_t max_bytes,
					     struct msd_diag *d);
/** Free the memfd, the list and the texts. Does not block; legal more than once. */
void msd_source_finish(struct msd_source *source);

#endif
