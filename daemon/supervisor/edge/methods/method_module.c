/*
 * The methods that load and unload modules.
 *
 * Happy path of a load: it takes a committed upload (method_upload.c) and starts the
 * module. The reply is sent when the module is READY or has FAILED.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/supervisor/edge/access/authorization.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/methods/load_options.h"
#include "daemon/supervisor/edge/methods/method.h"
#include "daemon/supervisor/edge/methods/unload.h"
#include "daemon/supervisor/edge/uploads/upload.h"
#include "daemon/supervisor/keep/keeper.h"
#include "daemon/supervisor/module/life/catalog.h"
#include "daemon/supervisor/module/life/life.h"
#include "daemon/supervisor/module/life/repository.h"
#include "daemon/supervisor/module/life/self_test_case.h"
#include "daemon/supervisor/module/queue/admit.h"
#include "proto/unpack.h"
#include "proto/words/external_data.h"

/* Waiting requests per connection and module. A state change answers all of them. */
#define MOST_WAITS 16u

/* The parameters of a load. */
struct wanted {
	struct msd_upload *upload;
	uint64_t part_bytes[MSD_PART_COUNT];
	struct msd_span beside; /* [[name, bytes]...] of the files after the model;
				   empty: none */
	struct msd_span file;   /* origin of the upload, shown to clients */
	struct msd_load load;
};

static const msgpack_object *param(const struct msd_method_call *c, uint32_t i)
{
	return &c->params->via.array.ptr[i];
}

msd_err msd_method_module(struct msd_method_call *c, struct msd_module **ret,
			  struct msd_diag *d)
{
	struct msd_span name;
	msd_err err = msd_object_str(param(c, 0), "name", &name, d);

	if (err != MSD_OK)
		return err;
	return msd_module_require(c->session->edge->registry, name, ret, d);
}

/* Create a request that the module answers when its state is final. */
static struct msd_req *later(struct msd_method_call *c, struct msd_module *m)
{
	struct msd_req *r = msd_method_later(c);

	if (r != NULL)
		msd_module_adopt(m, r);
	return r;
}

/* Read the list of files that follow the model in the upload. */
static msd_err read_beside(struct msd_method_call *c, struct wanted *w,
			   struct msd_diag *d)
{
	uint64_t *bytes = w->part_bytes;
	struct msd_cur items;
	uint32_t n;
	msd_err err = msd_map_uint(param(c, 2), "model", INT64_MAX,
				   &bytes[MSD_PART_MODEL], d);

	w->beside = msd_load_options_raw(c, "files");
	if (err != MSD_OK || (w->beside.n == 0 && bytes[MSD_PART_MODEL] == 0))
		return err;
	if (w->beside.n == 0 || !msd_array_open(w->beside, &items, &n)) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "module.load: files: expected [[name, bytes]...], "
				    "and model, the bytes of the model before them");
	}
	if (w->load.begins == MSD_LOAD_READING_KEPT) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "module.load: keep: a model with external data "
				    "files cannot be kept; join them into one file "
				    "(modser load and modser convert do)");
	}
	if (bytes[MSD_PART_GRAPH] > 0 || bytes[MSD_PART_PARAMS] > 0) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "module.load: files is for a framework's model, "
				    "graph and params are for a library");
	}
	err = msd_external_data_check((struct msd_span){items.p, items.left},
				      bytes[MSD_PART_MODEL], w->upload->bytes, d);
	return err == MSD_OK ? err : msd_diag_wrap(d, err, "module.load");
}

/* The tests stay msgpack; the module keeps them. */
static msd_err read_tests(struct msd_method_call *c, struct msd_load *ret,
			  struct msd_diag *d)
{
	uint64_t warmup = 0;
	uint32_t n;
	msd_err err =
		msd_map_uint(param(c, 2), "warmup", MSD_SELF_TEST_WARMUP, &warmup, d);

	if (err != MSD_OK)
		return err;
	ret->tests = msd_load_options_raw(c, "tests");
	ret->warmup = (uint32_t)warmup;
	return ret->tests.n > 0 ? msd_self_test_check(ret->tests, &n, d) : MSD_OK;
}

/* Read whether the store keeps the module. */
static msd_err read_keep(struct msd_method_call *c, struct msd_load *ret,
			 struct msd_diag *d)
{
	bool keeps = false;
	const msd_err err = msd_map_bool(param(c, 2), "keep", &keeps, d);

	ret->begins = keeps ? MSD_LOAD_READING_KEPT : MSD_LOAD_READING;
	if (err != MSD_OK || !keeps || c->session->edge->keeper->is_open)
		return err;
	return msd_diag_set(d, MSD_UNSUPPORTED,
			    "module.load: keep: this daemon has no store; start it "
			    "with --store DIR");
}

/* Read the sizes of a library's graph and parameters, which follow it in the upload. */
static msd_err read_parts(struct msd_method_call *c,
			  uint64_t ret[static MSD_PART_COUNT], struct msd_diag *d)
{
	const msd_err err =
		msd_map_uint(param(c, 2), "graph", INT64_MAX, &ret[MSD_PART_GRAPH], d);

	if (err != MSD_OK)
		return err;
	return msd_map_uint(param(c, 2), "params", INT64_MAX, &ret[MSD_PART_PARAMS], d);
}

static msd_err read_options(struct msd_method_call *c, struct wanted *w,
			    struct msd_diag *d)
{
	static const char *const own[] = {"replace", "file",  "graph",  "params",
					  "keep",    "tests", "warmup", "model",
					  "files",   NULL};

	if (msd_map_find(param(c, 2), "instances") != NULL) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "module.load: instances: say workers");
	}
	msd_err err = msd_load_options_read(c, own, &w->load.run, d);
	if (err == MSD_OK)
		err = msd_map_bool(param(c, 2), "replace", &w->load.replace, d);
	if (err == MSD_OK)
		err = read_keep(c, &w->load, d);
	if (err == MSD_OK)
		err = read_parts(c, w->part_bytes, d);
	if (err == MSD_OK)
		err = msd_map_str(param(c, 2), "file", &w->file, d);
	if (err == MSD_OK)
		err = read_tests(c, &w->load, d);
	return err == MSD_OK ? read_beside(c, w, d) : err;
}

/* Turn the upload into the module's source. */
static msd_err take_upload(struct wanted *w, struct msd_diag *d)
{
	const uint64_t *bytes = w->part_bytes;
	const bool has_parts = bytes[MSD_PART_GRAPH] > 0 ||
			       bytes[MSD_PART_PARAMS] > 0 || w->beside.n > 0;
	struct msd_buf list = {0};

	if (w->upload->is_found && has_parts) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "module.load: graph, params and files need an "
				    "upload, but the store has one file");
	}
	if (w->beside.n > 0)
		msd_buf_put(&list, w->beside.p, w->beside.n);
	msd_err err = list.bad ? msd_diag_no_memory(d)
			       : msd_upload_adopt(w->upload, &w->load.bringing, d);
	if (err != MSD_OK) {
		msd_buf_finish(&list);
		return err;
	}
	struct msd_source *source = &w->load.bringing->source;
	memcpy(source->part_bytes, bytes, sizeof(source->part_bytes));
	source->files = list;
	return MSD_OK;
}

/* Start the load of the source. Takes the source; @c is answered when the load ends. */
static msd_err start_load(struct msd_method_call *c, struct msd_span name,
			  struct wanted *w, struct msd_diag *d)
{
	const size_t n = w->file.n < 4096 ? w->file.n : 4096;
	char *label = strndup((const char *)w->file.p, n);
	struct msd_module *m;

	if (label == NULL) {
		msd_source_job_free(w->load.bringing);
		return msd_diag_no_memory(d);
	}
	w->load.file = label;
	msd_authorization_sign(c->session, &w->load);
	const msd_err err =
		msd_module_load(c->session->edge->registry, name, &w->load, &m, d);
	free(label);
	if (err != MSD_OK)
		return err;
	struct msd_req *r = later(c, m);
	if (r == NULL)
		return msd_diag_no_memory(d);
	msd_module_wait(m, r);
	return MSD_OK;
}

msd_err msd_method_load(struct msd_method_call *c, struct msd_diag *d)
{
	struct wanted w = {.file = msd_span_of("upload"), .load.source.fd = -1};
	struct msd_span name;
	msd_err err = msd_object_str(param(c, 0), "name", &name, d);

	if (err == MSD_OK)
		err = msd_method_find_upload(c, 1, &w.upload, d);
	if (err == MSD_OK && c->params->via.array.size > 2)
		err = read_options(c, &w, d);
	if (err == MSD_OK)
		err = take_upload(&w, d);
	return err == MSD_OK ? start_load(c, name, &w, d) : err;
}

msd_err msd_method_wait(struct msd_method_call *c, struct msd_diag *d)
{
	struct msd_module *m;
	msd_err err = msd_method_module(c, &m, d);

	if (err != MSD_OK)
		return err;
	m = m->successor != NULL ? m->successor : m;
	err = msd_client_may_wait(&c->session->client, c->method, m, MOST_WAITS, d);
	if (err != MSD_OK)
		return err;
	struct msd_req *r = later(c, m);
	if (r == NULL)
		return msd_diag_no_memory(d);
	msd_module_wait(m, r);
	return MSD_OK;
}

msd_err msd_method_sleep(struct msd_method_call *c, struct msd_diag *d)
{
	struct msd_module *m;
	msd_err err = msd_method_module(c, &m, d);

	if (err == MSD_OK)
		err = msd_module_sleep(m, d);
	if (err == MSD_OK)
		msd_pack_nil(&c->result);
	return err;
}

msd_err msd_method_rollback(struct msd_method_call *c, struct msd_diag *d)
{
	struct msd_edge *e = c->session->edge;
	struct msd_module *m;
	msd_err err = msd_method_module(c, &m, d);

	if (err != MSD_OK)
		return err;
	if (!e->keeper->is_open) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "module.rollback: this daemon has no store; start "
				    "it with --store DIR");
	}
	struct msd_req *r = msd_method_later(c);
	if (r == NULL)
		return msd_diag_no_memory(d);
	struct msd_repository *repository = e->registry->repository;
	repository->ops->load(repository, m->group.name, NULL, false, NULL, r);
	return MSD_OK;
}

msd_err msd_method_unload(struct msd_method_call *c, struct msd_diag *d)
{
	struct msd_edge *e = c->session->edge;
	struct msd_module *m;
	struct msd_span name;
	msd_err err = msd_object_str(param(c, 0), "name", &name, d);

	if (err != MSD_OK)
		return err;
	const bool was_pulled = msd_method_pull_stop(e, name);
	err = msd_method_module(c, &m, d);
	if (err == MSD_NOT_FOUND && was_pulled) { /* only the pull existed */
		msd_diag_finish(d);
		msd_pack_nil(&c->result);
		return MSD_OK;
	}
	if (err != MSD_OK)
		return err;
	if (e->keeper->is_open)
		return msd_unload_stored(c, m, d);
	struct msd_req *r = later(c, m);
	if (r == NULL)
		return msd_diag_no_memory(d);
	msd_waiters_wait(&m->unloaders, r);
	msd_module_unload(m);
	return MSD_OK;
}
