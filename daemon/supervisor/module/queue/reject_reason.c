#include "daemon/supervisor/module/queue/reject_reason.h"

#include <stdlib.h>

struct msd_reject_reason *msd_reject_reason_new(const struct msd_diag *d)
{
	struct msd_reject_reason *why = calloc(1, sizeof(*why));

	if (why == NULL)
		return NULL;
	why->refs = 1;
	(void)msd_diag_set(&why->d, d->code, "%s", msd_diag_text(d));
	why->d.hint = d->hint;
	return why;
}

struct msd_reject_reason *msd_reject_reason_ref(struct msd_reject_reason *why)
{
	if (why != NULL)
		why->refs++;
	return why;
}

void msd_reject_reason_unref(struct msd_reject_reason *why)
{
	if (why == NULL || --why->refs > 0)
		return;
	msd_diag_finish(&why->d);
	free(why);
}

void msd_reject_reason_refuse(struct msd_reject_reason *why, struct msd_req *r)
{
	if (why != NULL) {
		msd_req_refuse_for(r, &why->d);
	} else {
		msd_req_refuse(r, MSD_NOMEM, "request: out of memory");
	}
}
