#ifndef MSD_SUPERVISOR_REPOSITORY_H
#define MSD_SUPERVISOR_REPOSITORY_H
/*
 * The Open Inference Protocol, version 2, as far as it looks and does not run: the
 * server, its health, its models (model.h) and the index of them.
 */
#include "daemon/supervisor/http/asking.h"

void msd_repository_server(struct msd_asking *a);
void msd_repository_live(struct msd_asking *a);
void msd_repository_ready(struct msd_asking *a);
/** Of the model names[0], in the version names[1] where the path has one. */
void msd_repository_model(struct msd_asking *a);
void msd_repository_model_ready(struct msd_asking *a);
/** All modules, or with `{"ready": true}` those that are. */
void msd_repository_index(struct msd_asking *a);

#endif
