#ifndef MSD_FETCH_TAR_READER_H
#define MSD_FETCH_TAR_READER_H
/*
 * Read the regular files of an untrusted tar stream, plain or gzipped, from a file.
 * Nothing is written to a file system. Entries of all other types, and files whose
 * path is absolute, has "..", or is not printable, are skipped. The unpacked bytes are
 * limited.
 */
#include <zlib.h>

#include "proto/base/bytes.h"
#include "proto/base/diag.h"

#define MSD_TAR_PATH 1024u                 /* with its NUL; longer paths are skipped */
#define MSD_TAR_MAX_ENTRIES (256u * 1024u) /* headers, of all types */
#define MSD_TAR_MIN_LIMIT ((uint64_t)64 << 20) /* bytes that are always unpacked */
#define MSD_TAR_MAX_RATIO 64u                  /* unpacked bytes for each packed byte */

struct msd_tar_reader {
	/* The current file. */
	char path[MSD_TAR_PATH];
	uint64_t bytes; /* its size, by its header */
	/* Private. */
	int fd; /* borrowed */
	uint64_t at, end;
	uint64_t left;     /* unread bytes of the entry */
	uint64_t padding;  /* after them */
	uint64_t unpacked; /* bytes that may still be unpacked */
	uint32_t n_entries;
	bool is_gzip, is_ended;
	z_stream inflater;
	uint8_t in[16384];
};

/** True if @head, at least the first 512 bytes of a file, begins a tar or gzip file. */
bool msd_tar_is(struct msd_span head);
/**
 * Start to read the file in the first @bytes of @fd. Close in every case. Errors:
 * MSD_NOMEM, MSD_IO.
 */
MSD_MUST_CHECK msd_err msd_tar_open(struct msd_tar_reader *t, int fd, uint64_t bytes,
				    struct msd_diag *d);
/**
 * Advance to the next regular file; *@ret_more is false at the end. Errors:
 * MSD_BAD_ARTIFACT (damaged, truncated, too many entries or bytes), MSD_IO.
 */
MSD_MUST_CHECK msd_err msd_tar_next(struct msd_tar_reader *t, bool *ret_more,
				    struct msd_diag *d);
/** Read up to @n bytes of the current file; *@ret_n is 0 at its end. Errors: as above.
 */
MSD_MUST_CHECK msd_err msd_tar_read(struct msd_tar_reader *t, void *to, size_t n,
				    size_t *ret_n, struct msd_diag *d);
void msd_tar_close(struct msd_tar_reader *t);

#endif
