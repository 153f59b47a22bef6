/* Entry points of executors that keep state. */
#include "runtime/module/instance.h"

#include "runtime/load/state.h"

struct msd_span msd_loaded_kind(struct msd_loaded *m)
{
	return msd_loaded_root(m)->kind;
}

bool msd_loaded_has_instances(struct msd_loaded *m)
{
	return msd_loaded_root(m)->ops->instance != NULL;
}

msd_err msd_loaded_instance(struct msd_loaded *m, struct msd_instance **ret,
			    struct msd_diag *d)
{
	struct msd_node *root = msd_loaded_root(m);

	if (root->ops->instance == NULL) {
		return msd_diag_set(
			d, MSD_UNSUPPORTED,
			"a %.*s has no sessions; its functions keep no state",
			(int)(root->kind.n < 64 ? root->kind.n : 64),
			(const char *)root->kind.p);
	}
	msd_err err = root->ops->instance(root, ret, d);
	if (err == MSD_OK) {
		(*ret)->module = m;
		(*ret)->tvm_inputs = m->tvm_inputs;
		(*ret)->call = msd_loaded_call;
	}
	return err;
}
