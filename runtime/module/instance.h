#ifndef MSD_MODULE_INSTANCE_H
#define MSD_MODULE_INSTANCE_H
/*
 * Something of a module that keeps state between calls, with functions by TVM's names:
 * a graph executor's set_input, run, get_output. Kinds that have it offer
 * msd_node_ops.instance.
 */
#include "runtime/module/node.h"

struct msd_instance_ops {
	struct msd_function *(*find)(struct msd_instance *self, const char *name);
	void (*close)(struct msd_instance *self);
};

struct msd_instance { /* first member of the kind's own */
	const struct msd_instance_ops *ops;
};

#endif
