#ifndef MSD_ARTIFACT_MLF_ARCHIVE_H
#define MSD_ARTIFACT_MLF_ARCHIVE_H
/*
 * A tar archive, plain or gzipped, in memory: nothing is written to a file system.
 * Entries that a model's archive does not need are rejected: links, devices, sparse
 * files, absolute paths, "..", duplicate paths, and more bytes than the limits below.
 */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

#define MSD_ARCHIVE_MAX_FILES 16384u
#define MSD_ARCHIVE_MAX_PATH 1024u /* bytes */
/* Total of all files: the absolute limit, and the limit relative to the archive's
 * size. */
#define MSD_ARCHIVE_MAX_BYTES ((uint64_t)4 << 30)
#define MSD_ARCHIVE_FREE_BYTES ((uint64_t)64 << 20) /* allowed for any archive size */
#define MSD_ARCHIVE_MAX_RATIO 64u                   /* beyond that */

struct msd_archive_file {
	char *path; /* relative, no "./" in front, printable */
	struct msd_buf data;
};

struct msd_archive {
	struct msd_archive_file *files; /* sorted by path; without directories */
	size_t n;
};

/**
 * Unpack @bytes (borrowed for the call). The caller owns *@ret (finish it). Errors:
 * MSD_BAD_ARTIFACT (no archive, truncated, a path or an entry as above, too much),
 * MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_archive_read(struct msd_span bytes, struct msd_archive *ret,
					struct msd_diag *d);
void msd_archive_finish(struct msd_archive *a); /* NULL and zeroed are allowed */
/** The file at @path, or NULL. */
const struct msd_archive_file *msd_archive_find(const struct msd_archive *a,
						const char *path);
/**
 * True if @path is below the directory @dir ("codegen/host/lib/") and ends in
 * @suffix.
 */
bool msd_archive_path_is(const char *path, const char *dir, const char *suffix);
/**
 * True if @bytes are an archive with entry names of a Model Library Format; it may
 * still be unreadable. A compressed archive is read up to its first
 * MSD_ARCHIVE_FREE_BYTES.
 */
bool msd_archive_is_model(struct msd_span bytes);
/**
 * True if @bytes are a package of tvmc: an archive with one of the libraries below in
 * its root. The same limits apply.
 */
bool msd_archive_is_package(struct msd_span bytes);
extern const char *const msd_package_libraries[]; /* ended by NULL */
/**
 * True if @bytes are an archive with an object or a C source, as `export_library`
 * writes it for linking. The same limits apply.
 */
bool msd_archive_is_objects(struct msd_span bytes);
/**
 * Call @see with the path of each file in @bytes until it returns false; a compressed
 * archive is read up to the limit above.
 */
void msd_archive_scan(struct msd_span bytes, bool (*see)(void *ctx, const char *path),
		      void *ctx);
/**
 * Reject @bytes, the file called @name, if they are a gzipped file that is truncated
 * or contains no archive. Also reject less than one block of a file with an archive's
 * name: too little to detect its type. The text names @name. Errors:
 * MSD_BAD_ARTIFACT.
 */
MSD_MUST_CHECK msd_err msd_archive_check_whole(const char *name, struct msd_span bytes,
					       struct msd_diag *d);

/* One entry to write: a folder when @path ends in '/'. */
struct msd_archive_entry {
	const char *path;
	struct msd_span data;
};

/** Append a tar archive of @n entries in their order, each owned by root and of the
 * time @mtime (seconds since 1970). Errors: MSD_NOMEM, MSD_BAD_ARGUMENT (a path that no
 * tar holds). */
MSD_MUST_CHECK msd_err msd_archive_write(const struct msd_archive_entry *entries,
					 size_t n, int64_t mtime, struct msd_buf *out,
					 struct msd_diag *d);

#endif
