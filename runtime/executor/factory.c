#include "runtime/executor/factory.h"

#include <string.h>

#include "runtime/value/error.h"

#define DEFAULT_NAME "default"

msd_err msd_factory_name(struct msd_cur *c, char **ret, struct msd_diag *d)
{
	const struct msd_span name = msd_cur_str64(c);

	*ret = NULL;
	if (name.n == 0)
		return MSD_OK;
	*ret = strndup((const char *)name.p, name.n);
	return *ret != NULL ? MSD_OK : msd_diag_no_memory(d);
}

int msd_factory_names(const char *model, struct msd_any *ret)
{
	if (model == NULL)
		model = DEFAULT_NAME;
	struct msd_array *names = msd_array_new(1);
	struct msd_str *s = msd_str_new(model, strlen(model), MSD_T_STR);

	if (names == NULL || s == NULL) {
		msd_obj_unref(names != NULL ? &names->obj : NULL);
		msd_obj_unref(s != NULL ? &s->obj : NULL);
		return msd_abi_no_memory();
	}
	names->items[0] = msd_of_obj(&s->obj);
	*ret = msd_of_obj(&names->obj);
	return 0;
}

const char *msd_factory_tell(const char *model, const char *name)
{
	if (strcmp(name, "remove_params") == 0) {
		return "it makes a library without its parameters, which `modser pack "
		       "--split-params` does before the library is loaded";
	}
	if (strcmp(name, model != NULL ? model : DEFAULT_NAME) == 0 ||
	    strcmp(name, "debug_create") == 0 ||
	    strcmp(name, "cuda_graph_create") == 0) {
		return "TVM makes an executor by it; here `run` is the whole model in "
		       "one call, and an instance is an executor (`modser instance`, "
		       "module.instance)";
	}
	return NULL;
}
