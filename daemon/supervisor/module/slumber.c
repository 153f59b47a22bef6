#include "daemon/supervisor/module/slumber.h"

#include "daemon/log.h"
#include "daemon/supervisor/module/house.h"
#include "daemon/supervisor/module/life.h"
#include "daemon/supervisor/module/ready_wait.h"
#include "daemon/supervisor/module/refusal.h"

static bool has_bytes(const struct msd_module *m)
{
	return m->crew.source.fd >= 0;
}

void msd_slumber_end(struct msd_module *m)
{
	if (has_bytes(m)) {
		msd_module_take_plain(m, MSD_LIFE_WAKE);
		return;
	}
	msd_ready_wait_begin(&m->crew);
	if (!m->is_asking)
		m->is_asking = m->crew.house->on_called(m->crew.house, m);
}

void msd_slumber_on_brought(struct msd_module *m, struct msd_source *source,
			    const struct msd_diag *why)
{
	m->is_asking = false;
	if (source != NULL) {
		m->crew.source = *source;
		if (m->life.state == MSD_STATE_ASLEEP)
			msd_module_take_plain(m, MSD_LIFE_WAKE);
		return;
	}
	msd_log(MSD_LOG_ERROR, "wake", "name=%s why=\"%s\"", m->crew.name,
		msd_diag_text(why));
	msd_refusal_begin(&m->crew, why->code, msd_diag_text(why));
}
