#include "artifact/provides/provides.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/kind/kinds.h"
#include "artifact/provides/packed.h"
#include "artifact/provides/slots.h"
#include "artifact/provides/symbols.h"

/* The runtime's functions are not linked here: use only the name of each row. */
#define NAME_OF_PACKED(name, function) name,
#define NAMES_OF_TABLE(table, list, users) list(NAME_OF_PACKED)
#define NAME_OF_SLOT(name, function) name,
#define NAME_OF_SYMBOL(name) name,
static const char *packed[] = {MSD_PACKED_MAP(NAMES_OF_TABLE)};
static const char *slots[] = {MSD_SLOT_MAP(NAME_OF_SLOT)};
static const char *symbols[] = {MSD_SYMBOL_MAP(NAME_OF_SYMBOL)};

#define RUNS(name) true
#define REFUSED(why) false
#define KIND_ROW(kind, title, format, look, params, run) {kind, run},
static const struct {
	const char *kind;
	bool runs;
} known[] = {MSD_KIND_MAP(KIND_ROW)};
#define N_KNOWN (sizeof(known) / sizeof(*known))
static const char *kinds[N_KNOWN]; /* known kinds that run */

/* In the order of the headers, which is for readers, until the first use sorts them. */
static struct {
	const char **names;
	size_t n;
	bool is_own; /* allocated: names were added */
} lists[] = {
	[MSD_PROVIDED_SYMBOLS] = {symbols, sizeof(symbols) / sizeof(*symbols), false},
	[MSD_PROVIDED_SLOTS] = {slots, sizeof(slots) / sizeof(*slots), false},
	[MSD_PROVIDED_PACKED] = {packed, sizeof(packed) / sizeof(*packed), false},
	[MSD_PROVIDED_KINDS] = {kinds, 0, false},
};

static pthread_once_t once = PTHREAD_ONCE_INIT;

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void make_lists(void)
{
	for (size_t i = 0; i < N_KNOWN; i++) {
		if (known[i].runs)
			kinds[lists[MSD_PROVIDED_KINDS].n++] = known[i].kind;
	}
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		qsort(lists[i].names, lists[i].n, sizeof(char *), compare);
}

const char *const *msd_provides(enum msd_provided what, size_t *ret_n)
{
	(void)pthread_once(&once, make_lists);
	*ret_n = lists[what].n;
	return lists[what].names;
}

bool msd_provides_name(enum msd_provided what, const char *name)
{
	size_t n;
	const char *const *names = msd_provides(what, &n);

	return bsearch(&name, names, n, sizeof(char *), compare) != NULL;
}

bool msd_provides_add(enum msd_provided what, const char *name)
{
	size_t n;
	const char *const *old = msd_provides(what, &n);
	const char **names;
	char *copy;

	if (msd_provides_name(what, name))
		return true;
	names = malloc((n + 1) * sizeof(*names));
	copy = strdup(name);
	if (names == NULL || copy == NULL) {
		free(names);
		free(copy);
		return false;
	}
	memcpy(names, old, n * sizeof(*names));
	names[n] = copy;
	qsort(names, n + 1, sizeof(*names), compare);
	if (lists[what].is_own)
		free(lists[what].names);
	lists[what].names = names;
	lists[what].n = n + 1;
	lists[what].is_own = true;
	return true;
}

bool msd_provides_library(const char *name)
{
	return strcmp(name, "libtvm_ffi.so") == 0;
}
