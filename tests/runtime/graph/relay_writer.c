#include "tests/runtime/graph/relay_writer.h"

#include <stdio.h>

void relay_begin(struct bw *b, int minor, size_t n_consts)
{
	relay_begin_on(b, minor, (const int[]){1}, 1, n_consts);
}

void relay_begin_on(struct bw *b, int minor, const int *types, size_t n_types,
		    size_t n_consts)
{
	char version[16];

	(void)snprintf(version, sizeof(version), "0.%d.0", minor);
	bw_u64(b, 0xD225DE2F4214151Dull);
	bw_str(b, version);
	if (minor >= 9) {
		bw_u64(b, n_types);
		for (size_t i = 0; i < n_types; i++) {
			bw_u32(b, (uint32_t)types[i]);
			bw_u32(b, 0);
			if (minor >= 14)
				bw_str(b, "global");
		}
		bw_u32(b, (uint32_t)n_types - 1); /* the host is the last */
	}
	bw_strs(b, (const char *const[]){"main", NULL});
	bw_u64(b, n_consts);
}

void relay_const_i64(struct bw *b, int minor, int64_t v)
{
	if (minor >= 9)
		bw_u32(b, 0);
	bw_tensor(b, 0, 64, NULL, 0, &v, sizeof(v));
}

void relay_const_f32(struct bw *b, int minor, const int64_t shape[2], const float *v)
{
	const uint64_t extents[] = {(uint64_t)shape[0], (uint64_t)shape[1]};

	if (minor >= 9)
		bw_u32(b, 0);
	bw_tensor(b, 2, 32, extents, 2, v, extents[0] * extents[1] * sizeof(*v));
}

void relay_middle(struct bw *b, size_t n_consts, const char *const *packed,
		  size_t n_funcs)
{
	relay_middle_on(b, n_consts, NULL, packed, n_funcs);
}

void relay_middle_on(struct bw *b, size_t n_consts, const int *devices,
		     const char *const *packed, size_t n_funcs)
{
	bw_u64(b, n_consts);
	for (size_t i = 0; i < n_consts;
	     i++) /* in 0.8 a type, of which 0 says nothing */
		bw_u64(b, devices != NULL ? (uint64_t)devices[i] : 0);
	bw_strs(b, packed);
	bw_u64(b, 1); /* attributes of packed function 0 */
	bw_u64(b, 0);
	bw_u64(b, 1);
	bw_str(b, "hash");
	bw_str(b, "0123");
	bw_u64(b, n_funcs);
}

void relay_ins(struct relay_code *c, int64_t op, size_t n, const int64_t *fields)
{
	uint64_t key = (uint64_t)op;

	for (size_t i = 0; i < n; i++) {
		key = key ^
		      ((uint64_t)fields[i] + 0x9e3779b9 + (key << 6) + (key >> 2));
	}
	bw_u64(&c->b, n + 2);
	bw_u64(&c->b, key);
	bw_u64(&c->b, (uint64_t)op);
	for (size_t i = 0; i < n; i++)
		bw_u64(&c->b, (uint64_t)fields[i]);
	c->n++;
}

void relay_func(struct bw *b, const char *name, unsigned n_regs,
		const char *const *params, struct relay_code *code)
{
	relay_func_on(b, name, n_regs, params, 0, code);
}

void relay_func_on(struct bw *b, const char *name, unsigned n_regs,
		   const char *const *params, int device, struct relay_code *code)
{
	char regs[16], n[16];
	size_t n_params = 0;

	(void)snprintf(regs, sizeof(regs), "%u", n_regs);
	(void)snprintf(n, sizeof(n), "%u", code->n);
	bw_strs(b, (const char *const[]){name, regs, n, NULL});
	bw_strs(b, params);
	while (params[n_params] != NULL)
		n_params++;
	bw_u64(b, n_params);
	for (size_t i = 0; i < n_params; i++)
		bw_u64(b, (uint64_t)device);
	bw_raw(b, code->b.p, code->b.n);
	bw_free(&code->b);
	*code = (struct relay_code){0};
}

struct bw relay_payload(struct bw *image)
{
	struct bw payload = {0};

	bw_str_of(&payload, image);
	bw_free(image);
	return payload;
}
