#include "runtime/packed/global.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/provides/packed.h"
#include "runtime/value/registry.h"

enum users { MODULE, CLIENTS };
#define TABLE(name, list, users) {msd_globals_##name, users},
static const struct {
	const struct msd_global *functions;
	enum users users;
} tables[] = {MSD_PACKED_MAP(TABLE)};
#define N_TABLES (sizeof(tables) / sizeof(tables[0]))

static struct msd_function *functions; /* sorted by name; process lifetime */
static size_t n_functions;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int by_name(const void *a, const void *b)
{
	const struct msd_function *x = a;
	const struct msd_function *y = b;

	return strcmp(x->name, y->name);
}

/* If memory is short, the table stays empty and lookups fail by name. */
static void build(void)
{
	size_t n = 0;

	for (size_t t = 0; t < N_TABLES; t++) {
		for (const struct msd_global *g = tables[t].functions; g->name != NULL;
		     g++)
			n++;
	}
	functions = calloc(n > 0 ? n : 1, sizeof(*functions));
	if (functions == NULL)
		return;
	for (size_t t = 0; t < N_TABLES; t++) {
		for (const struct msd_global *g = tables[t].functions; g->name != NULL;
		     g++)
			msd_function_init(&functions[n_functions++], g->name, g->call);
	}
	qsort(functions, n_functions, sizeof(*functions), by_name);
}

static struct msd_function *find_own(const char *name)
{
	const struct msd_function key = {.name = name};

	(void)pthread_once(&once, build);
	if (n_functions == 0)
		return NULL;
	return bsearch(&key, functions, n_functions, sizeof(*functions), by_name);
}

struct msd_function *msd_global_find_for_clients(const char *name)
{
	for (size_t t = 0; t < N_TABLES; t++) {
		const struct msd_global *g = tables[t].functions;

		if (tables[t].users != CLIENTS)
			continue;
		for (; g->name != NULL; g++) {
			if (strcmp(g->name, name) == 0)
				return find_own(name);
		}
	}
	return msd_registry_find_allowed(msd_span_of(name));
}

void msd_globals_open(void)
{
	msd_registry_provide(find_own);
}

struct msd_function *msd_global_find(const char *name)
{
	struct msd_function *fn = msd_registry_find(msd_span_of(name));

	return fn != NULL ? fn : find_own(name);
}
