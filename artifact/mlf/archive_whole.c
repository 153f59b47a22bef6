/* Detect a truncated archive by its name and the end mark of its compression. */
#include <archive.h>
#include <archive_entry.h>
#include <elf.h>
#include <string.h>

#include "artifact/mlf/archive.h"

#define TAR_BLOCK 512u
#define STEP_BYTES ((size_t)16 * 1024)

static bool is_named_archive(const char *name)
{
	return msd_archive_path_is(name, "", ".tar") ||
	       msd_archive_path_is(name, "", ".tar.gz") ||
	       msd_archive_path_is(name, "", ".tgz");
}

static bool is_gzip(struct msd_span bytes)
{
	return bytes.n >= 2 && bytes.p[0] == 0x1f && bytes.p[1] == 0x8b;
}

static struct archive *open_gzip(struct msd_span bytes)
{
	struct archive *a = archive_read_new();
	struct archive_entry *entry;

	if (a != NULL && archive_read_support_filter_gzip(a) == ARCHIVE_OK &&
	    archive_read_support_format_raw(a) == ARCHIVE_OK &&
	    archive_read_open_memory(a, bytes.p, bytes.n) == ARCHIVE_OK &&
	    archive_read_next_header(a, &entry) == ARCHIVE_OK)
		return a;
	archive_read_free(a);
	return NULL;
}

/* Files above the limit are left to the reader. */
static bool is_whole_gzip(struct msd_span bytes)
{
	uint8_t step[STEP_BYTES];
	struct archive *a = open_gzip(bytes);
	la_ssize_t n = 1;
	bool is_gzip_inside = false;

	if (a == NULL)
		return false;
	for (uint64_t seen = 0; n > 0 && seen < MSD_ARCHIVE_MAX_BYTES;
	     seen += (uint64_t)n)
		n = archive_read_data(a, step, sizeof(step));
	is_gzip_inside = archive_filter_count(a) > 1;
	archive_read_free(a);
	return n >= 0 && is_gzip_inside;
}

static bool see_one(void *ctx, const char *path)
{
	(void)path;
	*(bool *)ctx = true;
	return false;
}

/* The first tar header has its own checksum; gzip's checksum is not verified here. */
static bool holds_files(struct msd_span bytes)
{
	bool has_one = false;

	msd_archive_scan(bytes, see_one, &has_one);
	return has_one;
}

msd_err msd_archive_check_whole(const char *name, struct msd_span bytes,
				struct msd_diag *d)
{
	const bool is_elf = bytes.n >= SELFMAG && memcmp(bytes.p, ELFMAG, SELFMAG) == 0;

	if (is_gzip(bytes) && !is_whole_gzip(bytes)) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "%s: a gzipped archive that is damaged or cut off: "
				    "its %zu bytes end before its data does",
				    name, bytes.n);
	}
	if (is_gzip(bytes) && !holds_files(bytes)) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "%s: a gzipped file that is damaged, or holds no "
				    "archive",
				    name);
	}
	if (bytes.n > 0 && bytes.n < TAR_BLOCK && !is_gzip(bytes) && !is_elf &&
	    is_named_archive(name)) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "%s: a tar archive that is cut off: its %zu bytes "
				    "are not even one block",
				    name, bytes.n);
	}
	return MSD_OK;
}
