#include "client/cli/model/split.h"

#include <stdlib.h>

#include "client/cli/values/file.h"

static msd_err write_store(const struct msd_param_store *store, const char *path,
			   struct msd_diag *d)
{
	struct msd_buf out = {0};

	if (store->n == store->n_given && store->n > 0)
		return MSD_OK;
	msd_err err = msd_param_store_write(store, &out, d);
	if (err == MSD_OK)
		err = msd_file_replace(path, (struct msd_span){out.p, out.n}, d);
	msd_buf_finish(&out);
	return err;
}

static msd_err read_given(const char *path, struct msd_split *s, struct msd_diag *d)
{
	struct msd_diag absent = {0};
	msd_err err = msd_file_read(path, &s->file, &absent);

	if (err != MSD_OK && err != MSD_NOT_FOUND)
		(void)msd_diag_set(d, err, "%s", msd_diag_text(&absent));
	msd_diag_finish(&absent);
	return err == MSD_NOT_FOUND ? MSD_OK : err;
}

/* Fail if no module was changed, because a file without parameters would be
 * confusing. */
static msd_err expect_moved(const struct msd_split *s, enum msd_split_names names,
			    struct msd_diag *d)
{
	for (size_t i = 0; i < s->n_payloads; i++) {
		if (s->payloads[i].n > 0)
			return MSD_OK;
	}
	return msd_diag_set(d, MSD_UNSUPPORTED,
			    "none of its modules keeps parameters that can move to a "
			    "file%s",
			    names == MSD_SPLIT_AS_TVM ? " by TVM's names" : "");
}

msd_err msd_split_to_file(struct msd_tree *tree, enum msd_era era,
			  enum msd_split_names names, const char *path,
			  struct msd_split *ret, struct msd_diag *d)
{
	msd_err err = read_given(path, ret, d);

	if (err != MSD_OK)
		return err;
	err = msd_param_store_open((struct msd_span){ret->file.p, ret->file.n},
				   &ret->store, d);
	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "%s", path);
	if (names == MSD_SPLIT_AS_TVM && ret->store.n_given > 0) {
		return msd_diag_set(
			d, MSD_BAD_REQUEST,
			"%s: the file contains parameters already, and TVM rejects a "
			"file with parameters of another library: name a new file",
			path);
	}
	ret->payloads = calloc(tree->n_modules + (size_t)1, sizeof(*ret->payloads));
	if (ret->payloads == NULL)
		return msd_diag_no_memory(d);
	ret->n_payloads = tree->n_modules;
	err = msd_split_params(tree, era, names, &ret->store, ret->payloads, d);
	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "%s", path);
	err = expect_moved(ret, names, d);
	return err == MSD_OK ? write_store(&ret->store, path, d) : err;
}

void msd_split_finish(struct msd_split *s)
{
	for (size_t i = 0; i < s->n_payloads; i++)
		msd_buf_finish(&s->payloads[i]);
	free(s->payloads);
	msd_param_store_finish(&s->store);
	msd_buf_finish(&s->file);
}
