#include "daemon/supervisor/module/workers/segment_pass.h"

#include <fcntl.h>
#include <stdlib.h>

#include "daemon/supervisor/request/client_segment.h"
#include "proto/value.h"

/* A client segment that was passed to a process. */
struct passed {
	struct msd_segment_user borrower;
	struct msd_list link; /* msd_process.lent */
	struct msd_process *process;
};

msd_err msd_segment_pass_segment(struct msd_process *p, const char *what,
				 uint16_t index, int fd, uint64_t bytes)
{
	struct msd_out *o = msd_out_new();

	if (o == NULL)
		return MSD_NOMEM;
	if (bytes > 0) {
		o->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		if (o->fd < 0) { /* the worker would report a broken protocol */
			msd_out_destroy(o);
			return MSD_IO;
		}
	}
	msd_body_begin_notification(&o->body, "worker.segment");
	msd_pack_array(&o->body, 3);
	msd_pack_cstr(&o->body, what);
	msd_pack_uint(&o->body, index);
	msd_pack_uint(&o->body, bytes);
	msd_conn_send(&p->channel, o);
	return MSD_OK;
}

static const char *word_of(const struct msd_client_segment *loan)
{
	return loan->is_writable ? "lent" : "shown";
}

static void take_back(struct msd_segment_user *b)
{
	struct passed *x = MSD_CONTAINER_OF(b, struct passed, borrower);

	if (!msd_conn_is_closing(&x->process->channel) &&
	    msd_segment_pass_segment(x->process, word_of(b->loan),
				     (uint16_t)(MSD_FIRST_LENT + b->loan->number), -1,
				     0) != MSD_OK)
		msd_process_kill(x->process, "there was no memory to take one back");
	msd_list_remove(&x->link);
	free(x);
}

static bool has(const struct msd_process *p, struct msd_client_segment *loan)
{
	MSD_LIST_EACH (it, &loan->borrowers) {
		const struct passed *x =
			MSD_CONTAINER_OF(it, struct passed, borrower.of_loan);
		if (x->process == p)
			return true;
	}
	return false;
}

static bool pass(struct msd_process *p, struct msd_client_segment *loan)
{
	struct passed *x = calloc(1, sizeof(*x));

	if (x == NULL)
		return false;
	if (msd_segment_pass_segment(p, word_of(loan),
				     (uint16_t)(MSD_FIRST_LENT + loan->number),
				     loan->fd, loan->bytes) != MSD_OK) {
		free(x);
		return false;
	}
	x->process = p;
	x->borrower = (struct msd_segment_user){.loan = loan, .take_back = take_back};
	msd_list_append(&loan->borrowers, &x->borrower.of_loan);
	msd_list_append(&p->lent, &x->link);
	return true;
}

bool msd_segment_pass_lent(struct msd_process *p, const struct msd_req *r)
{
	for (uint32_t i = 0; r->lending != NULL && i < r->lending->n; i++) {
		struct msd_client_segment *loan = r->lending->of[i];
		if (!has(p, loan) && !pass(p, loan))
			return false;
	}
	return true;
}

void msd_segment_pass_forget(struct msd_process *p)
{
	MSD_LIST_EACH_SAFE (it, &p->lent) {
		struct passed *x = MSD_CONTAINER_OF(it, struct passed, link);
		msd_list_remove(it);
		msd_list_remove(&x->borrower.of_loan);
		free(x);
	}
}
