#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/relax/annotation.h"

static void put(struct msd_buf *out, const char *text, size_t n)
{
	/* An exact block: a byte beyond it is seen. */
	char *copy = malloc(n > 0 ? n : 1);

	cr_assert_not_null(copy);
	memcpy(copy, text, n);
	msd_relax_put_annotation(out, (struct msd_span){(uint8_t *)copy, n});
	free(copy);
}

static void expect_text(const char *text, const char *want)
{
	struct msd_buf out = {0};

	put(&out, text, strlen(text));
	msd_buf_put_u8(&out, 0);
	cr_expect_str_eq((const char *)out.p, want);
	msd_buf_finish(&out);
}

static const char *const texts[][2] = {
	{"R.Tensor((n, T.int64(3)), dtype=\"float32\")", "Tensor([n, 3], float32)"},
	{"R.Tensor((n,), dtype=\"int64\")", "Tensor([n], int64)"},
	{"R.Tensor((), dtype=\"int64\")", "Tensor([], int64)"},
	{"R.Tensor(dtype=\"float16\", ndim=2)", "Tensor([?, ?], float16)"},
	{"R.Tensor((2, 3))", "Tensor([2, 3])"},
	{"R.Tensor", "Tensor"},
	{"R.Tensor((n * T.int64(-2) + m, (n + 1) // 2), dtype=\"bool\")",
	 "Tensor([n * -2 + m, (n + 1) // 2], bool)"},
	{"T.Tuple(R.Tensor((1,), dtype=\"int8\"), R.Tuple(R.Shape([n, T.int64(2)]), "
	 "R.Prim(\"int64\")), R.Object)",
	 "(Tensor([1], int8), (Shape([n, 2]), int64), Object)"},
	{"R.Tuple(R.Shape(ndim=3))", "(Shape([?, ?, ?]),)"},
	{"R.Tuple()", "()"},
};

Test(relax_annotation, has_the_words_of_other_signatures)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		expect_text(texts[i][0], texts[i][1]);
}

Test(relax_annotation, copies_what_it_does_not_understand)
{
	static const char *const odd[] = {
		"",
		"R.Callable((R.Object,), R.Object, True)",
		"R.Tensor((2,), dtype=\"float32\", vdevice=\"cuda:0:global\")",
		"R.Tensor((2,), dtype=\"float32\") and more",
		"R.Prim(value=n)",
		"int",
	};

	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		expect_text(odd[i], odd[i]);
}

Test(relax_annotation, every_prefix_is_read_within_its_bounds)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const size_t n = strlen(texts[i][0]);

		for (size_t k = 0; k < n; k++) {
			struct msd_buf out = {0};
			put(&out, texts[i][0], k);
			cr_expect(out.n <= k, "%zu of %s", k, texts[i][0]);
			msd_buf_finish(&out);
		}
	}
}

Test(relax_annotation, depth_is_bounded)
{
	enum { DEPTH = 5000, PIECE = 8 };
	char *text = malloc((size_t)DEPTH * PIECE);
	struct msd_buf out = {0};

	cr_assert_not_null(text);
	for (size_t i = 0; i < DEPTH; i++)
		memcpy(text + i * PIECE, "R.Tuple(", PIECE);
	put(&out, text, (size_t)DEPTH * PIECE);
	cr_expect_eq(out.n, (size_t)DEPTH * PIECE);
	msd_buf_finish(&out);
	free(text);
}
