#include "runtime/kv/ints.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/bytes.h"
#include "proto/base/grow.h"
#include "runtime/value/value.h"

bool msd_ints_reserve(struct msd_ints *a, size_t more)
{
	size_t want;

	return msd_add_size(a->n, more, &want) &&
	       msd_reserve(&a->v, &a->cap, want, sizeof(*a->v));
}

bool msd_ints_push(struct msd_ints *a, int32_t v)
{
	if (!msd_ints_reserve(a, 1))
		return false;
	a->v[a->n++] = v;
	return true;
}

bool msd_ints_append(struct msd_ints *a, const struct msd_ints *more)
{
	if (!msd_ints_reserve(a, more->n))
		return false;
	if (more->n > 0)
		memcpy(a->v + a->n, more->v, more->n * sizeof(*a->v));
	a->n += more->n;
	return true;
}

void msd_ints_finish(struct msd_ints *a)
{
	free(a->v);
	*a = (struct msd_ints){0};
}

int32_t msd_ints_last(const struct msd_ints *a)
{
	return a->n > 0 ? a->v[a->n - 1] : 0;
}

struct msd_tensor *msd_ints_tensor(const struct msd_ints *a, int64_t rows)
{
	const struct msd_dtype int32 = {MSD_DT_INT, 32, 1};
	const int64_t n = (int64_t)a->n;
	const int64_t matrix[] = {rows, rows > 0 ? n / rows : 0};
	struct msd_tensor *t = rows == 1 ? msd_tensor_new(int32, &n, 1)
					 : msd_tensor_new(int32, matrix, 2);

	if (t != NULL && n > 0)
		memcpy(t->dl.data, a->v, a->n * sizeof(*a->v));
	return t;
}
