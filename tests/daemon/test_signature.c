#include <criterion/criterion.h>
#include <stdio.h>

#include "daemon/supervisor/module/workers/signature.h"
#include "proto/value.h"
#include "tests/support/fail_alloc.h"

static void read_all(struct msd_function_signature *f, const struct msd_buf *b)
{
	cr_assert_eq(
		msd_function_signature_read(f, (struct msd_span){b->p, b->n}, NULL),
		MSD_OK);
}

/* A map of a prim function with @n more pairs to come. */
static struct msd_buf begin(uint32_t n)
{
	struct msd_buf b = {0};

	msd_pack_map(&b, 2 + n);
	msd_pack_pair_str(&b, "name", "add");
	msd_pack_pair_str(&b, "style", "prim");
	return b;
}

static void put_shape(struct msd_buf *b, const char *const *names, const int64_t *shape,
		      uint32_t n)
{
	msd_pack_cstr(b, "shape");
	msd_pack_array(b, n);
	for (uint32_t i = 0; i < n; i++)
		msd_pack_int(b, shape[i]);
	msd_pack_cstr(b, "extents");
	msd_pack_array(b, n);
	for (uint32_t i = 0; i < n; i++)
		msd_pack_cstr(b, names[i]);
}

static void put_tensor(struct msd_buf *b, const char *name, const char *const *names,
		       const int64_t *shape, uint32_t n)
{
	msd_pack_map(b, 5);
	msd_pack_pair_str(b, "name", name);
	msd_pack_pair_str(b, "kind", "tensor");
	msd_pack_pair_str(b, "dtype", "float32");
	put_shape(b, names, shape, n);
}

Test(signature, has_types_and_shapes_of_parameters)
{
	static const char *const names[] = {"n", "", "?"};
	static const int64_t shape[] = {-1, 4, -1};
	struct msd_buf b = begin(1);
	struct msd_function_signature f;

	msd_pack_cstr(&b, "params");
	msd_pack_array(&b, 2);
	put_tensor(&b, "x", names, shape, 3);
	put_tensor(&b, "y", names, shape, 1);
	read_all(&f, &b);
	cr_expect(f.is_prim && f.has_params && !f.has_results && !f.is_model);
	cr_assert_eq(f.n_params, 2);
	const struct msd_signature_param *x = &f.params[0], *y = &f.params[1];
	cr_expect(msd_span_is(x->name, "x") && msd_span_is(y->name, "y"));
	cr_expect(x->has_dtype && x->dtype.code == MSD_DT_FLOAT && x->dtype.bits == 32);
	cr_expect(x->has_shape && x->n_extents == 3 && y->n_extents == 1);
	for (int i = 0; i < 3; i++)
		cr_expect_eq(x->extents[i].value, shape[i]);
	cr_expect_eq(f.n_symbols, 1); /* the same name is the same symbol */
	cr_expect_eq(x->extents[0].symbol, 1);
	cr_expect_eq(y->extents[0].symbol, 1);
	cr_expect_eq(x->extents[1].symbol + x->extents[2].symbol, 0);
	msd_function_signature_finish(&f);
	msd_buf_finish(&b);
}

Test(signature, numbers_parameters_and_results_without_a_name)
{
	struct msd_buf b = begin(2);
	struct msd_function_signature f;

	msd_pack_cstr(&b, "params");
	msd_pack_array(&b, 1);
	msd_pack_map(&b, 1);
	msd_pack_pair_str(&b, "kind", "int");
	msd_pack_cstr(&b, "results");
	msd_pack_array(&b, 2);
	msd_pack_map(&b, 0);
	msd_pack_map(&b, 0);
	read_all(&f, &b);
	cr_expect(msd_span_is(f.params[0].name, "arg0"));
	cr_expect(f.params[0].kind == MSD_SIGNATURE_NUMBER &&
		  f.params[0].dtype.bits == 64);
	cr_expect_not(f.params[0].has_shape);
	cr_assert_eq(f.n_results, 2);
	cr_expect(msd_span_is(f.results[1].name, "output1"));
	msd_function_signature_finish(&f);
	msd_buf_finish(&b);
}

Test(signature, takes_an_unknown_kind_for_a_tensor)
{
	static const struct {
		const char *kind;
		enum msd_signature_kind is;
	} rows[] = {{"tensor", MSD_SIGNATURE_TENSOR}, {"unknown", MSD_SIGNATURE_TENSOR},
		    {"other", MSD_SIGNATURE_TENSOR},  {"bool", MSD_SIGNATURE_NUMBER},
		    {"str", MSD_SIGNATURE_OBJECT},    {"tuple", MSD_SIGNATURE_OBJECT},
		    {"shape", MSD_SIGNATURE_OBJECT}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct msd_buf b = begin(1);
		struct msd_function_signature f;

		msd_pack_cstr(&b, "params");
		msd_pack_array(&b, 1);
		msd_pack_map(&b, 1);
		msd_pack_pair_str(&b, "kind", rows[i].kind);
		read_all(&f, &b);
		cr_expect_eq(f.params[0].kind, rows[i].is, "%s", rows[i].kind);
		msd_function_signature_finish(&f);
		msd_buf_finish(&b);
	}
}

Test(signature, names_a_bounded_number_of_extents)
{
	char text[MSD_SIGNATURE_SYMBOLS + 2][8];
	struct msd_buf b = begin(1);
	struct msd_function_signature f;

	msd_pack_cstr(&b, "params");
	msd_pack_array(&b, MSD_SIGNATURE_SYMBOLS + 2);
	for (unsigned i = 0; i < MSD_SIGNATURE_SYMBOLS + 2; i++) {
		(void)snprintf(text[i], sizeof(text[i]), "n%u", i);
		put_tensor(&b, text[i], (const char *const[]){text[i]},
			   (const int64_t[]){-1}, 1);
	}
	read_all(&f, &b);
	cr_expect_eq(f.n_symbols, MSD_SIGNATURE_SYMBOLS);
	cr_expect_eq(f.params[MSD_SIGNATURE_SYMBOLS - 1].extents->symbol,
		     MSD_SIGNATURE_SYMBOLS);
	cr_expect_eq(f.params[MSD_SIGNATURE_SYMBOLS].extents->symbol, 0);
	msd_function_signature_finish(&f);
	msd_buf_finish(&b);
}

Test(signature, takes_any_shape_if_it_has_too_many_extents_or_names)
{
	static const char *const names[MSD_MAX_NDIM + 1] = {"n"};
	static const int64_t shape[MSD_MAX_NDIM + 1];
	struct msd_buf b = begin(1);
	struct msd_function_signature f;

	msd_pack_cstr(&b, "params");
	msd_pack_array(&b, 2);
	msd_pack_map(&b, 1);
	msd_pack_cstr(&b, "shape");
	msd_pack_array(&b, MSD_MAX_NDIM + 1);
	for (int i = 0; i < MSD_MAX_NDIM + 1; i++)
		msd_pack_int(&b, shape[i]);
	msd_pack_map(&b, 2);
	msd_pack_cstr(&b, "shape");
	msd_pack_array(&b, 0);
	msd_pack_cstr(&b, "extents");
	msd_pack_array(&b, 1);
	msd_pack_cstr(&b, names[0]);
	read_all(&f, &b);
	cr_expect_not(f.params[0].has_shape);
	cr_expect_eq(f.params[0].n_extents, MSD_MAX_NDIM + 1); /* it is listed */
	cr_expect(f.params[1].has_shape);
	cr_expect_eq(f.n_symbols, 0);
	msd_function_signature_finish(&f);
	msd_buf_finish(&b);
}

Test(signature, of_each_prefix_is_read_or_refused)
{
	static const char *const names[] = {"n", "m"};
	static const int64_t shape[] = {-1, -1};
	struct msd_buf b = begin(1);

	msd_pack_cstr(&b, "params");
	msd_pack_array(&b, 1);
	put_tensor(&b, "x", names, shape, 2);
	for (size_t n = 0; n < b.n; n++) {
		struct msd_function_signature f;
		struct msd_diag d = {0};
		const msd_err err =
			msd_function_signature_read(&f, (struct msd_span){b.p, n}, &d);
		cr_expect(err == MSD_OK || err == MSD_INTERNAL, "%zu", n);
		cr_expect_leq(f.n_params, 1);
		msd_function_signature_finish(&f);
		msd_diag_finish(&d);
	}
	msd_buf_finish(&b);
}

Test(signature, survives_each_failing_allocation)
{
	struct msd_buf b = begin(0);
	bool failed = true;

	for (unsigned k = 0; failed; k++) {
		struct msd_function_signature f;
		msd_fail_alloc(k);
		const msd_err err = msd_function_signature_read(
			&f, (struct msd_span){b.p, b.n}, NULL);
		failed = msd_fail_alloc_stop();
		cr_expect_eq(err, failed ? MSD_NOMEM : MSD_OK);
		msd_function_signature_finish(&f);
	}
	msd_buf_finish(&b);
}
