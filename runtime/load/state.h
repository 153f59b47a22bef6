#ifndef MSD_RUNTIME_LOAD_STATE_H
#define MSD_RUNTIME_LOAD_STATE_H
/* Private to this folder: a loaded artifact from within. */
#include "runtime/device/device.h"
#include "runtime/load/loaded.h"
#include "runtime/module/node.h"

struct msd_format;

/* A function that callers may name, and the node that has it. */
struct msd_loaded_entry {
	const struct msd_func_info *info;
	struct msd_node *node;
	size_t order; /* of lookup: the first of equal names is the one */
};

struct msd_loaded {
	const struct msd_format *format; /* NULL: none has been tried */
	void *form;                      /* the format's own */
	struct msd_loaded_about about;
	struct msd_node *nodes; /* n_nodes; but for the root importers come first */
	uint32_t n_nodes;
	uint32_t n_modules; /* of the nodes, those that the file holds */
	struct msd_node **edges;
	struct msd_node *root;
	struct msd_loaded_entry *entries; /* sorted by name, no name twice */
	const struct msd_func_info **infos;
	size_t n_entries;
	struct msd_func_info found; /* of the last function found that is not listed */
	struct msd_signature unknown;
	bool tvm_inputs;                          /* of its load options */
	struct msd_device device;                 /* where it is placed */
	struct msd_dev *reached[MSD_MAX_DEVICES]; /* others of its type, by ordinal */
};

/** The root of a loaded artifact. */
struct msd_node *msd_loaded_root(struct msd_loaded *m);
/** Put "module N (kind): " before a node's error. */
msd_err msd_loaded_wrap(const struct msd_loaded *m, const struct msd_node *node,
			msd_err err, struct msd_diag *d);
/** Collect the functions of the whole tree, sorted; once all nodes have started. */
MSD_MUST_CHECK msd_err msd_loaded_list(struct msd_loaded *m, struct msd_diag *d);

#endif
