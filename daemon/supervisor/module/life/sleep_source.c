#include "daemon/supervisor/module/life/sleep_source.h"

#include "daemon/log.h"
#include "daemon/supervisor/module/life/life.h"
#include "daemon/supervisor/module/life/registry.h"
#include "daemon/supervisor/module/life/repository.h"
#include "daemon/supervisor/module/queue/bulk_reject.h"
#include "daemon/supervisor/module/queue/ready_timeout.h"

static bool has_bytes(const struct msd_module *m)
{
	return m->group.source.fd >= 0;
}

void msd_sleep_source_end(struct msd_module *m)
{
	if (has_bytes(m)) {
		msd_module_take_plain(m, MSD_LIFE_WAKE);
		return;
	}
	msd_ready_timeout_begin(&m->group);
	if (!m->is_asking) {
		m->is_asking = m->group.registry->repository->ops->find(
			m->group.registry->repository, m, true);
	}
}

void msd_sleep_source_on_brought(struct msd_module *m, struct msd_source *source,
				 const struct msd_diag *why)
{
	m->is_asking = false;
	if (source != NULL) {
		m->group.source = *source;
		if (m->life.state == MSD_STATE_ASLEEP)
			msd_module_take_plain(m, MSD_LIFE_WAKE);
		return;
	}
	msd_log(MSD_LOG_ERROR, "module_idle_start", "name=%s why=\"%s\"", m->group.name,
		msd_diag_text(why));
	msd_refusal_begin(&m->group, why->code, msd_diag_text(why));
}
