#include "tests/artifact/relax_writer.h"

#include <string.h>

#include "tests/artifact/payload_writer.h"

struct rw_image rw_program(enum rw_tags tags)
{
	static const int64_t words[] = {
		1, 2,       0, 5, 0, RW_CONST(0), RW_IMM(-7), RW_VM, RW_FUNC(2), /* 0 */
		4, 2,       2,                                                   /* 1 */
		3, 2,                                                            /* 2 */
		1, RW_VOID, 2, 1, 2,                                             /* 3 */
		2, 2,                                                            /* 4 */
		2, 0,                                                            /* 5 */
	};
	static const int64_t offsets[] = {0, 9, 12, 14, 19, 21};
	struct rw_image img = {
		.is_v2 = tags == RW_022,
		.version = "0.14",
		.tags = tags,
		.funcs = {{0, "add", 0, 0, -2, 0, {NULL}},
			  {1, "main", 0, 5, 2, 4, {"x", "y", NULL}},
			  {1, "helper", 5, 6, 1, 1, {"x", NULL}},
			  {2, "compiled", 0, 0, 1, 3, {"x", NULL}}},
		.n_funcs = 4,
		.scope_of = tags == RW_022 ? 0 : -1,
		.n_instrs = sizeof(offsets) / sizeof(*offsets),
		.n_words = sizeof(words) / sizeof(*words),
	};

	memcpy(img.words, words, sizeof(words));
	memcpy(img.offsets, offsets, sizeof(offsets));
	return img;
}

/* The tags of tensor, shape, string, int, float, dtype in each set. */
static const uint32_t tag_sets[][6] = {
	[RW_CLASSIC] = {0, 2, 3, 4, 5, 1},
	[RW_021] = {72, 71, 65, 1, 3, 5},
	[RW_022] = {70, 69, 65, 1, 3, 5},
};

static void put_consts(struct bw *b, enum rw_tags tags)
{
	static const uint64_t shape[] = {2, 3};
	const uint32_t *tag = tag_sets[tags];

	bw_u64(b, 6);
	bw_u32(b, tag[0]);
	pw_tensor(b);
	bw_u32(b, tag[1]);
	bw_u64s(b, shape, 2);
	bw_u32(b, tag[2]);
	bw_str(b, "ctx");
	bw_u32(b, tag[3]);
	bw_u64(b, (uint64_t)-4);
	bw_u32(b, tag[4]);
	bw_f64(b, 2.5);
	bw_u32(b, tag[5]);
	bw_raw(b, "\x02\x20\x01\x00", 4); /* float, 32 bits, 1 lane */
}

static void put_i64s(struct bw *b, const int64_t *v, size_t n)
{
	bw_u64(b, n);
	for (size_t i = 0; i < n; i++)
		bw_u64(b, (uint64_t)v[i]);
}

void rw_write(struct bw *b, const struct rw_image *img)
{
	bw_u64(b, img->is_v2 ? 0xD225DE2F4214151Eull : 0xD225DE2F4214151Dull);
	bw_str(b, img->version);
	bw_u64(b, img->n_funcs);
	for (size_t i = 0; i < img->n_funcs; i++) {
		const struct rw_func *f = &img->funcs[i];

		bw_u32(b, f->kind);
		bw_str(b, f->name);
		bw_u64(b, (uint64_t)f->start);
		bw_u64(b, (uint64_t)f->end);
		bw_u64(b, (uint64_t)f->n_args);
		bw_u64(b, (uint64_t)f->n_regs);
		bw_strs(b, f->params);
	}
	if (img->is_v2) {
		bw_u64(b, img->scope_of >= 0 ? 1 : 0);
		if (img->scope_of >= 0) {
			bw_u64(b, (uint64_t)img->scope_of);
			bw_str(b, "global");
		}
	}
	put_consts(b, img->tags);
	put_i64s(b, img->offsets, img->n_instrs);
	put_i64s(b, img->words, img->n_words);
}
