#include "daemon/supervisor/module/why.h"

#include <stdlib.h>

struct msd_why *msd_why_new(const struct msd_diag *d)
{
	struct msd_why *why = calloc(1, sizeof(*why));

	if (why == NULL)
		return NULL;
	why->refs = 1;
	(void)msd_diag_set(&why->d, d->code, "%s", msd_diag_text(d));
	why->d.hint = d->hint;
	return why;
}

struct msd_why *msd_why_ref(struct msd_why *why)
{
	if (why != NULL)
		why->refs++;
	return why;
}

void msd_why_unref(struct msd_why *why)
{
	if (why == NULL || --why->refs > 0)
		return;
	msd_diag_finish(&why->d);
	free(why);
}

void msd_why_refuse(struct msd_why *why, struct msd_req *r)
{
	if (why != NULL) {
		msd_req_refuse_for(r, &why->d);
	} else {
		msd_req_refuse(r, MSD_NOMEM, "request: out of memory");
	}
}
