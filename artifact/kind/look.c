#include "artifact/kind/look.h"

#define LOOK(name) &msd_look_##name
#define NONE NULL
#define ROW(kind, title, format, look, params, run) {kind, look},
static const struct {
	const char *kind;
	const struct msd_look *look;
} rows[] = {MSD_KIND_MAP(ROW)};

const struct msd_look *msd_look_find(struct msd_span kind)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (msd_span_is(kind, rows[i].kind))
			return rows[i].look;
	}
	return NULL;
}
