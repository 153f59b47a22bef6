/* RNN states whose functions copy slots, as a model's do. */
#include <criterion/criterion.h>

#include "runtime/kv/rnn.h"
#include "runtime/kv/state.h"
#include "tests/runtime/kv/kv_support.h"

enum { SEQUENCES = 2, HISTORY = 3 };

static struct msd_kv_rnn *rnn;
static struct msd_kv_state *state;
static struct msd_function get_fn;
static struct msd_function set_fn;

static float *slot_at(const struct msd_any *args, int64_t ahead)
{
	const int32_t slot = *(const int32_t *)msd_any_dltensor(&args[1])->data;
	const int32_t place = *(const int32_t *)msd_any_dltensor(&args[2])->data;

	return (float *)msd_any_dltensor(&args[0])->data + slot * HISTORY +
	       (place + ahead) % HISTORY;
}

static int get(void *self, const struct msd_any *args, int32_t n, struct msd_any *ret)
{
	(void)self, (void)n, (void)ret;
	*(float *)msd_any_dltensor(&args[3])->data = *slot_at(args, 0);
	return 0;
}

static int set(void *self, const struct msd_any *args, int32_t n, struct msd_any *ret)
{
	(void)self, (void)n, (void)ret;
	*slot_at(args, 1) = *(float *)msd_any_dltensor(&args[3])->data;
	return 0;
}

static struct msd_array *array_of(struct msd_any v)
{
	struct msd_array *a = msd_array_new(1);

	cr_assert_not_null(a);
	a->items[0] = v;
	return a;
}

static void rnn_open(void)
{
	msd_function_init(&get_fn, "get", get);
	msd_function_init(&set_fn, "set", set);
	struct msd_kv_rnn_config g = {
		.n_layers = 1, .max_sequences = SEQUENCES, .history = HISTORY};
	struct msd_array *gets = array_of(msd_of_obj(&get_fn.obj));
	struct msd_array *sets = array_of(msd_of_obj(&set_fn.obj));
	struct msd_array *init = array_of(ZEROS(1));
	g.gets = gets;
	g.sets = sets;
	g.init = init;
	rnn = msd_kv_rnn_new(&g);
	cr_assert_not_null(rnn);
	state = (struct msd_kv_state *)(void *)msd_kv_rnn_obj(rnn);
	msd_obj_unref(&gets->obj);
	msd_obj_unref(&sets->obj);
	msd_obj_unref(&init->obj);
	cr_assert_eq(state->ops->add(state, 0), 0);
}

static void rnn_close(void)
{
	msd_obj_unref(msd_kv_rnn_obj(rnn));
}

TestSuite(kv_rnn, .init = rnn_open, .fini = rnn_close);

static int begin(int64_t id, int64_t n)
{
	struct msd_shape *ids = shape_of(&id, 1);
	struct msd_shape *lengths = shape_of(&n, 1);
	const struct msd_kv_request r = {.ids = ids, .lengths = lengths};
	const int rc = state->ops->begin(state, &r);

	msd_obj_unref(&ids->obj);
	msd_obj_unref(&lengths->obj);
	return rc;
}

/* A forward of @n tokens, which adds one to the state. */
static float forward(int64_t id, int64_t n)
{
	struct msd_any x = ZEROS(1);
	float *v = msd_any_dltensor(&x)->data;

	cr_assert_eq(begin(id, n), 0);
	cr_assert_eq(msd_kv_rnn_get(rnn, 0, 0, &x), 0);
	*v += 1;
	cr_assert_eq(msd_kv_rnn_set(rnn, 0, 0, &x), 0);
	cr_assert_eq(state->ops->end(state), 0);
	const float now = *v;
	msd_any_drop(&x);
	return now;
}

Test(kv_rnn, takes_back_single_tokens_within_its_history)
{
	for (int i = 1; i <= 4; i++)
		cr_assert_eq(forward(0, 1), (float)i);
	expect_refused(state->ops->pop(state, 0, 3),
		       "2 tokens can be taken back, not 3");
	cr_assert_eq(state->ops->pop(state, 0, 2), 0);
	cr_assert_eq(forward(0, 1), 3.0F);
	cr_assert_eq(forward(0, 5), 4.0F);
	expect_refused(state->ops->pop(state, 0, 1), "0 tokens can be taken back");
}

Test(kv_rnn, a_fork_has_its_own_state)
{
	struct msd_any v;

	(void)forward(0, 1);
	cr_assert_eq(state->ops->fork(state, 0, 1, -1), 0);
	cr_assert_eq(forward(1, 1), 2.0F);
	cr_assert_eq(forward(1, 1), 3.0F);
	cr_assert_eq(forward(0, 1), 2.0F);
	cr_assert_eq(msd_kv_rnn_read(rnn, 0, 0, 1, &v), 0);
	cr_assert_eq(*(float *)msd_any_dltensor(&v)->data, 3.0F);
	msd_any_drop(&v);
	expect_refused(state->ops->fork(state, 0, 2, -1), "created for 2 sequences");
}

Test(kv_rnn, bad_input_is_refused_by_name)
{
	struct msd_any x = ZEROS(1);

	expect_refused(msd_kv_rnn_get(rnn, 0, 0, &x), "no forward is open");
	expect_refused(state->ops->end(state), "no forward is open");
	expect_refused(state->ops->remove(state, 9), "sequence 9 is not in the state");
	expect_refused(state->ops->add(state, 0), "sequence 0 is already in the state");
	expect_refused(begin(9, 1), "sequence 9 is not in the state");
	expect_refused(begin(0, 0), "cannot grow by 0 tokens");
	cr_assert_eq(begin(0, 1), 0);
	expect_refused(begin(0, 1), "a forward is open");
	expect_refused(msd_kv_rnn_get(rnn, 1, 0, &x), "layer 1 does not exist");
	expect_refused(msd_kv_rnn_set(rnn, 0, -1, &x), "state -1 does not exist");
	msd_any_drop(&x);
}
