#include "runtime/module/instance.h"

msd_err msd_loaded_instance(struct msd_loaded *m, struct msd_instance **ret,
			    struct msd_diag *d)
{
	struct msd_node *root = msd_loaded_root(m);

	if (root->ops->instance == NULL)
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "a %.*s has no instances; its functions keep no "
				    "state",
				    (int)(root->kind.n < 64 ? root->kind.n : 64),
				    (const char *)root->kind.p);
	return root->ops->instance(root, ret, d);
}

struct msd_function *msd_instance_find(struct msd_instance *i, const char *name)
{
	return i->ops->find(i, name);
}

void msd_instance_close(struct msd_instance *i)
{
	if (i != NULL)
		i->ops->close(i);
}
