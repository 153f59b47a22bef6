#ifndef MSD_RUNTIME_LOAD_STATE_H
#define MSD_RUNTIME_LOAD_STATE_H
/* Private to this folder: the internals of a loaded artifact. */
#include "runtime/device/device.h"
#include "runtime/load/loaded.h"
#include "runtime/module/node.h"

struct msd_format;

/* A callable function and its node. */
struct msd_loaded_entry {
	const struct msd_func_info *info;
	struct msd_node *node;
	size_t order; /* lookup order: the first of equal names wins */
};

struct msd_loaded {
	const struct msd_format *format; /* NULL: no format has been tried */
	void *form;                      /* owned by the format */
	struct msd_loaded_about about;
	struct msd_node *nodes; /* n_nodes; importers first, except for the root */
	uint32_t n_nodes;
	uint32_t n_modules; /* number of nodes in the file itself */
	struct msd_node **edges;
	struct msd_node *root;
	struct msd_loaded_entry *entries; /* sorted by name, unique */
	const struct msd_func_info **infos;
	size_t n_entries;
	struct msd_func_info found; /* the last function found that is not listed */
	struct msd_signature unknown;
	bool tvm_inputs;          /* from the load options */
	struct msd_device device; /* the module's device */
	struct msd_dev
		*reached[MSD_MAX_DEVICES]; /* other devices of its type, by ordinal */
};

/** The root of a loaded artifact. */
struct msd_node *msd_loaded_root(struct msd_loaded *m);
/** Put "module N (kind): " before a node's error. */
msd_err msd_loaded_wrap(const struct msd_loaded *m, const struct msd_node *node,
			msd_err err, struct msd_diag *d);
/**
 * Collect the functions of the whole tree, sorted; call after all nodes have started.
 */
MSD_MUST_CHECK msd_err msd_loaded_list(struct msd_loaded *m, struct msd_diag *d);

#endif
