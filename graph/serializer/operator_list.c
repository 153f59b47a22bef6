#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/operators.h"
#include "proto/base/grow.h"

bool msd_operators_add(struct msd_operators *o, const char *name)
{
	size_t at = 0;
	int order = 1;

	while (at < o->n && (order = strcmp(o->names[at], name)) < 0)
		at++;
	if (at < o->n && order == 0)
		return true;
	if (!msd_grow(&o->names, o->n, sizeof(*o->names)))
		return false;
	char *copy = msd_sg_copy(name, strlen(name));
	if (copy == NULL)
		return false;
	memmove(o->names + at + 1, o->names + at, (o->n - at) * sizeof(*o->names));
	o->names[at] = copy;
	o->n++;
	return true;
}

void msd_operators_finish(struct msd_operators *o)
{
	for (size_t i = 0; i < o->n; i++)
		free(o->names[i]);
	free(o->names);
	*o = (struct msd_operators){0};
}
