#include "runtime/abi/syslib.h"

#include <stdlib.h>
#include <string.h>

static _Thread_local struct msd_syslib *current;

void msd_syslib_collect(struct msd_syslib *table)
{
	current = table;
}

int msd_syslib_register(const char *name, void *address)
{
	struct msd_syslib *t = current;

	if (t == NULL)
		return 0;
	struct msd_syslib_symbol *more =
		reallocarray(t->symbols, t->n + 1, sizeof(*t->symbols));
	if (more == NULL) {
		t->is_short_of_memory = 1;
		return 0;
	}
	t->symbols = more;
	char *copy = strdup(name);
	if (copy == NULL) {
		t->is_short_of_memory = 1;
	} else {
		t->symbols[t->n++] = (struct msd_syslib_symbol){copy, address};
	}
	return 0;
}

void msd_syslib_finish(struct msd_syslib *table)
{
	for (size_t i = 0; i < table->n; i++)
		free(table->symbols[i].name);
	free(table->symbols);
	*table = (struct msd_syslib){0};
}
