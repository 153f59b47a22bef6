/*
 * vm.builtin.tensor_cache.* and vm.builtin.param_*: tensors by name. A module's folder
 * of parameters fills the cache (runtime/executor/relax/params.c); a worker cannot open
 * files, so loading from a path is refused. Compiled code runs on one thread at a time.
 */
#include "runtime/packed/tensor_cache.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/provides/packed.h"
#include "proto/base/grow.h"
#include "runtime/packed/args.h"
#include "runtime/packed/global.h"

#define MAX_PARAMS 65536 /* of one list */

struct entry {
	char *name;
	size_t n; /* bytes of the name */
	struct msd_any tensor;
};

static struct entry *entries; /* sorted by name */
static size_t n_entries;

static int compare(struct msd_span name, const struct entry *e)
{
	const int c = memcmp(name.p, e->name, name.n < e->n ? name.n : e->n);

	return c != 0 ? c : (name.n > e->n) - (name.n < e->n);
}

/* The place of @name, or the one where it would be; true if it is there. */
static bool find(struct msd_span name, size_t *ret)
{
	size_t low = 0, high = n_entries;

	if (n_entries > 0 && compare(name, &entries[n_entries - 1]) > 0)
		low = n_entries;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const int c = compare(name, &entries[middle]);

		if (c == 0) {
			*ret = middle;
			return true;
		}
		if (c < 0) {
			high = middle;
		} else {
			low = middle + 1;
		}
	}
	*ret = low;
	return false;
}

static void entry_drop(struct entry *e)
{
	msd_any_drop(&e->tensor);
	free(e->name);
}

bool msd_tensor_cache_put(struct msd_span name, const struct msd_any *v)
{
	struct entry e = {.n = name.n};
	size_t at;

	if (!msd_any_copy(v, &e.tensor))
		return false;
	if (find(name, &at)) {
		msd_any_drop(&entries[at].tensor);
		entries[at].tensor = e.tensor;
		return true;
	}
	e.name = malloc(name.n + 1);
	if (e.name == NULL || !msd_grow(&entries, n_entries, sizeof(*entries))) {
		entry_drop(&e);
		return false;
	}
	memcpy(e.name, name.p, name.n);
	memmove(&entries[at + 1], &entries[at], (n_entries - at) * sizeof(*entries));
	entries[at] = e;
	n_entries++;
	return true;
}

void msd_tensor_cache_clear(void)
{
	for (size_t i = 0; i < n_entries; i++)
		entry_drop(&entries[i]);
	free(entries);
	entries = NULL;
	n_entries = 0;
}

static bool name_at(struct msd_args a, int32_t i, struct msd_span *ret)
{
	if (msd_any_str(&a.v[i], ret))
		return true;
	(void)msd_args_refuse(a, i, "a string");
	return false;
}

/* (name) -> the tensor, or None */
static int get(void *self, const struct msd_any *args, int32_t n, struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_span name;
	size_t at;

	(void)self;
	if (!msd_args_count(a, 1, 1) || !name_at(a, 0, &name))
		return -1;
	return find(name, &at) ? msd_return_copy(&entries[at].tensor, ret) : 0;
}

/* (name, tensor, override = false) */
static int update(void *self, const struct msd_any *args, int32_t n,
		  struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_dltensor *t;
	struct msd_span name;
	int64_t is_override = 0;
	size_t at;

	(void)self, (void)ret;
	if (!msd_args_count(a, 2, 3) || !name_at(a, 0, &name) ||
	    !msd_args_tensor(a, 1, &t) || (n == 3 && !msd_args_int(a, 2, &is_override)))
		return -1;
	if (is_override == 0 && find(name, &at)) {
		return msd_abi_raise("ValueError",
				     "the cache has a tensor %.*s already", (int)name.n,
				     (const char *)name.p);
	}
	if (args[1].type == MSD_T_TENSOR && !msd_tensor_keep(args[1].as.obj, true))
		return msd_abi_no_memory();
	return msd_tensor_cache_put(name, &args[1]) ? 0 : msd_abi_no_memory();
}

/* (name) */
static int remove_one(void *self, const struct msd_any *args, int32_t n,
		      struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_span name;
	size_t at;

	(void)self, (void)ret;
	if (!msd_args_count(a, 1, 1) || !name_at(a, 0, &name))
		return -1;
	if (!find(name, &at))
		return 0;
	entry_drop(&entries[at]);
	n_entries--;
	memmove(&entries[at], &entries[at + 1], (n_entries - at) * sizeof(*entries));
	return 0;
}

static int clear(void *self, const struct msd_any *args, int32_t n, struct msd_any *ret)
{
	(void)self, (void)args, (void)n, (void)ret;
	msd_tensor_cache_clear();
	return 0;
}

static int refuse_load(void *self, const struct msd_any *args, int32_t n,
		       struct msd_any *ret)
{
	(void)self, (void)args, (void)n, (void)ret;
	return msd_abi_raise_code(MSD_UNSUPPORTED,
				  "a worker cannot open files: load the library with "
				  "modser load --params DIR, which fills the cache");
}

static int refuse_module(void *self, const struct msd_any *args, int32_t n,
			 struct msd_any *ret)
{
	(void)self, (void)args, (void)n, (void)ret;
	return msd_abi_raise_code(MSD_UNSUPPORTED,
				  "it makes a module of TVM, which modserd lacks: use "
				  "vm.builtin.param_array_from_cache");
}

static int put_named(struct msd_array *list, int64_t i, struct msd_span name)
{
	size_t at;

	if (!find(name, &at)) {
		return msd_abi_raise("ValueError", "the cache has no tensor %.*s",
				     (int)name.n, (const char *)name.p);
	}
	return msd_any_copy(&entries[at].tensor, &list->items[i]) ? 0
								  : msd_abi_no_memory();
}

/* Return a list of the tensors that the @n texts @names name. */
static int return_named(const struct msd_any *names, int64_t n, struct msd_any *ret)
{
	struct msd_array *list = msd_array_new((size_t)n);
	int rc = 0;

	if (list == NULL)
		return msd_abi_no_memory();
	for (int64_t i = 0; rc == 0 && i < n; i++) {
		struct msd_span name;

		rc = msd_any_str(&names[i], &name)
			     ? put_named(list, i, name)
			     : msd_abi_raise("TypeError",
					     "name %" PRId64
					     ": expected a string but got %s",
					     i, msd_type_name(names[i].type));
	}
	if (rc == 0)
		return msd_return_obj(&list->obj, ret);
	msd_obj_unref(&list->obj);
	return rc;
}

/* (list of names) -> list of tensors */
static int array_by_name(void *self, const struct msd_any *args, int32_t n,
			 struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_array *names;

	(void)self;
	if (!msd_args_count(a, 1, 1) || !msd_args_tuple(a, 0, &names))
		return -1;
	return return_named(names->items, names->size, ret);
}

/* (name, ...) -> list of tensors */
static int array_by_name_unpacked(void *self, const struct msd_any *args, int32_t n,
				  struct msd_any *ret)
{
	(void)self;
	return return_named(args, n, ret);
}

/* "prefix_7" into @text, whose prefix has @n bytes. */
static struct msd_span numbered(char *text, size_t n, int64_t i)
{
	const int digits = snprintf(text + n, 24, "_%" PRId64, i);

	return (struct msd_span){(uint8_t *)text, n + (size_t)digits};
}

/* (prefix, n) -> list of the tensors prefix_0, prefix_1, ...; -1: as many as there are
 */
static int array_from_cache(void *self, const struct msd_any *args, int32_t n,
			    struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_array *list = NULL;
	struct msd_span prefix;
	int64_t count;
	size_t at;
	int rc = 0;

	(void)self;
	if (!msd_args_count(a, 2, 2) || !name_at(a, 0, &prefix) ||
	    !msd_args_int(a, 1, &count))
		return -1;
	if (count < -1 || count > MAX_PARAMS) {
		return msd_abi_raise("ValueError",
				     "argument 1: expected a number from -1 to %d",
				     MAX_PARAMS);
	}
	char *name = malloc(prefix.n + 24);
	if (name == NULL)
		return msd_abi_no_memory();
	memcpy(name, prefix.p, prefix.n);
	if (count == -1) {
		do {
			count++;
		} while (find(numbered(name, prefix.n, count), &at));
	}
	list = msd_array_new((size_t)count);
	if (list == NULL) {
		free(name);
		return msd_abi_no_memory();
	}
	for (int64_t i = 0; rc == 0 && i < count; i++)
		rc = put_named(list, i, numbered(name, prefix.n, i));
	free(name);
	if (rc == 0)
		return msd_return_obj(&list->obj, ret);
	msd_obj_unref(&list->obj);
	return rc;
}

const struct msd_global msd_globals_tensor_cache[] =
	MSD_GLOBAL_TABLE(MSD_PACKED_TENSOR_CACHE);
