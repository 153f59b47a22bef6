#include "daemon/supervisor/handover_workers.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/log.h"
#include "daemon/supervisor/module/handover/handover.h"
#include "daemon/supervisor/module/handover/handover_artifact.h"
#include "daemon/supervisor/module/life/module.h"
#include "daemon/supervisor/module/workers/replica.h"
#include "daemon/supervisor/sd.h"
#include "proto/base/errno_text.h"
#include "proto/value.h"

/* Identify the worker executable by its file. A running program cannot be written to,
 * and an update installs another file. */
static bool know_worker(const char *path, struct msd_digest *ret)
{
	struct msd_buf b = {0};
	struct stat st;

	if (stat(path, &st) != 0)
		return false;
	msd_pack_cstr(&b, path);
	msd_pack_uint(&b, st.st_dev);
	msd_pack_uint(&b, st.st_ino);
	msd_pack_uint(&b, (uint64_t)st.st_size);
	msd_pack_uint(&b, (uint64_t)st.st_mtim.tv_sec);
	msd_pack_uint(&b, (uint64_t)st.st_mtim.tv_nsec);
	const bool is_known = !b.bad;
	if (is_known)
		msd_digest_of((struct msd_span){b.p, b.n}, ret);
	msd_buf_finish(&b);
	return is_known;
}

/* The reason why workers cannot be kept; NULL if they can. */
static const char *obstacle(struct msd_module_registry *registry,
			    const struct msd_sd *sd, char text[MSD_ERRNO_TEXT_BYTES])
{
	if (sd->address_bytes == 0)
		return "there is no service manager to keep them (NOTIFY_SOCKET)";
	if (!know_worker(registry->worker_path, &registry->warm.worker))
		return msd_errno_text(errno, text);
	return NULL;
}

static bool take(struct msd_module_registry_handover *warm, struct msd_span name,
		 int fd)
{
	const size_t prefix = strlen(MSD_HANDOVER_ARTIFACT_PREFIX);

	if (name.n > prefix &&
	    memcmp(name.p, MSD_HANDOVER_ARTIFACT_PREFIX, prefix) == 0)
		return msd_handover_artifact_put(&warm->artifacts, name, fd);
	return msd_handover_shelf_put(&warm->shelf, name, fd);
}

static void end_rest(struct msd_module_registry *registry, const char *why)
{
	msd_handover_end_rest(registry, why);
	msd_handover_artifacts_clear(&registry->warm.artifacts);
}

void msd_handover_workers_open(struct msd_module_registry *registry,
			       const struct msd_sd *sd, bool keeps)
{
	struct msd_module_registry_handover *warm = &registry->warm;
	char text[MSD_ERRNO_TEXT_BYTES];
	struct msd_span name, last = msd_span_of("");
	struct msd_sd_cursor at = {0};
	int fd;

	if (keeps) {
		const char *why = obstacle(registry, sd, text);
		warm->is_on = why == NULL;
		if (why != NULL) {
			msd_log(MSD_LOG_WARN, "worker_keep", "kept=no why=\"%s\"", why);
		}
	}
	/* The descriptors of a worker have the same name and follow each other. */
	while (msd_sd_next_stored(sd, &at, &name, &fd)) {
		if (name.n != last.n || memcmp(name.p, last.p, name.n) != 0)
			msd_sd_unstore(sd, name);
		last = name;
		if (!take(warm, name, fd)) {
			msd_log(MSD_LOG_WARN, "worker_keep",
				"name=\"%.*s\" why=\"a descriptor is not one of a "
				"worker's\"",
				(int)(name.n < 128 ? name.n : 128),
				(const char *)name.p);
		}
	}
	msd_handover_gather(registry);
	if (!warm->is_on)
		end_rest(registry, "this daemon keeps no workers");
}

static bool is_coming(const struct msd_module *m)
{
	return m->life.state == MSD_STATE_LOADING ||
	       (m->successor != NULL && is_coming(m->successor));
}

/* Store workers again that the manager did not accept because its socket buffer was
 * full. */
static void keep_again(const struct msd_worker_group *group)
{
	for (uint32_t i = 0; i < group->n_replicas; i++) {
		struct msd_process *p = group->replicas[i].process;

		if (group->replicas[i].is_open)
			msd_handover_ends_keep(&p->warm, group->registry, p->child);
	}
}

void msd_handover_workers_settle(struct msd_module_registry *registry)
{
	bool is_any_coming = false;

	MSD_LIST_EACH (it, &registry->modules) {
		const struct msd_module *m =
			MSD_CONTAINER_OF(it, struct msd_module, link);
		is_any_coming = is_any_coming || is_coming(m);
		keep_again(&m->group);
	}
	if (!is_any_coming) {
		end_rest(registry,
			 "no module has its program, artifact, options and user");
	}
}

void msd_handover_workers_close(struct msd_module_registry *registry)
{
	end_rest(registry, "the daemon ended");
}
