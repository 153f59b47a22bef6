/*
 * worker.open: map and load the artifact, get its signatures, place it on a device,
 * and describe it.
 *
 * Happy path: the options are read. Limits are set and the sandbox is entered before
 * foreign code runs (resource_limits.c, sandbox.c). Plugins register their functions,
 * the library is opened (runtime/load), its functions are probed (probe.c, in a child
 * first), and device code goes to its driver. The reply describes the module
 * (describe.c). worker.resume, from the next supervisor, only sends that reply.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/confine/crash.h"
#include "daemon/confine/resource_limits.h"
#include "daemon/segments/ledger.h"
#include "daemon/worker/describe.h"
#include "daemon/worker/direct/busy_poll.h"
#include "daemon/worker/handlers.h"
#include "daemon/worker/objects/pinned_segments.h"
#include "daemon/worker/probe.h"
#include "daemon/worker/weights.h"
#include "proto/base/clock.h"
#include "proto/name.h"
#include "proto/value.h"
#include "proto/words/external_data.h"
#include "proto/words/run_options.h"
#include "runtime/load/foresee.h"
#include "runtime/load/plugin.h"
#include "runtime/pool/pool.h"

/* The request's only parameter. Spans borrow from the request. */
struct open_params {
	struct msd_span name;
	struct msd_span file;
	uint64_t workers; /* processes that share the cores; 0: not given */
	uint64_t max_out; /* bytes */
	uint64_t spin; /* microseconds of busy polling for a direct peer's next call */
	struct msd_resource_limits allowance;
	struct msd_device device; /* type 0: the device that the module has code for */
	uint64_t graph, params;   /* bytes of each behind the library */
	uint64_t model;           /* bytes of a model before its files; 0: none */
	struct msd_span files;    /* proto/words/external_data.h */
	struct msd_run_options run;
	struct msd_sandbox_plan sandbox; /* its spans are concatenated strs */
};

/* Keys whose value is a count, and their fields. */
static const struct {
	const char *key;
	size_t offset;
} counts[] = {
	{"workers", offsetof(struct open_params, workers)},
	{"max_out", offsetof(struct open_params, max_out)},
	{"spin_us", offsetof(struct open_params, spin)},
	{"max_data", offsetof(struct open_params, allowance.max_data)},
	{"max_lent", offsetof(struct open_params, allowance.max_lent)},
	{"max_files", offsetof(struct open_params, allowance.max_files)},
	{"max_core", offsetof(struct open_params, allowance.max_core)},
	{"graph", offsetof(struct open_params, graph)},
	{"params", offsetof(struct open_params, params)},
	{"model", offsetof(struct open_params, model)},
};

/* False if the key or its type does not match. */
static bool take_count(struct open_params *p, struct msd_span key,
		       const struct msd_wire_value *v)
{
	if (v->kind != MSD_K_INT || v->as.i < 0)
		return false;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		if (!msd_span_is(key, counts[i].key))
			continue;
		*(uint64_t *)(void *)((char *)p + counts[i].offset) = (uint64_t)v->as.i;
		return true;
	}
	return false;
}

static bool take_text(struct open_params *p, struct msd_span key, struct msd_span text)
{
	if (msd_span_is(key, "name")) {
		p->name = text;
		return true;
	}
	if (!msd_span_is(key, "file"))
		return false;
	p->file = text;
	return true;
}

static bool take_list(struct open_params *p, struct msd_span key, struct msd_span items)
{
	struct msd_sandbox_plan *s = &p->sandbox;
	struct msd_span *ret = msd_span_is(key, "plugins")     ? &s->plugins
			       : msd_span_is(key, "files")     ? &p->files
			       : msd_span_is(key, "may_read")  ? &s->reads
			       : msd_span_is(key, "may_write") ? &s->writes
							       : NULL;

	if (ret != NULL)
		*ret = items;
	return ret != NULL;
}

static msd_err read_param(struct msd_cur *c, struct open_params *p, struct msd_diag *d)
{
	struct msd_wire_value key, v;
	msd_err err = msd_value_read(c, &key, d);

	if (err == MSD_OK)
		err = msd_value_read(c, &v, d);
	if (err != MSD_OK)
		return err;
	if (key.kind != MSD_K_STR)
		return msd_diag_set(d, MSD_BAD_REQUEST, "a key is not text");
	const struct msd_run_key *run = msd_run_key_of_wire(key.as.str, MSD_RUN_WORKER);
	if (run != NULL)
		return msd_run_option_read(run, &v, &p->run, d);
	if (v.kind == MSD_K_STR && take_text(p, key.as.str, v.as.str))
		return MSD_OK;
	if (v.kind == MSD_K_DEVICE && msd_span_is(key.as.str, "device")) {
		p->device = v.as.device;
		return MSD_OK;
	}
	if (v.kind == MSD_K_TUPLE && take_list(p, key.as.str, v.as.tuple.items))
		return MSD_OK;
	if (take_count(p, key.as.str, &v))
		return MSD_OK;
	return msd_diag_set(d, MSD_BAD_REQUEST, "unknown key, or not its type: %.*s",
			    (int)key.as.str.n, (const char *)key.as.str.p);
}

static msd_err read_params(const struct msd_request *r, struct open_params *ret,
			   struct msd_diag *d)
{
	struct msd_cur c, map;
	uint32_t n;
	struct msd_span object;

	*ret = (struct open_params){.max_out = MSD_WORKER_DEFAULT_MAX_OUT};
	if (!msd_array_open(r->params, &c, &n) || n != 1 ||
	    !msd_object_parse(&c, &object) || !msd_map_open(object, &map, &n))
		return msd_diag_set(d, MSD_BAD_REQUEST, "expected [{name, file, ...}]");
	for (uint32_t i = 0; i < n; i++) {
		msd_err err = read_param(&map, ret, d);
		if (err != MSD_OK)
			return err;
	}
	if (!msd_name_valid(ret->name))
		return msd_diag_set(d, MSD_BAD_REQUEST, "invalid module name");
	return MSD_OK;
}

/* The file stays mapped for the life of the process: the module borrows its bytes. */
static msd_err map_artifact(struct msd_worker *w, struct msd_diag *d)
{
	struct stat st;

	if (fstat(w->artifact_fd, &st) != 0 || st.st_size <= 0)
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "the file is empty");
	void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, w->artifact_fd,
		       0);
	if (p == MAP_FAILED)
		return msd_diag_set(d, MSD_IO, "cannot map the file");
	w->file = (struct msd_span){p, (size_t)st.st_size};
	w->mapped_bytes = w->file.n;
	return MSD_OK;
}

/* Runs rarely read what the load has packed or copied. The mapping is private and never
 * written, so pages that a run reads come back from the file. */
static void release_pages(const struct msd_worker *w)
{
	(void)madvise((void *)(uintptr_t)w->file.p, w->mapped_bytes, MADV_DONTNEED);
}

/* Cut the last @bytes off @file. */
static struct msd_span take_end(struct msd_span *file, uint64_t bytes)
{
	file->n -= (size_t)bytes;
	return (struct msd_span){file->p + file->n, (size_t)bytes};
}

/* Split the library from a graph and its parameters, or from the model and its files,
 * if present. */
static msd_err split_artifact(struct msd_worker *w, const struct open_params *p,
			      struct msd_load_options *options, struct msd_diag *d)
{
	if (p->graph >= w->file.n || p->params >= w->file.n - p->graph) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "a graph of %llu and parameters of %llu bytes "
				    "after a library: the whole file has %zu",
				    (unsigned long long)p->graph,
				    (unsigned long long)p->params, w->file.n);
	}
	if (p->model > 0) {
		const msd_err err =
			msd_external_data_check(p->files, p->model, w->file.n, d);

		if (err != MSD_OK)
			return err;
		w->file.n = (size_t)p->model;
		options->files = p->files;
		return MSD_OK;
	}
	options->params = take_end(&w->file, p->params);
	options->graph = take_end(&w->file, p->graph);
	return MSD_OK;
}

static msd_err open_plugin(struct msd_span path, struct msd_diag *d)
{
	char *text = strndup((const char *)path.p, path.n);

	if (text == NULL)
		return msd_diag_no_memory(d);
	msd_crash_note("registration of plugin", text);
	const msd_err err = msd_load_plugin(text, d);
	msd_crash_note(NULL, NULL);
	free(text);
	return err;
}

static msd_err open_plugins(const struct open_params *p, struct msd_diag *d)
{
	struct msd_cur c = msd_cur_of(p->sandbox.plugins);
	msd_err err = MSD_OK;

	while (err == MSD_OK && c.left > 0) {
		struct msd_wire_value path;

		err = msd_value_read(&c, &path, d);
		if (err == MSD_OK && path.kind != MSD_K_STR) {
			err = msd_diag_set(d, MSD_BAD_REQUEST,
					   "worker.open: a plugin's path is not text");
		}
		if (err == MSD_OK)
			err = open_plugin(path.as.str, d);
	}
	return err;
}

static enum msd_sandbox_word profile_of(struct msd_device device)
{
	switch (device.type) {
	case 0:
		return MSD_SANDBOX_AUTO;
	case MSD_DEV_CUDA:
		return MSD_SANDBOX_CUDA;
	case MSD_DEV_OPENCL:
		return MSD_SANDBOX_OPENCL;
	default:
		return MSD_SANDBOX_CPU;
	}
}

/* Access for a device is dropped once the module is known to have no code for it. To
 * know that, its file must be read, which already happens in the sandbox. */
static msd_err enter_sandbox(struct msd_worker *w, const struct open_params *p,
			     struct msd_load_options *options, struct msd_diag *d)
{
	struct msd_sandbox_plan plan = p->sandbox;
	const bool is_auto = p->run.sandbox == MSD_SANDBOX_AUTO;
	struct msd_sandbox_kernel kernel;

	msd_sandbox_look(&kernel);
	plan.loop_fd = uv_backend_fd(w->wire.loop);
	plan.channel_fd = w->channel_fd;
	plan.last_fd = w->first_guest_fd != 0
			       ? w->first_guest_fd + (int)MSD_MAX_GUESTS - 1
			       : w->channel_fd;
	plan.max_file_bytes = 2 * p->max_out;
	plan.profile = is_auto ? profile_of(p->device) : p->run.sandbox;
	msd_sandbox_enter(&plan, &kernel, &w->sandbox);
	msd_err err = map_artifact(w, d);
	if (err == MSD_OK)
		err = split_artifact(w, p, options, d);
	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "%s", options->label);
	if (plan.profile == MSD_SANDBOX_AUTO) {
		plan.profile = profile_of(msd_foresee_device(w->file, p->run.era));
		msd_sandbox_enter(&plan, &kernel, &w->sandbox);
	}
	return MSD_OK;
}

static msd_err load(struct msd_worker *w, const struct open_params *p,
		    struct msd_load_options *options, struct msd_diag *d)
{
	msd_pool_share((unsigned)(p->workers < 1024 ? p->workers : 1024));
	msd_pool_configure(p->run.threads);
	msd_crash_note("load of", w->name);
	msd_worker_weights_begin(&p->run, p->sandbox.plugins, p->files);
	msd_err err = msd_loaded_open(w->artifact_fd, w->file, options, &w->module, d);
	w->shared_weights = msd_worker_weights_end();
	if (err == MSD_OK)
		err = msd_probe_signatures(w->module, d);
	if (err == MSD_OK) {
		err = msd_loaded_place(w->module, p->device, d);
		if (err != MSD_OK)
			(void)msd_diag_wrap(d, err, "%s", options->label);
	}
	msd_crash_note(NULL, NULL);
	if (err != MSD_OK)
		return err;
	release_pages(w);
	msd_funcs_init(&w->funcs, w->module);
	return MSD_OK;
}

/* Names are from the file, and in a damaged file they are not text: the supervisor
 * would treat the bytes at @begin of @out as a broken protocol. */
static msd_err check_names(const struct msd_buf *out, size_t begin, const char *label,
			   struct msd_diag *d)
{
	const struct msd_span said = {out->p + begin, out->n - begin};
	struct msd_diag why = {0};
	size_t bytes;

	if (out->bad || msd_scan_object(said, NULL, &bytes, &why) == MSD_OK)
		return MSD_OK;
	const msd_err err = msd_diag_set(d, MSD_BAD_ARTIFACT,
					 "%s: its description cannot be sent: %s",
					 label, msd_diag_text(&why));
	msd_diag_finish(&why);
	return err;
}

/* Write the reply, and set the peer's limits. */
static msd_err describe(struct msd_worker *w, const struct msd_request *r,
			const char *label, struct msd_buf *out, struct msd_diag *d)
{
	r->peer->out.pool.max_bytes = w->max_out;
	r->peer->residents.max_bytes = w->max_out;
	msd_body_begin_response(out, r->id, false);
	msd_pack_nil(out);
	const size_t begin = out->n;
	const msd_err err = msd_describe_write(
		w->module, &w->sandbox, w->batch.most_rows, w->shared_weights, out, d);
	return err == MSD_OK ? check_names(out, begin, label, d) : err;
}

msd_err msd_handle_open(struct msd_worker *w, struct msd_request *r,
			struct msd_buf *out, struct msd_diag *d)
{
	struct open_params params;
	char label[256];

	if (w->module != NULL)
		return msd_diag_set(d, MSD_EXISTS, "worker.open: %s is open", w->name);
	msd_err err = read_params(r, &params, d);
	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "worker.open");
	(void)snprintf(w->name, sizeof(w->name), "%.*s", (int)params.name.n,
		       (const char *)params.name.p);
	(void)snprintf(label, sizeof(label), "%.*s",
		       (int)(params.file.n < 200 ? params.file.n : 200),
		       params.file.n > 0 ? (const char *)params.file.p : w->name);
	struct msd_load_options options = {.label = label, .run = params.run};
	err = msd_resource_limits_apply(&params.allowance, d);
	msd_busy_poll_allow(w, params.spin);
	if (err == MSD_OK)
		err = enter_sandbox(w, &params, &options, d);
	if (err == MSD_OK)
		err = open_plugins(&params, d);
	if (err == MSD_OK)
		err = load(w, &params, &options, d);
	if (err != MSD_OK)
		return err;
	msd_pinned_segments_start(w);
	w->batch.most_rows = params.run.batch_rows;
	w->batch.within_ns = params.run.batch_delay.ms * MSD_NS_PER_MS;
	w->max_out = params.max_out;
	return describe(w, r, label, out, d);
}

msd_err msd_handle_resume(struct msd_worker *w, struct msd_request *r,
			  struct msd_buf *out, struct msd_diag *d)
{
	return describe(w, r, w->name, out, d); /* checked before: it is open */
}
