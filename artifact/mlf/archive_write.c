#include <archive.h>
#include <archive_entry.h>
#include <string.h>

#include "artifact/mlf/archive.h"

static la_ssize_t put_bytes(struct archive *a, void *ctx, const void *p, size_t n)
{
	struct msd_buf *out = ctx;

	(void)a;
	msd_buf_put(out, p, n);
	return out->bad ? -1 : (la_ssize_t)n;
}

static bool put_entry(struct archive *a, struct archive_entry *entry,
		      const struct msd_archive_entry *e, int64_t mtime)
{
	size_t n = strlen(e->path);
	bool is_dir = n > 0 && e->path[n - 1] == '/';

	(void)archive_entry_clear(entry);
	archive_entry_set_pathname(entry, e->path);
	archive_entry_set_filetype(entry, is_dir ? AE_IFDIR : AE_IFREG);
	archive_entry_set_perm(entry, is_dir ? 0755 : 0644);
	archive_entry_set_uname(entry, "root");
	archive_entry_set_gname(entry, "root");
	archive_entry_set_mtime(entry, (time_t)mtime, 0);
	archive_entry_set_size(entry, is_dir ? 0 : (la_int64_t)e->data.n);
	if (archive_write_header(a, entry) != ARCHIVE_OK)
		return false;
	return is_dir ||
	       archive_write_data(a, e->data.p, e->data.n) == (la_ssize_t)e->data.n;
}

static bool put_entries(struct archive *a, const struct msd_archive_entry *entries,
			size_t n, int64_t mtime)
{
	struct archive_entry *entry = archive_entry_new();
	bool ok = entry != NULL;

	for (size_t i = 0; i < n && ok; i++)
		ok = put_entry(a, entry, &entries[i], mtime);
	archive_entry_free(entry);
	return ok;
}

msd_err msd_archive_write(const struct msd_archive_entry *entries, size_t n,
			  int64_t mtime, struct msd_buf *out, struct msd_diag *d)
{
	struct archive *a = archive_write_new();
	bool ok = a != NULL;
	msd_err err = MSD_OK;

	/* ustar, with pax headers only if a path or a size needs them */
	ok = ok && archive_write_set_format_pax_restricted(a) == ARCHIVE_OK &&
	     archive_write_open(a, out, NULL, put_bytes, NULL) == ARCHIVE_OK &&
	     put_entries(a, entries, n, mtime) && archive_write_close(a) == ARCHIVE_OK;
	if (!ok && (a == NULL || out->bad || archive_error_string(a) == NULL)) {
		err = msd_diag_set(d, MSD_NOMEM, "archive: out of memory");
	} else if (!ok) {
		err = msd_diag_set(d, MSD_BAD_ARGUMENT, "archive: %s",
				   archive_error_string(a));
	}
	if (a != NULL)
		archive_write_free(a);
	return err;
}
