#include "daemon/fetch/put_fetched.h"

#include <string.h>

#include "proto/value.h"

static void put_digest(struct msd_buf *b, const char *key,
		       const struct msd_digest *digest)
{
	msd_pack_cstr(b, key);
	msd_pack_bin(b, digest->b, MSD_DIGEST_BYTES);
}

static void put_tensors(struct msd_buf *b, const char *key,
			const struct msd_vector_tensor *all, uint32_t n)
{
	msd_pack_cstr(b, key);
	msd_pack_array(b, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct msd_vector_tensor *t = &all[i];
		char name[MSD_DTYPE_NAME_MAX];

		msd_pack_map(b, 3);
		msd_pack_pair_str(b, "dtype", msd_dtype_format(t->dtype, name));
		msd_pack_cstr(b, "shape");
		msd_pack_array(b, t->ndim);
		for (uint32_t k = 0; k < t->ndim; k++)
			msd_pack_uint(b, (uint64_t)t->shape[k]);
		msd_pack_cstr(b, "data");
		msd_pack_bin(b, t->data, (size_t)t->bytes);
	}
}

static void pack_tests(struct msd_buf *b, const struct msd_vectors *tests)
{
	msd_pack_array(b, tests->n);
	for (uint32_t i = 0; i < tests->n; i++) {
		const struct msd_vector *v = &tests->at[i];

		msd_pack_map(b, 5);
		msd_pack_pair_str(b, "function", v->function);
		put_tensors(b, "inputs", v->inputs, v->n_inputs);
		put_tensors(b, "outputs", v->outputs, v->n_outputs);
		msd_pack_cstr(b, "rtol");
		msd_pack_float(b, v->rtol);
		msd_pack_cstr(b, "atol");
		msd_pack_float(b, v->atol);
	}
}

/* The receiver passes the tests on unchanged and parses them when it needs them. */
static void put_tests(struct msd_buf *b, const struct msd_vectors *tests)
{
	struct msd_buf packed = {0};

	if (tests->n > 0)
		pack_tests(&packed, tests);
	msd_pack_cstr(b, "tests");
	msd_pack_bin(b, packed.p, packed.n);
	b->bad = b->bad || packed.bad;
	msd_buf_finish(&packed);
}

static void put_text(struct msd_buf *b, const char *key, const struct msd_buf *text)
{
	msd_pack_cstr(b, key);
	msd_pack_bin(b, text->p, text->n);
}

/* No texts for an edition that is already present, or for a manifest that was
 * generated here. */
static bool has_texts(const struct msd_job *job)
{
	return job->plan.has_manifest && !job->plan.is_had &&
	       (job->uri.scheme != MSD_SCHEME_MODSER ||
		job->transfer.papers.manifest_bytes > 0);
}

static void put_manifest(struct msd_buf *b, const struct msd_fetch_steps *p)
{
	put_digest(b, "edition", &p->edition);
	msd_pack_pair_uint(b, "version", p->manifest.version);
	msd_pack_pair_uint(b, "created", p->manifest.created_s);
	msd_pack_pair_uint(b, "warmup", p->manifest.warmup);
	msd_pack_cstr(b, "signers");
	msd_pack_bin(b, p->signers.ids, p->signers.n * sizeof(p->signers.ids[0]));
	put_tests(b, &p->manifest.tests);
}

void msd_put_fetched(struct msd_buf *ret, const struct msd_job *job)
{
	const struct msd_fetch_steps *p = &job->plan;
	const char *etag = msd_job_etag(job);
	const bool has_name = !p->is_had && job->oci.has_first;

	msd_pack_map(ret, 4u + (etag != NULL) + has_name + (p->has_manifest ? 6u : 0u) +
				  (has_texts(job) ? 2u : 0u));
	msd_pack_pair_uint(ret, "bytes", p->is_had ? 0 : job->landing.bytes);
	put_digest(ret, "sha256", &job->digest);
	msd_pack_pair_str(ret, "file", msd_job_file(job));
	msd_pack_cstr(ret, "parts");
	msd_pack_array(ret, MSD_FETCH_STEPS_PARTS);
	for (unsigned i = 0; i < MSD_FETCH_STEPS_PARTS; i++)
		msd_pack_uint(ret, p->part_bytes[i]);
	if (etag != NULL)
		msd_pack_pair_str(ret, "etag", etag);
	if (has_name)
		put_digest(ret, "name", &job->oci.first);
	if (p->has_manifest)
		put_manifest(ret, p);
	if (has_texts(job)) {
		put_text(ret, "manifest", &p->text);
		put_text(ret, "signature", &p->signature);
	}
}
