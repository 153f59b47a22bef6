#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/blob.h"
#include "store/folder.h"

/* State of the walk over all blobs. */
struct walk {
	int folder; /* directory of the first two digits */
	msd_err (*each)(void *ctx, const struct msd_digest *digest, uint64_t bytes,
			struct msd_diag *d);
	void *ctx;
	int blobs;
};

static msd_err walk_file(void *ctx, const char *name, struct msd_diag *d)
{
	const struct walk *walk = ctx;
	struct msd_span text = msd_span_of(name);
	struct msd_digest digest;
	struct stat st;

	if (!msd_digest_parse(text, &digest))
		return MSD_OK;
	if (fstatat(walk->folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT ? MSD_OK : msd_folder_fault(name, "stat", d);
	return walk->each(walk->ctx, &digest, (uint64_t)st.st_size, d);
}

static msd_err walk_folder(void *ctx, const char *name, struct msd_diag *d)
{
	struct walk *walk = ctx;

	if (strlen(name) != 2)
		return MSD_OK;
	msd_err err = msd_folder_open(walk->blobs, name, false, &walk->folder, d);
	if (err != MSD_OK)
		return err;
	err = msd_folder_each(walk->folder, name, walk_file, walk, d);
	(void)close(walk->folder);
	return err;
}

msd_err msd_blob_each(const struct msd_store *s,
		      msd_err (*each)(void *ctx, const struct msd_digest *digest,
				      uint64_t bytes, struct msd_diag *d),
		      void *ctx, struct msd_diag *d)
{
	struct walk walk = {.each = each, .ctx = ctx, .blobs = s->blobs};

	return msd_folder_each(s->blobs, "sha256", walk_folder, &walk, d);
}
