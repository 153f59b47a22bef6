#ifndef MSD_PACK_SPLIT_PARAMS_H
#define MSD_PACK_SPLIT_PARAMS_H
/*
 * Parameters kept beside a library instead of inside it. A graph keeps none; a constant
 * of a Relay program becomes one that is bound later, as TVM has it since 0.9; a
 * constant of a Relax program becomes a text that names it.
 */
#include "artifact/tree/tree.h"
#include "pack/param_store.h"

/* What constants are called. */
enum msd_split_names {
	/* For their contents: builds that number them differently share them all the
	 * same, and equal ones are kept once. */
	MSD_SPLIT_BY_CONTENT,
	/* For their places, "const_4", as TVM does, whose load_late_bound_consts takes
	 * each name once and no other file than this library's. TVM has no such form
	 * for Relax programs: they keep their constants. */
	MSD_SPLIT_AS_TVM
};

/**
 * Move the parameters of @tree's modules to @store. Payloads that change are made in
 * @payloads, one for each module and zeroed, which the caller finishes after the tree;
 * @store borrows from the old ones. Modules of other kinds, and Relay programs of 0.8,
 * stay as they are. Errors: those of msd_param_store_add(); MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_split_params(struct msd_tree *tree, enum msd_era era,
					enum msd_split_names names,
					struct msd_param_store *store,
					struct msd_buf *payloads, struct msd_diag *d);

#endif
