#include "client/lost_workers.h"

#include <stdlib.h>
#include <string.h>

#include "proto/body.h"
#include "proto/value.h"

/* [pid, [code, name, message]] */
void msd_lost_workers_apply(struct msd_lost_workers *l, struct msd_span params)
{
	struct msd_lost_worker *w = &l->last[l->next];
	struct msd_body_error why;
	struct msd_wire_value pid;
	struct msd_span error;
	struct msd_cur c;
	uint32_t n;

	if (!msd_array_open(params, &c, &n) || n != 2 ||
	    msd_value_read(&c, &pid, NULL) != MSD_OK || pid.kind != MSD_K_INT ||
	    !msd_object_parse(&c, &error) || !msd_body_error_read(error, &why))
		return;
	free(w->why);
	*w = (struct msd_lost_worker){
		.pid = (uint64_t)pid.as.i,
		.code = why.code,
		.why = strndup((const char *)why.message.p, why.message.n)};
	l->next = (l->next + 1) % MSD_LOST_WORKERS;
}

struct msd_lost_worker *msd_lost_workers_find(struct msd_lost_workers *l, uint64_t pid)
{
	for (unsigned i = 1; i <= MSD_LOST_WORKERS; i++) {
		struct msd_lost_worker *w =
			&l->last[(l->next + MSD_LOST_WORKERS - i) % MSD_LOST_WORKERS];

		if (w->pid == pid && w->why != NULL)
			return w;
	}
	return NULL;
}

void msd_lost_worker_forget(struct msd_lost_worker *w)
{
	free(w->why);
	*w = (struct msd_lost_worker){0};
}

void msd_lost_workers_finish(struct msd_lost_workers *l)
{
	for (unsigned i = 0; i < MSD_LOST_WORKERS; i++)
		free(l->last[i].why);
}
