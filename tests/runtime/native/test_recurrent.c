/* LSTM and GRU by the native engine and by the reference engine. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/runtime/native/layer.h"

static void set_text(modser_sg_node *node, const char *name, const char *text)
{
	const modser_sg_attr a = {.kind = MODSER_ATTR_STR, .as.s = text};

	cr_assert_eq(modser_sg_op_set_param(modser_sg_node_op(node), name, &a), 0);
}

/* Layers of 4 or 3 gates: 6 steps, 3 entries, 10 inputs. */
static void expect_recurrent(const char *op, int64_t gates, int64_t states,
			     const char *direction, bool is_linear)
{
	const int64_t ways = strcmp(direction, "bidirectional") == 0 ? 2 : 1;
	const int64_t x[] = {6, 3, 10};
	const int64_t w[] = {ways, gates * states, 10};
	const int64_t r[] = {ways, gates * states, states};
	const int64_t b[] = {ways, 2 * gates * states};
	struct one o = one_begin(op);

	set_text(o.node, "direction", direction);
	if (gates == 3)
		set_int(o.node, "linear_before_reset", is_linear);
	add(&o, 3, x, 31);
	add(&o, 3, w, 32);
	add(&o, 3, r, 33);
	add(&o, 2, b, 34);
	expect_agreement(op, &o);
}

Test(native_recurrent, directions)
{
	static const char *const ways[] = {"forward", "reverse", "bidirectional"};

	for (size_t i = 0; i < 3; i++) {
		expect_recurrent("LSTM", 4, 18, ways[i], false);
		expect_recurrent("GRU", 3, 18, ways[i], false);
		expect_recurrent("GRU", 3, 18, ways[i], true);
	}
}

/* There is enough work for a thread each. */
Test(native_recurrent, both_directions_at_once)
{
	expect_recurrent("LSTM", 4, 120, "bidirectional", false);
	expect_recurrent("GRU", 3, 72, "bidirectional", false);
	expect_recurrent("GRU", 3, 72, "bidirectional", true);
}
