#include "client/cli/measure/samples.h"

#include <stdlib.h>

#include "proto/base/grow.h"

bool msd_samples_add(struct msd_samples *s, uint64_t ns)
{
	if (!msd_grow(&s->ns, s->n, sizeof(*s->ns)))
		return false;
	s->ns[s->n++] = ns;
	return true;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

void msd_samples_sort(struct msd_samples *s)
{
	if (s->n > 0)
		qsort(s->ns, s->n, sizeof(*s->ns), compare);
}

uint64_t msd_samples_at(const struct msd_samples *s, unsigned permille)
{
	const size_t at = s->n * permille / 1000u;

	return s->n > 0 ? s->ns[at < s->n ? at : s->n - 1] : 0;
}

uint64_t msd_samples_sum(const struct msd_samples *s)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->n; i++)
		sum += s->ns[i];
	return sum;
}

void msd_samples_finish(struct msd_samples *s)
{
	free(s->ns);
	*s = (struct msd_samples){0};
}
