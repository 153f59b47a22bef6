#include "daemon/supervisor/module/workers/reply_template.h"

#include <stdlib.h>

#include "daemon/segments/segpool.h"
#include "proto/limits.h"
#include "proto/value.h"

struct learning {
	struct msd_reply_template *plan;
	const uint8_t *result;
	size_t before; /* bytes of the answer before the result */
	uint32_t room;
};

static msd_err learn_tensor(void *ctx, int8_t type, size_t at, size_t n,
			    struct msd_diag *d)
{
	struct learning *l = ctx;
	struct msd_wire_tensor t;

	if (type != MSD_EXT_TENSOR)
		return MSD_OK;
	const msd_err err = msd_wire_tensor_read(l->result + at, n, &t, d);
	if (err != MSD_OK)
		return err;
	if (t.where != MSD_AT_SEGMENT || l->plan->n_tensors == l->room)
		return MSD_UNSUPPORTED;
	l->plan->tensors[l->plan->n_tensors++] = (struct msd_answer_tensor){
		.at = (uint32_t)(l->before + at), .bytes = t.bytes};
	return MSD_OK;
}

/* Build a template of @known, which has tensors; NULL: none can be built. */
static struct msd_reply_template *make(const struct msd_known *known, size_t *ret_bytes)
{
	const struct msd_span result = known->body.result;
	const uint32_t n = known->body.n_tensors;
	struct msd_reply_template *plan;
	struct msd_diag d = {0};
	size_t used;

	*ret_bytes = sizeof(*plan) + n * sizeof(plan->tensors[0]);
	plan = malloc(*ret_bytes);
	if (plan == NULL)
		return NULL;
	plan->n_tensors = 0;
	struct learning l = {.plan = plan,
			     .result = result.p,
			     .before = (size_t)(result.p - known->bytes),
			     .room = n};
	const struct msd_ext_visitor visitor = {.visit = learn_tensor, .ctx = &l};
	const msd_err err = msd_scan_object(result, &visitor, &used, &d);
	msd_diag_finish(&d);
	if (err == MSD_OK && plan->n_tensors == n)
		return plan;
	free(plan);
	return NULL;
}

void msd_reply_template_learn(struct msd_process *p, const struct msd_in *in)
{
	if (p->channel.limits.memory == NULL || in->body.n_handles > 0 ||
	    in->body.n_objects > 0)
		return;
	struct msd_known *known =
		msd_memory_add(&p->answers, (struct msd_span){in->bytes, in->n_bytes},
			       in->payload_bytes, &in->body);
	if (known == NULL || in->body.n_tensors == 0)
		return;
	size_t n;
	struct msd_reply_template *plan = make(known, &n);
	if (plan != NULL) {
		msd_memory_give(&p->answers, known, plan, n);
	} else {
		msd_memory_drop(&p->answers, known);
	}
}

bool msd_reply_template_fits(const struct msd_in *in)
{
	const struct msd_reply_template *plan = in->known->plan;
	uint16_t segment;
	uint64_t offset;

	for (uint32_t i = 0; plan != NULL && i < plan->n_tensors; i++) {
		if (!msd_wire_tensor_in_segment(in->bytes + plan->tensors[i].at,
						&segment, &offset) ||
		    segment >= MSD_FIRST_LENT || offset % MSD_TENSOR_ALIGN != 0)
			return false;
	}
	return true;
}

void msd_reply_template_leave(struct msd_in *in)
{
	in->known = NULL;
	if (msd_body_read((struct msd_span){in->bytes, in->n_bytes}, NULL, &in->body,
			  NULL) != MSD_OK)
		abort(); /* equal bytes were read before, without their places */
}
