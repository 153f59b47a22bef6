#include "runtime/value/function.h"

#include <stdlib.h>
#include <string.h>

struct made {
	struct msd_function fn;
	void *self;
	msd_safe_call call;
	void (*finish)(void *self);
};

static int call_made(void *self, const struct msd_any *args, int32_t n,
		     struct msd_any *ret)
{
	const struct made *m = self;

	return m->call(m->self, args, n, ret);
}

static void delete_made(void *self, int flags)
{
	struct made *m = self;

	if ((flags & MSD_STRONG_GONE) != 0 && m->finish != NULL)
		m->finish(m->self);
	if ((flags & MSD_WEAK_GONE) != 0)
		free(m);
}

struct msd_function *msd_function_new(void *self, msd_safe_call call,
				      void (*finish)(void *self))
{
	struct made *m = malloc(sizeof(*m));

	if (m == NULL)
		return NULL;
	msd_function_init(&m->fn, "a library's function", call_made);
	m->fn.obj.deleter = delete_made;
	m->self = self;
	m->call = call;
	m->finish = finish;
	return &m->fn;
}

struct alias {
	struct msd_function fn;
	struct msd_function *target; /* owned */
	char name[];
};

static int call_alias(void *self, const struct msd_any *args, int32_t n,
		      struct msd_any *ret)
{
	struct msd_function *target = ((struct alias *)self)->target;

	return target->call(target, args, n, ret);
}

static void delete_alias(void *self, int flags)
{
	struct alias *a = self;

	if ((flags & MSD_STRONG_GONE) != 0)
		msd_obj_unref(&a->target->obj);
	if ((flags & MSD_WEAK_GONE) != 0)
		free(a);
}

struct msd_function *msd_function_alias(struct msd_function *target,
					struct msd_span name)
{
	struct alias *a = malloc(sizeof(*a) + name.n + 1);

	if (a == NULL)
		return NULL;
	memcpy(a->name, name.p, name.n);
	a->name[name.n] = '\0';
	msd_function_init(&a->fn, a->name, call_alias);
	a->fn.obj.deleter = delete_alias;
	a->target = target;
	msd_obj_ref(&target->obj);
	return &a->fn;
}
