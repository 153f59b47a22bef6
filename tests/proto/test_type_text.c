#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/type_text.h"

static const char *const types[] = {
	"Tensor([2, 16], float32)",
	"Tensor([n, ?], int64)",
	"Tensor([], bool)",
	"Tensor([...], float16)",
	"Tensor([9223372036854775807], ?)",
};

/* Writes what it has read. */
static void read_and_write(const char *text, char ret[static 256])
{
	static char names[MSD_MAX_NDIM][32];
	char *all[MSD_MAX_NDIM];
	int64_t shape[MSD_MAX_NDIM];
	struct msd_tensor_type t;
	struct msd_dtype dtype;
	struct msd_buf out = {0};
	int32_t n = 0;

	cr_assert(msd_tensor_type_split(msd_span_of(text), &t), "%s", text);
	for (; t.extents.n > 0; n++) {
		const struct msd_span item = msd_type_item(&t.extents, ',');
		all[n] = names[n];
		(void)snprintf(names[n], sizeof(names[n]), "%.*s", (int)item.n,
			       (const char *)item.p);
		shape[n] = msd_extent_parse(item);
	}
	const bool has_dtype =
		msd_dtype_parse((const char *)t.dtype.p, t.dtype.n, &dtype);
	msd_tensor_type_put(&out, shape, t.extents.p != NULL ? n : -1, all,
			    has_dtype ? &dtype : NULL);
	msd_buf_put_u8(&out, 0);
	cr_assert_not(out.bad);
	(void)snprintf(ret, 256, "%s", (const char *)out.p);
	msd_buf_finish(&out);
}

Test(type_text, a_type_is_written_as_it_was_read)
{
	char text[256];

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		read_and_write(types[i], text);
		cr_expect_str_eq(text, types[i]);
	}
}

Test(type_text, no_prefix_is_read_beyond_its_end)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		for (size_t n = 0; n < strlen(types[i]); n++) {
			char *copy = strndup(types[i], n);
			struct msd_tensor_type t;

			cr_expect_eq(msd_tensor_type_split(msd_span_of(copy), &t),
				     n == strlen("Tensor"), "%s", copy);
			free(copy);
		}
	}
}

Test(type_text, items_are_split_outside_of_brackets)
{
	struct msd_span list = msd_span_of("a: Tensor([1, 2], int8), (x, y) , z");

	cr_expect_eq(msd_type_items(list), 3);
	struct msd_span first = msd_type_item(&list, ',');
	cr_expect(msd_span_is(msd_type_item(&first, ':'), "a"));
	cr_expect(msd_span_is(msd_type_item(&list, ','), "(x, y)"));
	cr_expect(msd_span_is(msd_type_item(&list, ','), "z"));
	cr_expect_eq(list.n, 0);
	cr_expect_eq(msd_type_items(msd_span_of(" ")), 0);
	struct msd_span closed = msd_span_of(")),x");
	cr_expect(msd_span_is(msd_type_item(&closed, 'y'), ")),x"));
}

static const struct {
	const char *text;
	bool has_open;
	uint32_t ndim; /* 99: refused */
	int64_t last;
} shapes[] = {
	{"[]", false, 0, 0},
	{"[ ]", false, 0, 0},
	{"[ 2,  3 ]", false, 2, 3},
	{"[-2]", false, 1, -2},
	{"[-9223372036854775808]", false, 1, INT64_MIN},
	{"[9223372036854775807]", true, 1, INT64_MAX},
	{"[1,?]", true, 2, -1},
	{"[1,?]", false, 99, 0},
	{"[-1]", true, 99, 0},
	{"[9223372036854775808]", false, 99, 0},
	{"[-9223372036854775809]", false, 99, 0},
	{"[1,]", false, 99, 0},
	{"[1, ]", false, 99, 0},
	{"[,1]", false, 99, 0},
	{"[,]", false, 99, 0},
	{"[1 2]", false, 99, 0},
	{"[-]", false, 99, 0},
	{"[+1]", false, 99, 0},
	{"[[1]]", false, 99, 0},
	{"[1", false, 99, 0},
	{"1]", false, 99, 0},
	{"", false, 99, 0},
	{"[", false, 99, 0},
	{"[1]x", false, 99, 0},
};

Test(type_text, shapes_have_one_form)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		int64_t shape[MSD_MAX_NDIM] = {0};
		uint32_t ndim = 99;
		const bool is_fine = msd_shape_parse(msd_span_of(shapes[i].text),
						     shapes[i].has_open, shape, &ndim);

		cr_expect_eq(is_fine, shapes[i].ndim != 99, "%s", shapes[i].text);
		if (!is_fine || shapes[i].ndim == 0)
			continue;
		cr_expect_eq(ndim, shapes[i].ndim, "%s", shapes[i].text);
		cr_expect_eq(shape[ndim - 1], shapes[i].last, "%s", shapes[i].text);
	}
}

Test(type_text, a_shape_has_at_most_so_many_extents)
{
	for (uint32_t n = MSD_MAX_NDIM; n <= MSD_MAX_NDIM + 1; n++) {
		int64_t shape[MSD_MAX_NDIM + 1] = {0}, read[MSD_MAX_NDIM];
		struct msd_buf text = {0};
		uint32_t ndim;

		msd_shape_put(&text, shape, n, ",");
		cr_expect_eq(msd_shape_parse((struct msd_span){text.p, text.n}, true,
					     read, &ndim),
			     n == MSD_MAX_NDIM);
		msd_buf_finish(&text);
	}
}
