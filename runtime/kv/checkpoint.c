#include "runtime/kv/checkpoint.h"

#include <stdlib.h>

#include "runtime/value/error.h"

struct msd_kv_import {
	int64_t n_missing;
	bool has[];
};

int msd_kv_import_check(const struct msd_kv_cache *c)
{
	if (c->import == NULL)
		return 0;
	return msd_abi_raise("RuntimeError",
			     "an import is in progress: call "
			     "vm.builtin.attention_kv_cache_finish_import first");
}

void msd_kv_import_drop(struct msd_kv_cache *c)
{
	free(c->import);
	c->import = NULL;
}
