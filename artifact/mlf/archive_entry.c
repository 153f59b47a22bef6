#include "artifact/mlf/archive_entry.h"

#include <archive_entry.h>
#include <string.h>

#include "artifact/mlf/archive.h"
#include "artifact/printable.h"

/* The path as stored; NULL: unreadable. */
static const char *entry_path(struct archive_entry *entry)
{
	const char *path = archive_entry_pathname_utf8(entry);

	return path != NULL ? path : archive_entry_pathname(entry);
}

/* Without the "./" in front that TVM writes. */
static const char *strip(const char *path)
{
	while (path[0] == '.' && path[1] == '/') {
		for (path += 2; path[0] == '/';)
			path++;
	}
	return strcmp(path, ".") == 0 ? path + 1 : path;
}

/* True if each part between slashes is a valid name; the last may be empty (a
 * directory). */
static bool is_inside(const char *path)
{
	for (;;) {
		size_t n = strcspn(path, "/");

		if (path[n] == '\0') {
			return !(n == 1 && path[0] == '.') &&
			       !(n == 2 && path[0] == '.' && path[1] == '.');
		}
		if (n == 0 || (n == 1 && path[0] == '.') ||
		    (n == 2 && path[0] == '.' && path[1] == '.'))
			return false;
		path += n + 1;
	}
}

const char *msd_archive_entry_path(struct archive_entry *entry)
{
	const char *path = entry_path(entry);

	return path != NULL ? strip(path) : NULL;
}

msd_err msd_archive_entry_check_path(struct archive_entry *entry, struct msd_diag *d)
{
	const char *path = entry_path(entry);
	size_t n = path != NULL ? strlen(path) : 0;
	char text[MSD_PRINTABLE_MAX];

	if (path == NULL) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "archive: an entry without a readable path");
	}
	struct msd_span s = {(const uint8_t *)path, n};
	if (n > MSD_ARCHIVE_MAX_PATH) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "archive: a path of %zu bytes; at most %u: %s", n,
				    MSD_ARCHIVE_MAX_PATH, msd_printable(s, text));
	}
	for (size_t i = 0; i < n; i++) {
		if ((unsigned char)path[i] < 0x20 || path[i] == 0x7f) {
			return msd_diag_set(d, MSD_BAD_ARTIFACT,
					    "archive: a control character in the path "
					    "%s",
					    msd_printable(s, text));
		}
	}
	if (!is_inside(strip(path))) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "archive: the path %s leads out of it",
				    msd_printable(s, text));
	}
	return MSD_OK;
}

msd_err msd_archive_entry_check_type(struct archive_entry *entry, struct msd_diag *d)
{
	const char *path = entry_path(entry);
	const char *what = NULL;
	char text[MSD_PRINTABLE_MAX];

	if (archive_entry_hardlink(entry) != NULL ||
	    archive_entry_symlink(entry) != NULL) {
		what = "a link";
	} else if (archive_entry_filetype(entry) != AE_IFREG &&
		   archive_entry_filetype(entry) != AE_IFDIR) {
		what = "neither a file nor a folder";
	} else if (archive_entry_sparse_count(entry) > 0) {
		what = "a sparse file";
	}
	if (what == NULL)
		return MSD_OK;
	return msd_diag_set(d, MSD_BAD_ARTIFACT,
			    "archive: %s is %s; expected plain files",
			    msd_printable(msd_span_of(path), text), what);
}
