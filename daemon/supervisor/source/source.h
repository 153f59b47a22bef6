#ifndef MSD_SUPERVISOR_SOURCE_H
#define MSD_SUPERVISOR_SOURCE_H
/*
 * What a module is loaded from, as its workers get it: one memfd with all bytes,
 * sealed, so that nobody changes what was checked, and their hash. Wherever the bytes
 * come from (an upload, files of this machine), they become one of these.
 *
 * The functions of this header work through all bytes, and may wait for a file system:
 * they are for a thread beside the loop (source_job.h).
 */
#include <stdint.h>

#include "proto/bytes.h"
#include "proto/diag.h"
#include "store/digest.h"

/* One behind the other in the memfd. */
enum msd_source_part {
	MSD_PART_MODEL, /* a library, or a framework's model */
	MSD_PART_GRAPH, /* of a graph executor, beside its library */
	MSD_PART_PARAMS,
	MSD_PART_COUNT
};

struct msd_source {
	int fd; /* sealed memfd, owned; -1: none */
	uint64_t bytes;
	uint64_t part_bytes[MSD_PART_COUNT]; /* 0: it has no such part */
	/* Of the files that its model names, behind that (proto/beside.h): their list,
	 * in msgpack, owned; empty: there are none. */
	struct msd_buf files;
	struct msd_digest sha256; /* of all bytes */
	/* Of its manifest, and which version that says it is; of what the store has
	 * kept, what it calls it by. 0: it has no manifest, and is not kept yet. */
	struct msd_digest edition;
	uint64_t version;
	bool has_name;
	struct msd_digest name; /* by which a registry was asked for it */
	/* The manifest as its maker wrote it and what was signed of it, for the store:
	 * owned until they are kept; empty where there is none, or nobody had to sign.
	 */
	struct msd_buf manifest_text, signature;
};

#define MSD_SOURCE_NAME "modserd-artifact" /* of the memfds, in /proc */

/** What the store calls it by: its manifest's digest, or that of its bytes. */
static inline const struct msd_digest *
msd_source_edition(const struct msd_source *source)
{
	return source->version > 0 ? &source->edition : &source->sha256;
}
/** What is said when the memory for one of @bytes is not there: MSD_NO_SPACE. */
msd_err msd_source_no_space(uint64_t bytes, int error, struct msd_diag *d);
/**
 * The writable mapping of @bytes of @fd through which it is filled; NULL: out of
 * memory. A process that is started meanwhile does not inherit it: its copy would keep
 * the memfd from being sealed until it runs its own program. Does not block.
 */
void *msd_source_map(int fd, uint64_t bytes);
/**
 * No byte of source->fd can change any more; its sizes and hash are written. No mapping
 * of it may be writable. Errors: MSD_IO.
 */
MSD_MUST_CHECK msd_err msd_source_seal(struct msd_source *source, struct msd_diag *d);
/** The same of @bytes that were hashed on their way into it, by who wrote them. */
MSD_MUST_CHECK msd_err msd_source_seal_hashed(struct msd_source *source,
					      const struct msd_digest *sha256,
					      uint64_t bytes, struct msd_diag *d);
/**
 * A sealed one of local files, a path a part; all but the first may be NULL. @with: of
 * a model, the files that it names, with ':' between their paths; NULL: none. On
 * failure *@ret is unchanged. Errors: MSD_IO, MSD_BAD_ARTIFACT (an empty file),
 * MSD_TOO_LARGE (over @max_bytes), MSD_NO_SPACE.
 */
MSD_MUST_CHECK msd_err msd_source_read(const char *const paths[MSD_PART_COUNT],
				       const char *with, uint64_t max_bytes,
				       struct msd_source *ret, struct msd_diag *d);
/** An artifact of so many bytes is none, or over the limit: MSD_BAD_REQUEST,
 * MSD_TOO_LARGE. Does not block. */
MSD_MUST_CHECK msd_err msd_source_check_size(uint64_t bytes, uint64_t max_bytes,
					     struct msd_diag *d);
/** Give the memfd, the list and the texts back. Does not block; legal more than once.
 */
void msd_source_finish(struct msd_source *source);

#endif
