/* Loop: runs a graph while its condition holds, up to a maximum count. */
#include "runtime/plan/turns.h"
#include "runtime/value/element.h"

/* The count is one int64; without a count only the condition ends the loop. */
static msd_err read_count(const struct msd_flow_value *v, int64_t *ret,
			  struct msd_diag *d)
{
	*ret = INT64_MAX;
	if (!v->is_there)
		return MSD_OK;
	if (v->dtype.code != MSD_DT_INT || v->dtype.bits != 64 ||
	    v->bytes != sizeof(*ret))
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "its count is not one int64");
	*ret = msd_number_load(v->dtype, v->data, 0).i;
	return MSD_OK;
}

static msd_err run_turns(struct msd_turns *t, int64_t count, bool goes_on,
			 struct msd_diag *d)
{
	const uint8_t truth = 1;
	int64_t turn = 0;
	msd_err err = MSD_OK;

	t->in[0] = msd_flow_scalar((struct msd_dtype){MSD_DT_INT, 64, 1}, &turn);
	t->in[1] = msd_flow_scalar((struct msd_dtype){MSD_DT_BOOL, 8, 1}, &truth);
	for (; err == MSD_OK && goes_on && turn < count; turn++) {
		err = msd_turns_run(t, d);
		if (err != MSD_OK)
			break;
		const struct msd_flow_value v = msd_flow_output(t->body, 0);
		err = msd_flow_truth(&v, &goes_on, d);
	}
	return err == MSD_OK ? msd_turns_end(t, d) : err;
}

static msd_err give_all(const struct msd_turns *t, const struct msd_flow_call *c,
			struct msd_diag *d)
{
	msd_err err = msd_turns_give(t, c, d);

	for (size_t k = 0; err == MSD_OK && k < t->n_stacks; k++)
		err = msd_turns_give_stack(t, c, k, 0, false, d);
	return err;
}

static msd_err run_loop(const struct msd_flow_call *c, struct msd_diag *d)
{
	struct msd_turns t;
	int64_t count = 0;
	bool goes_on = true;
	msd_err err = msd_turns_init(&t, c, 2, 1, d);

	if (err == MSD_OK)
		err = read_count(&c->flow->in[0], &count, d);
	if (err == MSD_OK && c->flow->in[1].is_there)
		err = msd_flow_truth(&c->flow->in[1], &goes_on, d);
	if (err == MSD_OK)
		err = run_turns(&t, count, goes_on, d);
	if (err == MSD_OK)
		err = give_all(&t, c, d);
	msd_turns_finish(&t);
	return err;
}

const struct msd_flow_kernel msd_flow_loop = {"Loop", run_loop};
