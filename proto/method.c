#include "proto/method.h"

#include <string.h>

#include "proto/words/words.h"

static const struct msd_method_row rows[MSD_M_COUNT] = {
#define MSD_METHOD_ROW(e, name, where, right, params, result)                          \
	[MSD_M_##e] = {name,  sizeof(name) - 1, #where[0], MSD_RIGHT_##right, params,  \
		       result},
	MSD_METHOD_MAP(MSD_METHOD_ROW)
#undef MSD_METHOD_ROW
};

enum msd_method msd_method_find(struct msd_span name)
{
	for (unsigned i = 0; i < MSD_M_COUNT; i++) {
		if (rows[i].name_bytes == name.n &&
		    memcmp(rows[i].name, name.p, name.n) == 0)
			return (enum msd_method)i;
	}
	return MSD_M_COUNT;
}

MSD_WORDS_DEFINE(msd_right_name, enum msd_right, MSD_RIGHT_MAP)

bool msd_method_is_forwarded(enum msd_method method)
{
	return (unsigned)method < MSD_M_COUNT && rows[method].where == 'W';
}

const struct msd_method_row *msd_method_row(enum msd_method method)
{
	return (unsigned)method < MSD_M_COUNT ? &rows[method] : NULL;
}
