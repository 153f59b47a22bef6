#include <criterion/criterion.h>
#include <string.h>

#include "artifact/params/tensor_blob.h"
#include "artifact/relay/text.h"

#define SPAN(text) ((struct msd_span){(const uint8_t *)(text), sizeof(text) - 1})

/* One line for each operation, in the order of their numbers; two have more forms. */
static struct {
	enum msd_relay_op op;
	uint32_t n;
	int64_t fields[12];
	const char *text;
} rows[] = {
	{MSD_RELAY_MOVE, 2, {1, 2}, "move r1 -> r2"},
	{MSD_RELAY_RET, 1, {3}, "ret r3"},
	{MSD_RELAY_INVOKE, 5, {0, 2, 7, 1, 2}, "call main(r1, r2) -> r7"},
	{MSD_RELAY_INVOKE_CLOSURE, 4, {5, 1, 7, 2}, "call_closure r5(r2) -> r7"},
	{MSD_RELAY_INVOKE_PACKED,
	 6,
	 {0, 3, 1, 4, 5, 6},
	 "call_packed add(r4, r5) -> (r6)"},
	{MSD_RELAY_ALLOC_TENSOR,
	 9,
	 {1, 2, 2, 32, 1, 2, 6, 3, 4},
	 "alloc_tensor r1 + r2, [3, 4] float32 -> r6"},
	{MSD_RELAY_ALLOC_TENSOR_REG,
	 7,
	 {1, 2, 3, 0, 64, 1, 6},
	 "alloc_tensor r1 + r2, shape in r3, int64 -> r6"},
	{MSD_RELAY_ALLOC_ADT, 5, {9, 2, 7, 1, 2}, "alloc_adt tag 9 (r1, r2) -> r7"},
	{MSD_RELAY_ALLOC_CLOSURE, 4, {0, 1, 7, 2}, "alloc_closure main(r2) -> r7"},
	{MSD_RELAY_GET_FIELD, 3, {1, 4, 2}, "get_field r1[4] -> r2"},
	{MSD_RELAY_IF, 4, {1, 2, 1, -3}, "if r1 == r2 goto +1 else -3"},
	{MSD_RELAY_LOAD_CONST, 2, {0, 2}, "load_const c0 -> r2"},
	{MSD_RELAY_LOAD_CONST, 3, {0, 1, 2}, "load_const c0, device 1 -> r2"},
	{MSD_RELAY_GOTO, 1, {-2}, "goto -2"},
	{MSD_RELAY_GET_TAG, 2, {1, 2}, "get_tag r1 -> r2"},
	{MSD_RELAY_LOAD_CONSTI, 2, {-8, 2}, "load_consti -8 -> r2"},
	{MSD_RELAY_FATAL, 0, {0}, "fatal"},
	{MSD_RELAY_ALLOC_STORAGE,
	 7,
	 {1, 64, 2, 32, 1, 1, 2},
	 "alloc_storage r1 bytes, aligned to 64, float32, device 1 -> r2"},
	{MSD_RELAY_ALLOC_STORAGE,
	 10,
	 {0x55d01c2a98f0, 64, 2, 32, 1, 0, 2, 9, 5, 6},
	 "alloc_storage [5, 6] float32, aligned to 64, device 0 -> r9"},
	{MSD_RELAY_ALLOC_STORAGE,
	 8,
	 {1, 64, 2, 32, 1, 0, 0, 9},
	 "alloc_storage r1 bytes, aligned to 64, float32, device 0 -> r9"},
	{MSD_RELAY_SHAPE_OF, 2, {1, 2}, "shape_of r1 -> r2"},
	{MSD_RELAY_RESHAPE, 3, {1, 2, 3}, "reshape r1, shape in r2 -> r3"},
	{MSD_RELAY_DEVICE_COPY, 4, {1, 0, 1, 2}, "device_copy r1, device 0 to 1 -> r2"},
	{MSD_RELAY_KILL, 1, {4}, "kill r4"},
};

/* The text of an image whose function consists of the @n instructions of @code. */
static struct msd_buf text_of(struct msd_relay_ins *code, size_t n)
{
	struct msd_span params[] = {SPAN("x")};
	struct msd_span packed[] = {SPAN("add")};
	struct msd_relay_func func = {.name = SPAN("main"),
				      .params = params,
				      .n_params = 1,
				      .n_regs = 10,
				      .code = code,
				      .n_code = (uint32_t)n};
	struct msd_tensor_blob tensor = {.dtype = {2, 32, 1}, .ndim = 1, .shape = {7}};
	struct msd_relay_const consts[] = {{.tensor = &tensor}, {.name = SPAN("w")}};
	const struct msd_relay_image img = {.consts = consts,
					    .n_consts = 2,
					    .packed = packed,
					    .n_packed = 1,
					    .funcs = &func,
					    .n_funcs = 1};
	struct msd_buf out = {0};

	msd_relay_text(&img, &out);
	msd_buf_put_u8(&out, '\0');
	return out;
}

Test(relay_text, lists_every_operation)
{
	const size_t n = sizeof(rows) / sizeof(*rows);
	struct msd_relay_ins code[sizeof(rows) / sizeof(*rows)];
	struct msd_buf expected = {0};

	msd_buf_printf(&expected, "c0 = tensor float32[7]\n"
				  "c1 = bound later, by the name w\npacked add\n"
				  "function main(x): 1 arguments, 10 registers\n");
	for (size_t i = 0; i < n; i++) {
		code[i] = (struct msd_relay_ins){rows[i].op, rows[i].n, rows[i].fields};
		msd_buf_printf(&expected, "%6zu %s\n", i, rows[i].text);
	}
	struct msd_buf out = text_of(code, n);
	msd_buf_put_u8(&expected, '\0');
	cr_expect_str_eq((char *)out.p, (char *)expected.p);
	msd_buf_finish(&out);
	msd_buf_finish(&expected);
}
