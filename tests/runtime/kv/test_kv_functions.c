/* vm.builtin.* of language models, called as a VM calls them. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "tests/runtime/kv/kv_support.h"
#include "tests/runtime/relax/builtin_support.h"

static const struct msd_dtype int32 = {MSD_DT_INT, 32, 1};

/* A float32 tensor [1, n]. */
static void push_floats(struct call *c, const float *v, int64_t n)
{
	struct msd_any t = zeros((const int64_t[]){1, n}, 2);

	memcpy(msd_any_dltensor(&t)->data, v, (size_t)n * sizeof(*v));
	push(c, t);
}

static void push_tokens(struct call *c, const int32_t *v, int64_t n)
{
	struct msd_any t = tensor(int32, &n, 1);

	memcpy(msd_any_dltensor(&t)->data, v, (size_t)n * sizeof(*v));
	push(c, t);
}

static const float logits[] = {0.5F, 2, -1, 1.5F};

static int64_t sample(const float *v, double temperature, double top_p, double uniform)
{
	struct call c = {0};

	push_floats(&c, v, 4);
	push(&c, msd_float(temperature));
	push(&c, msd_float(top_p));
	push(&c, msd_float(uniform));
	expect_ok(&c, "vm.builtin.sample_top_p_from_logits");
	const int64_t token = c.ret.as.i;
	finish(&c);
	return token;
}

Test(kv_functions, samples_the_token_of_a_uniform_number)
{
	cr_assert_eq(sample(logits, 0, 1, 0.9), 1);
	cr_assert_eq(sample(logits, 1, 1, 0.1), 1);
	cr_assert_eq(sample(logits, 1, 1, 0.7), 3);
	cr_assert_eq(sample(logits, 1, 1, 0.95), 0);
	cr_assert_eq(sample(logits, 1, 1, 0.99), 2);
	cr_assert_eq(sample(logits, 1, 0.5, 0.9), 1, "the others are cut off");
	cr_assert_eq(
		sample((const float[]){-INFINITY, 0, -INFINITY, -INFINITY}, 1, 1, 0.5),
		1);
}

Test(kv_functions, refuses_nan_with_its_position)
{
	static const float bad[] = {0.5F, 2, NAN, 1.5F};
	struct call c = {0};

	push_floats(&c, bad, 4);
	for (int i = 0; i < 3; i++)
		push(&c, msd_float(0.5));
	expect_error(&c, "vm.builtin.sample_top_p_from_logits",
		     "ValueError: argument 0: NaN at position 2");
	push_floats(&c, bad, 4);
	push(&c, msd_float(0.5));
	push(&c, msd_float(0.5));
	expect_error(&c, "vm.builtin.sample_top_p_from_prob",
		     "ValueError: argument 0: NaN at position 2");
	push_floats(&c, bad, 4);
	push_floats(&c, logits, 4);
	expect_error(&c, "vm.builtin.multinomial_from_uniform",
		     "ValueError: argument 0: NaN at position 2");
	push_floats(&c, logits, 4);
	push(&c, msd_float(1));
	push(&c, msd_float(1));
	push(&c, msd_float(NAN));
	expect_error(&c, "vm.builtin.sample_top_p_from_logits",
		     "ValueError: argument 3 is NaN");
}

Test(kv_functions, refuses_distributions_that_choose_nothing)
{
	static const float none[] = {-1, -1, -1, -1};
	struct call c = {0};

	push_floats(&c, none, 4);
	push(&c, msd_float(0.5));
	push(&c, msd_float(0.5));
	expect_error(&c, "vm.builtin.sample_top_p_from_prob",
		     "ValueError: the distribution does not choose a token");
	push_floats(&c, none, 0);
	push(&c, msd_float(0.5));
	push(&c, msd_float(0.5));
	expect_error(&c, "vm.builtin.sample_top_p_from_prob",
		     "ValueError: argument 0: the tensor is empty");
}

Test(kv_functions, penalties_change_only_logits_of_the_vocabulary)
{
	struct call c = {0};

	push_floats(&c, logits, 4);
	push_tokens(&c, (const int32_t[]){1, 2}, 2);
	push(&c, msd_float(2));
	expect_ok(&c, "vm.builtin.apply_repetition_penalty");
	const float *v = msd_any_dltensor(&c.args[0])->data;
	cr_assert(v[0] == 0.5F && v[1] == 1 && v[2] == -2 && v[3] == 1.5F);
	finish(&c);
	push_floats(&c, logits, 4);
	push_tokens(&c, (const int32_t[]){1, 4}, 2);
	push(&c, msd_float(2));
	expect_error(&c, "vm.builtin.apply_repetition_penalty",
		     "ValueError: argument 1: token 4 at position 1 is not in the "
		     "vocabulary of 4");
	push_floats(&c, logits, 4);
	push_tokens(&c, (const int32_t[]){-1}, 1);
	push_tokens(&c, (const int32_t[]){1}, 1);
	push(&c, msd_float(1));
	push(&c, msd_float(1));
	expect_error(&c, "vm.builtin.apply_presence_and_frequency_penalty",
		     "ValueError: argument 1: token -1 at position 0 is not in the "
		     "vocabulary of 4");
}

/* An older cache of rows of 2 numbers, with the row (1, 1), and room for 2. */
static struct msd_any older_new(void)
{
	struct call c = {0};

	push(&c, ZEROS(1, 2));
	PUSH_INTS(&c, 0);
	msd_any_drop(&c.args[1]);
	c.args[1] = msd_of_obj(&shape_of((const int64_t[]){2, 2}, 2)->obj);
	c.n = 2;
	push(&c, msd_int(-1));
	expect_ok(&c, "vm.builtin.attention_kv_cache_create");
	struct msd_any cache = c.ret;
	c.ret = msd_none();
	finish(&c);
	return cache;
}

Test(kv_functions, the_older_cache_grows_and_refuses_other_rows)
{
	struct msd_any cache = older_new();
	struct call c = {0};

	push(&c, cache);
	push(&c, ZEROS(6, 2));
	expect_ok(&c, "vm.builtin.attention_kv_cache_append");
	cache = c.ret;
	c.ret = msd_none();
	finish(&c);
	msd_obj_ref(cache.as.obj);
	push(&c, cache);
	expect_ok(&c, "vm.builtin.attention_kv_cache_view");
	cr_assert_eq(msd_any_dltensor(&c.ret)->shape[0], 7);
	finish(&c);
	msd_obj_ref(cache.as.obj);
	push(&c, cache);
	push(&c, ZEROS(1, 3));
	expect_error(&c, "vm.builtin.attention_kv_cache_append",
		     "ValueError: the value differs from the cache in type or shape");
	push(&c, cache);
	push(&c, ZEROS(3, 2));
	push(&c, msd_int(2));
	expect_error(
		&c, "vm.builtin.attention_kv_cache_window_override",
		"ValueError: 3 rows do not fit a window of 2 rows, 0 of which stay");
}

Test(kv_functions, a_state_is_asked_for_by_its_kind)
{
	struct msd_any cache = older_new();
	struct call c = {0};

	push(&c, cache);
	push(&c, msd_int(0));
	expect_error(&c, "vm.builtin.kv_state_add_sequence",
		     "TypeError: argument 0: expected a KV state but got object");
	push(&c, msd_int(0));
	push(&c, msd_int(0));
	push(&c, msd_float(1));
	push(&c, x34());
	push(&c, x34());
	expect_error(&c, "vm.builtin.attention_kv_cache_attention_with_fused_qkv",
		     "TypeError: argument 0: expected a paged KV cache but got int");
}

Test(kv_functions, transfers_between_machines_are_refused)
{
	struct call c = {0};

	expect_error(&c, "vm.builtin.kv_cache_disagg_mark_send",
		     "pages are not transferred between machines here: that needs "
		     "NVSHMEM");
}
