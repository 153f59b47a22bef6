#include "runtime/plan/turns.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/plan/outline.h"
#include "runtime/plan/stack.h"

msd_err msd_turns_init(struct msd_turns *t, const struct msd_flow_call *c, size_t state,
		       size_t first, struct msd_diag *d)
{
	const size_t n_out = modser_sg_node_output_count(c->node);
	const size_t n_states = msd_flow_states(c->node);

	*t = (struct msd_turns){.body = &c->flow->graphs[0],
				.in = c->flow->in,
				.states = c->flow->in + state,
				.kept = calloc(n_states + 1, sizeof(void *)),
				.next = calloc(n_states + 1, sizeof(void *)),
				.n_states = n_states,
				.stacks = calloc(n_out + 1, sizeof(*t->stacks)),
				.n_stacks = n_out - n_states,
				.first = first};
	return t->kept != NULL && t->next != NULL && t->stacks != NULL
		       ? MSD_OK
		       : msd_diag_no_memory(d);
}

/* Make a copy because the next run of the body reuses the memory of its outputs. */
static msd_err copy_state(struct msd_turns *t, size_t i, struct msd_diag *d)
{
	const struct msd_flow_value v = msd_flow_output(t->body, t->first + i);

	t->next[i] = malloc(v.bytes + 1);
	if (t->next[i] == NULL)
		return msd_diag_no_memory(d);
	if (v.bytes > 0)
		memcpy(t->next[i], v.data, v.bytes);
	return MSD_OK;
}

/* Call only after all are copied: an output may be an input value. */
static void hand_on(struct msd_turns *t)
{
	for (size_t i = 0; i < t->n_states; i++) {
		t->states[i] = msd_flow_output(t->body, t->first + i);
		t->states[i].data = t->next[i];
	}
	for (size_t i = 0; i < t->n_states; i++) {
		free(t->kept[i]);
		t->kept[i] = t->next[i];
		t->next[i] = NULL;
	}
}

msd_err msd_turns_run(struct msd_turns *t, struct msd_diag *d)
{
	msd_err err = msd_flow_enter(t->body, t->in, d);

	for (size_t i = 0; err == MSD_OK && i < t->n_stacks; i++) {
		const struct msd_flow_value v =
			msd_flow_output(t->body, t->first + t->n_states + i);

		err = msd_stack_push(&t->stacks[i], &v, d);
	}
	for (size_t i = 0; err == MSD_OK && i < t->n_states; i++)
		err = copy_state(t, i, d);
	if (err == MSD_OK)
		hand_on(t);
	t->has_turned = true;
	return err;
}

msd_err msd_turns_end(const struct msd_turns *t, struct msd_diag *d)
{
	return t->has_turned || t->n_stacks == 0 ? MSD_OK
						 : msd_outline_find(t->body, t->in, d);
}

msd_err msd_turns_give(const struct msd_turns *t, const struct msd_flow_call *c,
		       struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (size_t i = 0; err == MSD_OK && i < t->n_states; i++)
		err = msd_flow_give(c, i, &t->states[i], d);
	return err;
}

msd_err msd_turns_give_stack(const struct msd_turns *t, const struct msd_flow_call *c,
			     size_t k, int64_t axis, bool is_reverse,
			     struct msd_diag *d)
{
	const size_t i = t->n_states + k;
	const struct msd_flow_value like =
		t->has_turned ? t->stacks[k].like
			      : msd_outline_output(t->body, t->first + i);

	return msd_stack_give(&t->stacks[k], c, i, &like, axis, is_reverse, d);
}

void msd_turns_finish(struct msd_turns *t)
{
	for (size_t i = 0; t->kept != NULL && t->next != NULL && i < t->n_states; i++) {
		free(t->kept[i]);
		free(t->next[i]);
	}
	for (size_t i = 0; t->stacks != NULL && i < t->n_stacks; i++)
		msd_stack_finish(&t->stacks[i]);
	free((void *)t->kept);
	free((void *)t->next);
	free(t->stacks);
}
