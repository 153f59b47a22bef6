/*
 * Kinds of vendors' own compilers ("bring your own codegen"). None of them can run
 * without the vendor's library; their layouts are needed to find the modules behind
 * them.
 */
#include "artifact/kind/private.h"

/* Most payloads are fields, one after the other. */
struct field {
	msd_err (*read)(struct msd_cur *c, struct msd_payload_info *info,
			const char *key, struct msd_diag *d); /* NULL ends the list */
	const char *key;
};

static msd_err read_fields(const struct field *f, struct msd_cur *c,
			   struct msd_payload_info *info, struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (; err == MSD_OK && f->read != NULL; f++)
		err = f->read(c, info, f->key, d);
	return err;
}

/* A function's name, which other modules find here. */
static msd_err read_symbol(struct msd_cur *c, struct msd_payload_info *info,
			   const char *key, struct msd_diag *d)
{
	struct msd_cur ahead = *c;
	struct msd_span symbol = msd_cur_str64(&ahead);
	msd_err err = msd_payload_str(c, info, key, d);

	if (err == MSD_OK && info != NULL && !msd_payload_info_offer(info, symbol))
		err = msd_diag_no_memory(d);
	return err;
}

/* The constants lie in a const_loader. */
msd_err msd_payload_json_runtime(struct msd_cur *c, enum msd_era era,
				 struct msd_payload_info *info, struct msd_diag *d)
{
	static const struct field fields[] = {
		{read_symbol, "symbol"},
		{msd_payload_bytes, "graph"},
		{msd_payload_names, "constant names"},
		{NULL, NULL},
	};
	(void)era;

	return read_fields(fields, c, info, d);
}

/* vec<u32> */
static void skip_orders(struct msd_cur *c)
{
	size_t n = msd_cur_count64(c, sizeof(uint32_t));

	(void)msd_cur_take(c, n * sizeof(uint32_t));
}

/* Symbol, compiled bytes, order (and since 0.10 sizes) of inputs and of outputs. */
static void skip_network(struct msd_cur *c, bool has_sizes)
{
	(void)msd_cur_str64(c);
	(void)msd_cur_str64(c);
	for (int side = 0; side < 2; side++) {
		struct msd_cur ahead = *c;
		uint64_t n = msd_cur_u64(&ahead);

		skip_orders(c);
		if (has_sizes && !c->bad && n <= c->left / sizeof(uint32_t))
			(void)msd_cur_take(c, (size_t)n * sizeof(uint32_t));
		else if (has_sizes)
			c->bad = true;
	}
}

/* Whether a module's key, or nothing at all, follows. */
static bool is_at_boundary(struct msd_cur c)
{
	if (c.left == 0)
		return !c.bad;
	struct msd_span key = msd_cur_str64(&c);
	if (c.bad || key.n == 0 || key.n > 64)
		return false;
	for (size_t i = 0; i < key.n; i++) {
		if (key.p[i] <= 0x20 || key.p[i] >= 0x7f)
			return false;
	}
	return true;
}

/* Two layouts without a stamp: the one that ends where a payload can end is it. */
msd_err msd_payload_ethos_n(struct msd_cur *c, enum msd_era era,
			    struct msd_payload_info *info, struct msd_diag *d)
{
	(void)era;
	for (int has_sizes = 1; has_sizes >= 0; has_sizes--) {
		struct msd_cur at = *c;
		size_t n = msd_cur_count64(&at, 4 * sizeof(uint64_t));

		for (size_t i = 0; i < n && !at.bad; i++)
			skip_network(&at, has_sizes != 0);
		if (at.bad || !is_at_boundary(at))
			continue;
		*c = at;
		if (info != NULL && !msd_payload_info_add(info, "networks", "%zu", n))
			return msd_diag_no_memory(d);
		return MSD_OK;
	}
	return msd_payload_truncated(d, "networks");
}

msd_err msd_payload_vitis(struct msd_cur *c, enum msd_era era,
			  struct msd_payload_info *info, struct msd_diag *d)
{
	static const struct field fields[] = {
		{msd_payload_bytes, "model"},
		{msd_payload_str, "export path"},
		{msd_payload_str, "symbol"},
		{msd_payload_names, "constant names"},
		{NULL, NULL},
	};
	(void)era;

	return read_fields(fields, c, info, d);
}

/* coreml, torch */
msd_err msd_payload_symbol_code(struct msd_cur *c, enum msd_era era,
				struct msd_payload_info *info, struct msd_diag *d)
{
	static const struct field fields[] = {
		{msd_payload_str, "symbol"},
		{msd_payload_bytes, "code"},
		{NULL, NULL},
	};
	(void)era;

	return read_fields(fields, c, info, d);
}

msd_err msd_payload_mrvl(struct msd_cur *c, enum msd_era era,
			 struct msd_payload_info *info, struct msd_diag *d)
{
	static const struct field fields[] = {
		{read_symbol, "symbol"},
		{msd_payload_bytes, "graph"},
		{msd_payload_bytes, "code"},
		{NULL, NULL},
	};
	(void)era;

	return read_fields(fields, c, info, d);
}

msd_err msd_payload_static_library(struct msd_cur *c, enum msd_era era,
				   struct msd_payload_info *info, struct msd_diag *d)
{
	static const struct field fields[] = {
		{msd_payload_bytes, "object"},
		{msd_payload_names, "functions"},
		{NULL, NULL},
	};
	(void)era;

	return read_fields(fields, c, info, d);
}

msd_err msd_payload_c_source(struct msd_cur *c, enum msd_era era,
			     struct msd_payload_info *info, struct msd_diag *d)
{
	static const struct field fields[] = {
		{msd_payload_bytes, "code"},
		{msd_payload_str, "format"},
		{msd_payload_names, "functions"},
		{msd_payload_names, "constant names"},
		{NULL, NULL},
	};
	(void)era;

	return read_fields(fields, c, info, d);
}
