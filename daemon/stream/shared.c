#include "daemon/stream/shared.h"

#include <stdlib.h>

struct msd_shared *msd_shared_new(size_t n)
{
	struct msd_shared *s = malloc(sizeof(*s) + n);

	if (s == NULL)
		return NULL;
	s->refs = 1;
	s->n = n;
	return s;
}

struct msd_shared *msd_shared_ref(struct msd_shared *s)
{
	s->refs++;
	return s;
}

void msd_shared_unref(struct msd_shared *s)
{
	if (s != NULL && --s->refs == 0)
		free(s);
}
