#include <criterion/criterion.h>
#include <string.h>

#include "client/cli/values/json.h"
#include "client/cli/values/print.h"

static void expect_text(struct msd_buf *out, const char *text)
{
	msd_buf_put_u8(out, '\0');
	cr_expect_str_eq((const char *)out->p, text);
	msd_buf_finish(out);
}

static modser_value tensor_of(const char *dtype, const int64_t *shape, uint32_t ndim,
			      const void *data)
{
	modser_dtype t;

	cr_assert(modser_dtype_parse(dtype, &t));
	modser_value v = modser_tensor_arg(t, shape, ndim, data);
	cr_assert(modser_tensor_bytes(t, shape, ndim, &v.as.tensor.bytes));
	return v;
}

/* Expected values computed with numpy and ml_dtypes. */
static const struct {
	const char *dtype;
	uint8_t bits[2];
	const char *text;
} small_floats[] = {
	{"float16", {0x00, 0x3c}, "1.0"},
	{"float16", {0x01, 0x00}, "5.9604645e-08"},
	{"float16", {0x00, 0xfc}, "-inf"},
	{"float16", {0x66, 0x2e}, "0.099975586"},
	{"bfloat16", {0x80, 0xbf}, "-1.0"},
	{"bfloat16", {0xc0, 0x7f}, "nan"},
	{"float8_e4m3fn", {0x7e}, "448.0"},
	{"float8_e4m3fn", {0x7f}, "nan"},
	{"float8_e4m3fn", {0x01}, "0.001953125"},
	{"float8_e5m2", {0x7b}, "57344.0"},
	{"float8_e5m2", {0x7c}, "inf"},
	{"float8_e4m3fnuz", {0x80}, "nan"},
	{"float8_e4m3fnuz", {0x7f}, "240.0"},
	{"float8_e8m0fnu", {0x80}, "2.0"},
	{"float8_e8m0fnu", {0xff}, "nan"},
	{"float4_e2m1fn", {0x07}, "6.0"},
	{"int4", {0x0f}, "-1"},
	{"uint4", {0x0f}, "15"},
	{"bool", {0x01}, "true"},
};

Test(print, reads_every_small_float)
{
	for (size_t i = 0; i < sizeof(small_floats) / sizeof(small_floats[0]); i++) {
		modser_value v =
			tensor_of(small_floats[i].dtype, NULL, 0, small_floats[i].bits);
		struct msd_buf out = {0};

		msd_print_value(&out, &v, false);
		expect_text(&out, small_floats[i].text);
	}
}

Test(print, shows_tensors_in_brackets)
{
	const int64_t shape[] = {2, 3};
	const float data[] = {1, 2.5f, -3, 0.1f, 1e20f, 0};
	modser_value v = tensor_of("float32", shape, 2, data);
	struct msd_buf out = {0};

	msd_print_value(&out, &v, false);
	expect_text(&out, "[[1.0, 2.5, -3.0], [0.1, 1e+20, 0.0]]");
	msd_json_put_value(&out, &v);
	expect_text(&out, "{\"dtype\": \"float32\", \"shape\": [2, 3], \"data\": "
			  "[[1.0, 2.5, -3.0], [0.1, 1e+20, 0.0]]}");
}

Test(print, does_not_walk_a_tensor_of_no_bytes)
{
	const int64_t shape[] = {1000000000000, 0};
	modser_value v = tensor_of("int8", shape, 2, NULL);
	struct msd_buf out = {0};

	msd_print_value(&out, &v, true);
	expect_text(&out, "int8[1000000000000, 0] []");
	msd_json_put_value(&out, &v);
	expect_text(&out, "{\"dtype\": \"int8\", \"shape\": [1000000000000, 0], "
			  "\"data\": []}");
}

Test(print, escapes_what_a_terminal_would_obey)
{
	struct msd_buf out = {0};

	msd_print_line(&out, "a\033[2J\nb\0c", 9);
	expect_text(&out, "a\\x1b[2J\\nb\\x00c");
}

Test(print, aligns_for_people_and_parts_by_tabs_for_scripts)
{
	modser_value a[] = {modser_str("name"), modser_str("add"),
			    modser_str("rss_bytes"), modser_int(3 << 20)};
	modser_value b[] = {modser_str("name"), modser_str("x"), modser_str("error"),
			    modser_str("cut\nshort")};
	modser_value rows[] = {{.kind = MODSER_MAP, .as.tuple = {a, 2}},
			       {.kind = MODSER_MAP, .as.tuple = {b, 2}}};
	modser_value list = {.kind = MODSER_TUPLE, .as.tuple = {rows, 2}};
	struct msd_buf out = {0};

	msd_print_table(&out, &list, true, false);
	expect_text(&out, "NAME  RSS_BYTES  ERROR\n"
			  "add   3.0 MiB    -\n"
			  "x     -          cut\\nshort\n");
	msd_print_table(&out, &list, false, false);
	expect_text(&out, "add\t3145728\t-\nx\t-\tcut\\nshort\n");
	msd_print_map(&out, &rows[0], false);
	expect_text(&out, "name\tadd\nrss_bytes\t3145728\n");
	msd_print_map(&out, &rows[0], true); /* the value has the unit */
	expect_text(&out, "name  add\nrss   3.0 MiB\n");
}

/* [{"name": "m", "p50_ns": @ns, "why": nil}] */
static modser_value one_row(modser_value pairs[6], modser_value *row, int64_t ns)
{
	pairs[0] = modser_str("name");
	pairs[1] = modser_str("m");
	pairs[2] = modser_str("p50_ns");
	pairs[3] = modser_int(ns);
	pairs[4] = modser_str("why");
	pairs[5] = modser_nil();
	*row = (modser_value){.kind = MODSER_MAP, .as.tuple = {.item = pairs, .n = 3}};
	return (modser_value){.kind = MODSER_TUPLE, .as.tuple = {.item = row, .n = 1}};
}

Test(print, chosen_columns_have_headings_for_people_and_keys_for_scripts)
{
	static const struct msd_column columns[] = {{"p50_ns", "P50", false},
						    {"name", "NAME", false},
						    {"why", "WHY", true}};
	modser_value pairs[6], row;
	const modser_value list = one_row(pairs, &row, 1500000);
	struct msd_buf out = {0};

	msd_print_columns(&out, &list, columns, 3, true, false);
	expect_text(&out, "P50     NAME\n1.5 ms  m\n");
	msd_print_columns(&out, &list, columns, 3, false, true);
	expect_text(&out, "p50_ns\tname\twhy\n1500000\tm\t-\n");
	msd_print_columns(&out, &list, columns, 3, false, false);
	expect_text(&out, "1500000\tm\t-\n");
}

Test(print, times_have_units)
{
	static const struct {
		int64_t ns;
		const char *text;
	} rows[] = {{0, "0 ns"},
		    {999, "999 ns"},
		    {1500, "1.5 us"},
		    {250000000, "250 ms"},
		    {90000000000, "90.0 s"},
		    {600000000000, "10.0 min"},
		    {86400000000000, "24.0 h"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		static const struct msd_column column = {"p50_ns", "P", false};
		modser_value pairs[6], row;
		const modser_value list = one_row(pairs, &row, rows[i].ns);
		struct msd_buf out = {0};

		msd_print_columns(&out, &list, &column, 1, true, false);
		msd_buf_put_u8(&out, 0);
		cr_assert_not(out.bad);
		cr_expect_not_null(strstr((const char *)out.p, rows[i].text), "%s: %s",
				   rows[i].text, (const char *)out.p);
		msd_buf_finish(&out);
	}
}
