/* Arguments that a caller left out because they are bound (bind.c). */
#include <stdlib.h>
#include <string.h>

#include "runtime/executor/relax/vm.h"
#include "runtime/value/error.h"

/* Raise an error for a wrong argument count that lists the parameters. */
static void refuse_arity(const struct msd_vm_func *f, int32_t got)
{
	const struct msd_signature *s = &f->signature;
	struct msd_buf names = {0};

	for (size_t i = 0; i < s->n_params; i++) {
		msd_buf_printf(&names, "%s%s", i > 0 ? ", " : "",
			       s->params[i].name != NULL ? s->params[i].name : "?");
	}
	(void)msd_abi_raise_code(
		MSD_BAD_ARGUMENT, "expected %zu argument%s (%.*s) but got %d",
		s->n_params, s->n_params == 1 ? "" : "s", names.bad ? 0 : (int)names.n,
		names.p != NULL ? (const char *)names.p : "", (int)got);
	msd_buf_finish(&names);
}

struct msd_any *msd_relax_add_bound(const struct msd_vm_func *f,
				    const struct msd_any *args, int32_t n)
{
	struct msd_any *all;

	if (f->bound == NULL || n < 0 || (uint32_t)n + f->rules.n_bound != f->n_args) {
		refuse_arity(f, n);
		return NULL;
	}
	all = malloc(f->n_args * sizeof(*all));
	if (all == NULL) {
		(void)msd_abi_no_memory();
		return NULL;
	}
	if (n > 0)
		memcpy(all, args, (size_t)n * sizeof(*all));
	memcpy(all + n, f->bound, f->rules.n_bound * sizeof(*all));
	return all;
}
