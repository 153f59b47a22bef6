#include "daemon/supervisor/module/stats/stage.h"

const char *msd_stage_name(enum msd_stage stage)
{
	static const char *const names[MSD_STAGE_COUNT] = {[MSD_STAGE_READ] = "read",
							   [MSD_STAGE_QUEUE] = "queue",
							   [MSD_STAGE_WORKER] =
								   "worker",
							   [MSD_STAGE_RUN] = "run"};

	return names[stage];
}
