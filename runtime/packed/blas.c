/*
 * tvm.contrib.cblas.*: matrix products with the system's BLAS. No BLAS is linked: the
 * first call looks for one. If there is none, calls fail with the list of libraries
 * that were tried.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "artifact/provides/packed.h"
#include "runtime/packed/args.h"
#include "runtime/packed/global.h"

/* cblas.h */
enum { ROW_MAJOR = 101, NO_TRANS = 111, TRANS = 112 };
typedef void (*sgemm_fn)(int order, int trans_a, int trans_b, int m, int n, int k,
			 float alpha, const float *a, int lda, const float *b, int ldb,
			 float beta, float *c, int ldc);
typedef void (*dgemm_fn)(int order, int trans_a, int trans_b, int m, int n, int k,
			 double alpha, const double *a, int lda, const double *b,
			 int ldb, double beta, double *c, int ldc);

/* Best first. On Debian all have cblas_*. */
static const char *const libraries[] = {"libopenblas.so.0", "libcblas.so.3",
					"libblas.so.3"};
#define LIBRARY_NAMES "libopenblas.so.0, libcblas.so.3, libblas.so.3"

static sgemm_fn sgemm;
static dgemm_fn dgemm;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void)
{
	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
		void *library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
		void *single;
		void *twice;

		if (library == NULL)
			continue;
		single = dlsym(library, "cblas_sgemm");
		twice = dlsym(library, "cblas_dgemm");
		if (single != NULL && twice != NULL) { /* never unmapped */
			memcpy(&sgemm, &single, sizeof(sgemm));
			memcpy(&dgemm, &twice, sizeof(dgemm));
			return;
		}
		(void)dlclose(library);
	}
}

/* One operand: a matrix or a batch of matrices. */
struct matrix {
	const struct msd_dltensor *t;
	int64_t batch; /* 1 if there is no batch */
	int64_t rows;  /* after the transposition */
	int64_t columns;
	int64_t ld;
	bool is_transposed; /* in memory */
};

static bool refuse_strides(int32_t i)
{
	(void)msd_abi_raise("ValueError",
			    "argument %d: expected rows or columns without gaps",
			    (int)i);
	return false;
}

/* Argument @i, with 2 + @n_batch dimensions. */
static bool matrix_open(struct msd_args a, int32_t i, int32_t n_batch, bool transpose,
			struct matrix *ret)
{
	struct msd_dltensor *t;

	if (!msd_args_host_tensor(a, i, &t))
		return false;
	if (t->ndim != 2 + n_batch) {
		(void)msd_abi_raise("ValueError",
				    "argument %d: expected %d dimensions but got "
				    "%" PRId32,
				    (int)i, 2 + (int)n_batch, t->ndim);
		return false;
	}
	const int64_t *shape = t->shape + n_batch;
	int64_t strides[] = {shape[1], 1};
	if (t->strides != NULL)
		memcpy(strides, t->strides + n_batch, sizeof(strides));
	const bool by_columns = t->strides != NULL && strides[1] > strides[0];
	*ret = (struct matrix){.t = t,
			       .batch = n_batch > 0 ? t->shape[0] : 1,
			       .rows = shape[transpose ? 1 : 0],
			       .columns = shape[transpose ? 0 : 1],
			       .ld = strides[by_columns ? 1 : 0],
			       .is_transposed = by_columns != transpose};
	const int64_t width = shape[by_columns ? 0 : 1];
	if (strides[by_columns ? 0 : 1] != 1 || (ret->ld < width && ret->rows > 1))
		return refuse_strides(i);
	if (ret->ld < width)
		ret->ld = width;
	if (ret->ld < 1)
		ret->ld = 1;
	if (ret->ld <= INT32_MAX && shape[0] <= INT32_MAX && shape[1] <= INT32_MAX)
		return true;
	(void)msd_abi_raise("ValueError", "argument %d: too large for a BLAS", (int)i);
	return false;
}

struct product {
	struct matrix a;
	struct matrix b;
	struct matrix c;
	double alpha;
	double beta;
	bool is_double;
};

static bool refuse_shapes(const struct product *p)
{
	(void)msd_abi_raise("ValueError",
			    "cannot multiply [%" PRId64 ", %" PRId64 "] by [%" PRId64
			    ", %" PRId64 "] into [%" PRId64 ", %" PRId64 "]",
			    p->a.rows, p->a.columns, p->b.rows, p->b.columns, p->c.rows,
			    p->c.columns);
	return false;
}

static bool batch_fits(const struct matrix *m, int64_t batch)
{
	return m->batch == 1 || m->batch == batch;
}

/* (A, B, C, transpose A, transpose B[, alpha[, beta]]) */
static bool product_open(struct msd_args a, int32_t n_batch, struct product *ret)
{
	const struct msd_dtype float32 = {MSD_DT_FLOAT, 32, 1};
	const struct msd_dtype float64 = {MSD_DT_FLOAT, 64, 1};
	int64_t transpose[2];

	*ret = (struct product){.alpha = 1};
	if (!msd_args_count(a, 5, 7) || !msd_args_int(a, 3, &transpose[0]) ||
	    !msd_args_int(a, 4, &transpose[1]) ||
	    !matrix_open(a, 0, n_batch, transpose[0] != 0, &ret->a) ||
	    !matrix_open(a, 1, n_batch, transpose[1] != 0, &ret->b) ||
	    !matrix_open(a, 2, n_batch, false, &ret->c) ||
	    (a.n > 5 && !msd_args_float(a, 5, &ret->alpha)) ||
	    (a.n > 6 && !msd_args_float(a, 6, &ret->beta)))
		return false;
	if (ret->c.is_transposed)
		return refuse_strides(2);
	ret->is_double = msd_dtype_eq(ret->a.t->dtype, float64);
	const struct msd_dtype want = ret->is_double ? float64 : float32;
	const struct matrix *all[] = {&ret->a, &ret->b, &ret->c};
	for (int32_t i = 0; i < 3; i++) {
		if (!msd_dtype_eq(all[i]->t->dtype, want)) {
			return msd_args_refuse(a, i, "float32 or float64, all alike") ==
			       0;
		}
	}
	if (ret->a.columns != ret->b.rows || ret->a.rows != ret->c.rows ||
	    ret->b.columns != ret->c.columns || !batch_fits(&ret->a, ret->c.batch) ||
	    !batch_fits(&ret->b, ret->c.batch))
		return refuse_shapes(ret);
	return true;
}

/* Matrix @i of a batch; a batch of one is used for every @i. */
static void *matrix_at(const struct matrix *m, int64_t i)
{
	const struct msd_dltensor *t = m->t;
	int64_t stride = 0;

	if (t->ndim == 3 && t->shape[0] > 1)
		stride = t->strides != NULL ? t->strides[0] : t->shape[1] * t->shape[2];
	return (char *)msd_dltensor_at(t) + i * stride * (t->dtype.bits / 8);
}

static void multiply(const struct product *p, int64_t i)
{
	const int trans_a = p->a.is_transposed ? TRANS : NO_TRANS;
	const int trans_b = p->b.is_transposed ? TRANS : NO_TRANS;
	const int m = (int)p->c.rows;
	const int n = (int)p->c.columns;
	const int k = (int)p->a.columns;
	const void *a = matrix_at(&p->a, i);
	const void *b = matrix_at(&p->b, i);
	void *c = matrix_at(&p->c, i);

	if (p->is_double) {
		dgemm(ROW_MAJOR, trans_a, trans_b, m, n, k, p->alpha, a, (int)p->a.ld,
		      b, (int)p->b.ld, p->beta, c, (int)p->c.ld);
	} else {
		sgemm(ROW_MAJOR, trans_a, trans_b, m, n, k, (float)p->alpha, a,
		      (int)p->a.ld, b, (int)p->b.ld, (float)p->beta, c, (int)p->c.ld);
	}
}

static int run(struct msd_args a, int32_t n_batch)
{
	struct product p;

	if (!product_open(a, n_batch, &p))
		return -1;
	(void)pthread_once(&once, load);
	if (sgemm == NULL) {
		return msd_abi_raise_code(MSD_UNSUPPORTED,
					  "no BLAS here: looked for cblas_sgemm and "
					  "cblas_dgemm in " LIBRARY_NAMES);
	}
	for (int64_t i = 0; i < p.c.batch; i++)
		multiply(&p, i);
	return 0;
}

static int matmul(void *self, const struct msd_any *args, int32_t n,
		  struct msd_any *ret)
{
	(void)self;
	(void)ret;
	return run((struct msd_args){args, n}, 0);
}

static int batch_matmul(void *self, const struct msd_any *args, int32_t n,
			struct msd_any *ret)
{
	(void)self;
	(void)ret;
	return run((struct msd_args){args, n}, 1);
}

const struct msd_global msd_globals_blas[] = MSD_GLOBAL_TABLE(MSD_PACKED_BLAS);
