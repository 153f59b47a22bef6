#ifndef MSD_SUPERVISOR_REPOSITORY_H
#define MSD_SUPERVISOR_REPOSITORY_H
/*
 * The Open Inference Protocol, version 2, as far as it looks and does not run: the
 * server, its health, its models (model.h) and the index of them.
 */
#include "daemon/supervisor/http/asking.h"
#include "daemon/supervisor/http/model.h"

void msd_repository_server(struct msd_asking *a);
void msd_repository_live(struct msd_asking *a);
void msd_repository_ready(struct msd_asking *a);
/** Of the model names[0], in the version names[1] where the path has one. */
void msd_repository_model(struct msd_asking *a);
/** The same as Triton has it for its own clients: its configuration. */
void msd_repository_model_config(struct msd_asking *a);
void msd_repository_model_ready(struct msd_asking *a);
/** Find that model; an error was answered. */
MSD_MUST_CHECK msd_err msd_repository_find(struct msd_asking *a, struct msd_model *ret);
/** It was answered that nothing is known of @m yet, and with when to ask again; false:
 * its functions are known. */
bool msd_repository_refuse_unknown(struct msd_asking *a, const struct msd_model *m);
/** All modules, or with `{"ready": true}` those that are. */
void msd_repository_index(struct msd_asking *a);

#endif
