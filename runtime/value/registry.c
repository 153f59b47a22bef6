#include "runtime/value/registry.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/value/error.h"
#include "runtime/value/function.h"
#include "runtime/value/hash.h"

/* Rows are not removed: the row of a function that is gone is not current. */
struct row {
	struct row *next;        /* with the same bucket */
	struct msd_function *fn; /* an alias with the row's name; owned */
	size_t n_name;
	bool is_current;
	bool is_for_clients;
};

#define N_BUCKETS 1024u
static struct row *buckets[N_BUCKETS];
static uint32_t n_rows;
static struct msd_function *(*find_own)(const char *name);
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

void msd_registry_provide(struct msd_function *(*find)(const char *name))
{
	__atomic_store_n(&find_own, find, __ATOMIC_RELEASE);
}

static struct row **bucket_of(struct msd_span name)
{
	return &buckets[msd_hash_bytes((const char *)name.p, name.n) % N_BUCKETS];
}

static struct row *find_row(struct msd_span name)
{
	struct row *row = *bucket_of(name);

	while (row != NULL && !(row->is_current && row->n_name == name.n &&
				memcmp(row->fn->name, name.p, name.n) == 0))
		row = row->next;
	return row;
}

static struct msd_function *find_provided(struct msd_span name)
{
	struct msd_function *(*find)(const char *) =
		__atomic_load_n(&find_own, __ATOMIC_ACQUIRE);
	struct msd_function *fn = NULL;
	char *text;

	if (find == NULL || memchr(name.p, '\0', name.n) != NULL)
		return NULL;
	text = strndup((const char *)name.p, name.n);
	if (text != NULL)
		fn = find(text);
	free(text);
	return fn;
}

struct msd_function *msd_registry_find(struct msd_span name)
{
	(void)pthread_rwlock_rdlock(&lock);
	const struct row *row = n_rows > 0 ? find_row(name) : NULL;
	struct msd_function *fn = row != NULL ? row->fn : NULL;
	(void)pthread_rwlock_unlock(&lock);
	return fn != NULL ? fn : find_provided(name);
}

static int add_row(struct msd_span name, struct msd_function *fn, bool is_for_clients)
{
	struct row **bucket = bucket_of(name);
	struct row *row;

	if (n_rows >= MSD_MAX_REGISTERED) {
		return msd_abi_raise("RuntimeError",
				     "more than %u functions were registered",
				     MSD_MAX_REGISTERED);
	}
	row = malloc(sizeof(*row));
	if (row == NULL)
		return msd_abi_no_memory();
	*row = (struct row){.next = *bucket,
			    .fn = msd_function_alias(fn, name),
			    .n_name = name.n,
			    .is_current = true,
			    .is_for_clients = is_for_clients};
	if (row->fn == NULL) {
		free(row);
		return msd_abi_no_memory();
	}
	*bucket = row;
	n_rows++;
	return 0;
}

int msd_registry_set(struct msd_span name, struct msd_function *fn, unsigned flags)
{
	const bool is_own = find_provided(name) != NULL;
	int rc;

	(void)pthread_rwlock_wrlock(&lock);
	struct row *old = find_row(name);
	if ((old != NULL || is_own) && (flags & MSD_REGISTERED_MAY_REPLACE) == 0) {
		rc = msd_abi_raise("RuntimeError",
				   "Global Function `%.*s` is already registered",
				   (int)(name.n < 256 ? name.n : 256), name.p);
	} else {
		rc = add_row(name, fn, (flags & MSD_REGISTERED_FOR_CLIENTS) != 0);
		if (rc == 0 && old != NULL)
			old->is_current = false;
	}
	(void)pthread_rwlock_unlock(&lock);
	return rc;
}

struct msd_function *msd_registry_find_allowed(struct msd_span name)
{
	(void)pthread_rwlock_rdlock(&lock);
	const struct row *row = find_row(name);
	struct msd_function *fn = row != NULL && row->is_for_clients ? row->fn : NULL;
	(void)pthread_rwlock_unlock(&lock);
	return fn;
}

bool msd_registry_remove(struct msd_span name)
{
	(void)pthread_rwlock_wrlock(&lock);
	struct row *row = find_row(name);
	if (row != NULL)
		row->is_current = false;
	(void)pthread_rwlock_unlock(&lock);
	return row != NULL;
}

static struct msd_array *names_locked(void)
{
	struct msd_array *all = msd_array_new(n_rows);

	if (all == NULL)
		return NULL;
	all->size = 0;
	for (size_t i = 0; i < N_BUCKETS; i++) {
		for (const struct row *row = buckets[i]; row != NULL; row = row->next) {
			const struct msd_span name = {(const uint8_t *)row->fn->name,
						      row->n_name};

			if (!row->is_current)
				continue;
			if (!msd_any_text(name, true, &all->items[all->size])) {
				msd_obj_unref(&all->obj);
				return NULL;
			}
			all->size++;
		}
	}
	return all;
}

struct msd_array *msd_registry_names(void)
{
	(void)pthread_rwlock_rdlock(&lock);
	struct msd_array *all = names_locked();
	(void)pthread_rwlock_unlock(&lock);
	return all;
}
