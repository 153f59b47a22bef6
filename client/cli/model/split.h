#ifndef MSD_CLI_SPLIT_H
#define MSD_CLI_SPLIT_H
/* --split-params: moves a tree's parameters to a file that several builds of a model
 * share. */
#include "pack/split_params.h"

/* Storage of the tree's new payloads and of the file's bytes. */
struct msd_split {
	struct msd_buf file;
	struct msd_param_store store;
	struct msd_buf *payloads; /* one for each module */
	size_t n_payloads;
};

/**
 * Move @tree's parameters to the file @path. If the file exists, its parameters stay
 * and missing ones are appended. Finish *@ret, which starts zeroed, after the tree.
 * Errors: those of msd_split_params() and of files.
 */
MSD_MUST_CHECK msd_err msd_split_to_file(struct msd_tree *tree, enum msd_era era,
					 enum msd_split_names names, const char *path,
					 struct msd_split *ret, struct msd_diag *d);
void msd_split_finish(struct msd_split *s);

#endif
