#include "artifact/provides/provides.h"

#include <stdlib.h>
#include <string.h>

#include "artifact/provides/provides_list.h"

static const struct {
	const char *const *names;
	size_t n;
} lists[] = {
	[MSD_PROVIDED_SYMBOLS] = {symbols, sizeof(symbols) / sizeof(*symbols)},
	[MSD_PROVIDED_SLOTS] = {slots, sizeof(slots) / sizeof(*slots)},
	[MSD_PROVIDED_PACKED] = {packed, sizeof(packed) / sizeof(*packed)},
	[MSD_PROVIDED_KINDS] = {kinds, sizeof(kinds) / sizeof(*kinds)},
};

const char *const *msd_provides(enum msd_provided what, size_t *ret_n)
{
	*ret_n = lists[what].n;
	return lists[what].names;
}

static int compare(const void *key, const void *item)
{
	return strcmp(key, *(const char *const *)item);
}

bool msd_provides_name(enum msd_provided what, const char *name)
{
	return bsearch(name, lists[what].names, lists[what].n, sizeof(char *),
		       compare) != NULL;
}
