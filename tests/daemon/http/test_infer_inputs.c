/* Inputs of an infer are copied to its room in steps of a bounded number of bytes. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/supervisor/http/infer/infer_inputs.h"

#define MOST MSD_INFER_PUT_BYTES
#define ROOM (6u * MOST)
#define UNTOUCHED 0xeeu

static uint8_t *payload, *behind, *values;

static void begin(void)
{
	payload = malloc(ROOM);
	behind = malloc(ROOM);
	values = malloc(ROOM);
	cr_assert(payload != NULL && behind != NULL && values != NULL);
	memset(payload, UNTOUCHED, ROOM);
	for (size_t i = 0; i < ROOM; i++) {
		behind[i] = (uint8_t)(i % 101);
		values[i] = (uint8_t)(100 + i % 103);
	}
}

static void end(void)
{
	free(payload);
	free(behind);
	free(values);
}

/* Two inputs of JSON around one that follows the JSON, and one without bytes. */
static struct msd_infer_input inputs[] = {
	{.has_data = true, .from = 7, .bytes = 100},
	{.has_data = false, .from = 3, .bytes = 2 * MOST + 5},
	{.has_data = true, .from = 200, .bytes = 0},
	{.has_data = true, .from = 1000, .bytes = MOST},
};
static struct msd_infer_place places[] = {
	{.input = &inputs[0], .offset = 0},
	{.input = NULL},
	{.input = &inputs[1], .offset = 128},
	{.input = &inputs[2], .offset = 3 * MOST},
	{.input = &inputs[3], .offset = 3 * MOST},
};
static const struct msd_infer_call call = {
	.places = places, .n_places = sizeof(places) / sizeof(places[0])};

static size_t count_written(void)
{
	size_t n = 0;

	for (size_t i = 0; i < ROOM; i++)
		n += payload[i] != UNTOUCHED;
	return n;
}

/* Copy all of it. Returns the number of steps, none of which may copy more than
 * allowed. */
static unsigned copy(struct msd_span tail)
{
	const struct msd_infer_ask ask = {.values = {.p = values, .n = ROOM}};
	struct msd_infer_put at = {0};
	unsigned n_steps = 0;
	bool is_done;

	do {
		const size_t before = count_written();

		is_done = msd_infer_put_inputs(&call, &ask, tail, payload, &at);
		cr_assert_leq(count_written() - before, MOST);
		n_steps++;
	} while (!is_done && n_steps < 100);
	cr_assert(is_done);
	return n_steps;
}

static void expect_copied(const struct msd_infer_input *in, uint64_t offset,
			  const uint8_t *from)
{
	cr_expect_arr_eq(payload + offset, from + in->from, in->bytes);
}

Test(infer_inputs, are_copied_in_steps, .init = begin, .fini = end)
{
	cr_expect_eq(copy((struct msd_span){behind, ROOM}), 4);
	expect_copied(&inputs[0], 0, values);
	expect_copied(&inputs[1], 128, behind);
	expect_copied(&inputs[3], 3 * MOST, values);
	cr_expect_eq(count_written(), 100 + 2 * MOST + 5 + MOST);
}

Test(infer_inputs, that_still_arrive_are_left_out, .init = begin, .fini = end)
{
	cr_expect_eq(copy((struct msd_span){0}), 2);
	expect_copied(&inputs[0], 0, values);
	expect_copied(&inputs[3], 3 * MOST, values);
	cr_expect_eq(count_written(), 100 + MOST);
}
