#ifndef MSD_ARTIFACT_MLF_ARCHIVE_H
#define MSD_ARTIFACT_MLF_ARCHIVE_H
/*
 * A tar archive, plain or gzipped, in memory: nothing of it touches a file system. What
 * a model's archive has no use for is refused: links, devices, sparse files, absolute
 * paths, "..", paths that come twice, and more bytes than the limits below allow.
 */
#include "proto/bytes.h"
#include "proto/diag.h"

#define MSD_ARCHIVE_MAX_FILES 16384u
#define MSD_ARCHIVE_MAX_PATH 1024u /* bytes */
/* All files together: the absolute limit, and what an archive of a size may unpack to.
 */
#define MSD_ARCHIVE_MAX_BYTES ((uint64_t)4 << 30)
#define MSD_ARCHIVE_FREE_BYTES ((uint64_t)64 << 20) /* whatever the archive's size */
#define MSD_ARCHIVE_MAX_RATIO 64u                   /* beyond that */

struct msd_archive_file {
	char *path; /* relative, no "./" in front, printable */
	struct msd_buf data;
};

struct msd_archive {
	struct msd_archive_file *files; /* sorted by path; folders are left out */
	size_t n;
};

/**
 * Unpack @bytes (borrowed for the call). The caller owns *@ret (finish it). Errors:
 * MSD_BAD_ARTIFACT (no archive, truncated, a path or an entry as above, too much),
 * MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_archive_read(struct msd_span bytes, struct msd_archive *ret,
					struct msd_diag *d);
void msd_archive_finish(struct msd_archive *a); /* NULL and zeroed are fine */
/** The file at @path, or NULL. */
const struct msd_archive_file *msd_archive_find(const struct msd_archive *a,
						const char *path);
/** Whether @path stands below the folder @dir ("codegen/host/lib/") and ends in
 * @suffix. */
bool msd_archive_path_is(const char *path, const char *dir, const char *suffix);
/**
 * Whether @bytes are an archive whose entries are named like a Model Library Format's:
 * no promise that it can be read. At most its first MSD_ARCHIVE_FREE_BYTES are looked
 * at when it is compressed.
 */
bool msd_archive_is_model(struct msd_span bytes);
/** Whether @bytes are a package of tvmc: an archive with one of the libraries below in
 * its root. The same holds. */
bool msd_archive_is_package(struct msd_span bytes);
extern const char *const msd_package_libraries[]; /* ended by NULL */
/** Whether @bytes are an archive with an object or a C source, as `export_library`
 * writes it for others to link. The same holds. */
bool msd_archive_is_objects(struct msd_span bytes);
/** Let @see look at the path of each file that @bytes hold, until it returns false; of
 * a compressed archive at most what was said above. */
void msd_archive_scan(struct msd_span bytes, bool (*see)(void *ctx, const char *path),
		      void *ctx);
/**
 * Refuse @bytes, the file called @name, when they are a gzipped file that ends too
 * early or holds no archive, or less than one block of what is named like an archive:
 * too little for its content to tell what it was. The text names @name. Errors:
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
