#include "daemon/supervisor/module/module.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/supervisor/module/life.h"
#include "proto/name.h"

static struct msd_module *find(struct msd_house *house, struct msd_span name)
{
	MSD_LIST_EACH (it, &house->modules) {
		struct msd_module *m = MSD_CONTAINER_OF(it, struct msd_module, link);
		if (msd_span_is(name, m->name))
			return m;
	}
	return NULL;
}

msd_err msd_module_require(struct msd_house *house, struct msd_span name,
			   struct msd_module **ret, struct msd_diag *d)
{
	*ret = find(house, name);
	if (*ret == NULL)
		return msd_diag_set(d, MSD_NOT_FOUND, "no module is called %.*s",
				    (int)(name.n < 80 ? name.n : 80),
				    (const char *)name.p);
	return MSD_OK;
}

/* A new in segment: tell the workers that are there; later ones hear of it when they
 * start. */
static void on_new_segment(void *ctx, uint16_t index, int fd, uint64_t bytes)
{
	struct msd_module *m = ctx;

	for (uint32_t i = 0; i < m->n_replicas; i++)
		if (m->replicas[i].process != NULL)
			msd_replica_send_segment(&m->replicas[i], index, fd, bytes);
}

static bool add_replicas(struct msd_module *m, uint32_t n)
{
	const struct msd_limits *limits = m->house->limits;

	n = n > 0 ? n : 1;
	m->replicas = calloc(n, sizeof(*m->replicas));
	m->life = (struct msd_life){
		.workers = calloc(n, sizeof(*m->life.workers)),
		.n_workers = n,
		.load_limit_ms = limits->load_ms,
		.drain_limit_ms = limits->drain_ms,
		.max_deaths = limits->max_deaths,
	};
	if (m->replicas == NULL || m->life.workers == NULL)
		return false;
	for (; m->n_replicas < n; m->n_replicas++)
		msd_replica_init(&m->replicas[m->n_replicas], m, m->n_replicas + 1);
	return true;
}

static struct msd_module *module_new(struct msd_house *house, struct msd_span name,
				     const struct msd_module_source *source)
{
	struct msd_module *m = calloc(1, sizeof(*m));
	struct stat st = {0};

	if (m == NULL ||
	    (source->artifact_fd >= 0 && fstat(source->artifact_fd, &st) != 0)) {
		free(m);
		(void)close(source->artifact_fd);
		return NULL;
	}
	m->house = house;
	m->artifact_fd = source->artifact_fd;
	m->artifact_bytes = (uint64_t)st.st_size;
	m->device = source->device;
	m->era = source->era;
	m->tvm_inputs = source->tvm_inputs;
	m->graph_bytes = source->graph_bytes;
	m->params_bytes = source->params_bytes;
	m->name = strndup((const char *)name.p, name.n);
	m->file = strdup(source->file);
	msd_list_init(&m->link);
	msd_list_init(&m->lanes);
	msd_list_init(&m->all_lanes);
	msd_list_init(&m->receiving);
	msd_list_init(&m->waiters);
	msd_list_init(&m->unloaders);
	msd_segpool_init(&m->in, house->limits->max_memory, on_new_segment, m);
	house->n_modules++;
	if (m->name == NULL || m->file == NULL || !add_replicas(m, source->workers)) {
		msd_module_free(m);
		return NULL;
	}
	return m;
}

void msd_module_free(struct msd_module *m)
{
	struct msd_house *house = m->house;

	msd_deadline_clear(house->deadlines, &m->drain);
	while (!msd_list_is_empty(&m->receiving)) {
		struct msd_req *r =
			MSD_CONTAINER_OF(m->receiving.next, struct msd_req, link);
		r->client.who->ops->drop_receiving(r->client.who, MSD_DRAINING,
						   "the module was unloaded");
	}
	while (!msd_list_is_empty(&m->all_lanes))
		msd_lane_free(
			MSD_CONTAINER_OF(m->all_lanes.next, struct msd_lane, all_link));
	msd_list_remove(&m->link);
	if (m->predecessor != NULL)
		m->predecessor->successor = NULL;
	if (m->successor != NULL)
		m->successor->predecessor = NULL;
	msd_segpool_finish(&m->in);
	if (m->artifact_fd >= 0)
		(void)close(m->artifact_fd);
	msd_buf_finish(&m->facts);
	free(m->name);
	free(m->file);
	free(m->error);
	free(m->log);
	free(m->replicas);
	free(m->life.workers);
	free(m);
	house->n_modules--;
	house->on_gone(house);
}

static msd_err check_workers(struct msd_house *house, uint32_t n, struct msd_diag *d)
{
	if (n <= house->limits->max_workers)
		return MSD_OK;
	return msd_diag_set(d, MSD_TOO_LARGE,
			    "%u workers are over the limit of %llu (max-workers)", n,
			    (unsigned long long)house->limits->max_workers);
}

static msd_err check_name(struct msd_house *house, struct msd_span name, bool replace,
			  struct msd_diag *d)
{
	struct msd_module *old;

	if (!msd_name_valid(name))
		return msd_diag_set(
			d, MSD_BAD_REQUEST,
			"module name \"%.*s\": expected [A-Za-z0-9][A-Za-z0-9._-]*, "
			"at most %u bytes",
			(int)(name.n < 80 ? name.n : 80), (const char *)name.p,
			MSD_MAX_NAME_BYTES);
	if (house->is_closing)
		return msd_diag_set(d, MSD_DRAINING, "the daemon is shutting down");
	old = find(house, name);
	if (old != NULL && old->life.state == MSD_STATE_DRAINING)
		return msd_diag_set(d, MSD_EXISTS,
				    "module %s is being unloaded: wait for it",
				    old->name);
	if (old != NULL && old->life.state != MSD_STATE_FAILED && !replace)
		return msd_diag_set(
			d, MSD_EXISTS,
			"module %s exists (%s): unload it or load with replace",
			old->name, msd_module_state_name(old->life.state));
	if (old != NULL && old->successor != NULL)
		return msd_diag_set(d, MSD_EXISTS,
				    "module %s is being replaced already", old->name);
	if (old == NULL && house->n_modules >= house->limits->max_modules)
		return msd_diag_set(d, MSD_BUSY,
				    "%u modules are the limit (max-modules)",
				    house->n_modules);
	return MSD_OK;
}

msd_err msd_module_load(struct msd_house *house, struct msd_span name,
			const struct msd_module_source *source, struct msd_module **ret,
			struct msd_diag *d)
{
	msd_err err = check_name(house, name, source->replace, d);
	if (err == MSD_OK)
		err = check_workers(house, source->workers, d);
	if (err != MSD_OK) {
		(void)close(source->artifact_fd);
		return err;
	}
	struct msd_module *old = find(house, name);
	struct msd_module *m = module_new(house, name, source);
	if (m == NULL)
		return msd_diag_set(d, MSD_NOMEM, "load: out of memory");
	msd_log(MSD_LOG_INFO, "load", "name=%s bytes=%llu workers=%u", m->name,
		(unsigned long long)m->artifact_bytes, m->n_replicas);
	if (old != NULL && old->life.state == MSD_STATE_FAILED) {
		msd_module_free(old); /* nothing of it runs or waits */
		old = NULL;
	}
	if (old != NULL) {
		old->successor = m;
		m->predecessor = old;
		m->life.is_successor = true;
	} else {
		msd_list_append(&house->modules, &m->link);
	}
	msd_module_start(m);
	*ret = m;
	return MSD_OK;
}

msd_err msd_module_add_failed(struct msd_house *house, struct msd_span name,
			      const char *file, struct msd_diag *d)
{
	struct msd_diag why = {0};
	msd_err err = check_name(house, name, false, &why);

	if (err == MSD_OK) {
		const struct msd_module_source none = {.file = file, .artifact_fd = -1};
		struct msd_module *old = find(house, name);
		struct msd_module *m = module_new(house, name, &none);
		if (m == NULL)
			return MSD_NOMEM;
		/* A name is there once: of two causes the later stays. */
		if (old != NULL)
			msd_module_free(old);
		msd_module_fail(m, d->code, msd_diag_text(d));
		msd_list_append(&house->modules, &m->link);
	}
	msd_diag_finish(&why);
	return d->code; /* to be told in any case */
}

void msd_module_answer_all(struct msd_list *requests, msd_err err, const char *text)
{
	struct msd_list *it;

	while ((it = msd_list_first(requests)) != NULL) {
		struct msd_req *r = MSD_CONTAINER_OF(it, struct msd_req, link);
		if (err == MSD_OK)
			msd_req_answer_nil(r);
		else
			msd_req_answer_error(r, err, text);
		msd_req_release(r);
	}
}

static void answer_waiter(const struct msd_module *m, struct msd_req *r)
{
	struct msd_buf b = {0};

	if (m->life.state == MSD_STATE_READY) {
		msd_pack_map(&b, 3);
		msd_pack_cstr(&b, "name");
		msd_pack_cstr(&b, m->name);
		msd_pack_cstr(&b, "state");
		msd_pack_cstr(&b, msd_module_state_name(m->life.state));
		msd_pack_cstr(&b, "functions");
		msd_pack_uint(&b, m->n_functions);
		msd_req_answer(r, &b);
		msd_buf_finish(&b);
	} else {
		msd_req_answer_error(r, m->error_code,
				     m->error != NULL ? m->error
						      : "the module is gone");
	}
	msd_req_release(r);
}

void msd_module_answer_waiters(struct msd_module *m)
{
	struct msd_list *it;

	while ((it = msd_list_first(&m->waiters)) != NULL)
		answer_waiter(m, MSD_CONTAINER_OF(it, struct msd_req, link));
}

void msd_module_wait(struct msd_module *m, struct msd_req *r)
{
	if (m->life.state == MSD_STATE_LOADING || m->life.state == MSD_STATE_RESTARTING)
		msd_list_append(&m->waiters, &r->link);
	else if (m->life.state == MSD_STATE_DRAINING) {
		msd_req_refuse(r, MSD_DRAINING, "the module is being unloaded");
	} else
		answer_waiter(m, r);
}

uint32_t msd_module_in_flight(const struct msd_module *m)
{
	uint32_t n = m->n_queued;

	for (uint32_t i = 0; i < m->n_replicas; i++)
		n += m->replicas[i].n_sent;
	return n;
}

void msd_module_log(struct msd_module *m, const char *p, size_t n)
{
	if (m->log == NULL)
		m->log = malloc(MSD_LOG_BYTES);
	if (m->log == NULL)
		return; /* a log is not worth failing for */
	if (n > MSD_LOG_BYTES) {
		p += n - MSD_LOG_BYTES;
		n = MSD_LOG_BYTES;
	}
	size_t first = MSD_LOG_BYTES - m->log_at < n ? MSD_LOG_BYTES - m->log_at : n;
	memcpy(m->log + m->log_at, p, first);
	memcpy(m->log, p + first, n - first);
	m->log_at = (m->log_at + n) % MSD_LOG_BYTES;
	m->log_n = m->log_n + n < MSD_LOG_BYTES ? m->log_n + n : MSD_LOG_BYTES;
}

void msd_module_log_read(const struct msd_module *m, struct msd_buf *out)
{
	size_t start = (m->log_at + MSD_LOG_BYTES - m->log_n) % MSD_LOG_BYTES;
	size_t first =
		MSD_LOG_BYTES - start < m->log_n ? MSD_LOG_BYTES - start : m->log_n;

	if (m->log_n == 0)
		return;
	msd_buf_put(out, m->log + start, first);
	msd_buf_put(out, m->log, m->log_n - first);
}
