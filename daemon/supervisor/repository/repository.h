#ifndef MSD_SUPERVISOR_REPOSITORY_OPS_H
#define MSD_SUPERVISOR_REPOSITORY_OPS_H
#include "daemon/supervisor/module/life/repository.h"

/** The operations of a repository on its store and its source pollers. */
extern const struct msd_repository_ops msd_repository_ops;

#endif
