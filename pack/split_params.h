#ifndef MSD_PACK_SPLIT_PARAMS_H
#define MSD_PACK_SPLIT_PARAMS_H
/*
 * Move parameters from a library to a separate file. A graph keeps none; a constant
 * of a Relay program becomes a late-bound one, as in TVM since 0.9; a constant of a
 * Relax program becomes a text with its name.
 */
#include "artifact/tree/tree.h"
#include "pack/param_store.h"

/* Naming of constants. */
enum msd_split_names {
	/* By content: builds with different numbering share them, and equal ones are
	 * stored once. */
	MSD_SPLIT_BY_CONTENT,
	/*
	 * By position, "const_4", as TVM does, whose load_late_bound_consts takes
	 * each name once and only this library's file. TVM has no such form for Relax
	 * programs: they keep their constants.
	 */
	MSD_SPLIT_AS_TVM
};

/**
 * Move the parameters of @tree's modules to @store. Changed payloads are written to
 * @payloads, one for each module and zeroed before, which the caller finishes after
 * the tree; @store borrows from the old ones. Modules of other kinds, and Relay
 * programs of 0.8, stay unchanged. Errors: those of msd_param_store_add(); MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_split_params(struct msd_tree *tree, enum msd_era era,
					enum msd_split_names names,
					struct msd_param_store *store,
					struct msd_buf *payloads, struct msd_diag *d);

#endif
