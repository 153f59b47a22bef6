#ifndef MSD_SUPERVISOR_REPOSITORY_H
#define MSD_SUPERVISOR_REPOSITORY_H
/* The read-only part of the Open Inference Protocol, version 2: the server, its
 * health, its models (model.h) and their index. */
#include "daemon/supervisor/http/exchange.h"
#include "daemon/supervisor/http/models/model.h"

void msd_repository_server(struct msd_http_exchange *a);
void msd_repository_live(struct msd_http_exchange *a);
void msd_repository_ready(struct msd_http_exchange *a);
/** Describe the model names[0], in version names[1] if the path has one. */
void msd_repository_model(struct msd_http_exchange *a);
/** The same in Triton's format for its own clients: the model configuration. */
void msd_repository_model_config(struct msd_http_exchange *a);
void msd_repository_model_ready(struct msd_http_exchange *a);
/** Find that model; on an error it was answered. */
MSD_MUST_CHECK msd_err msd_repository_find(struct msd_http_exchange *a,
					   struct msd_model *ret);
/**
 * If the functions of @m are not known yet, answer with a Retry-After and return
 * true.
 */
bool msd_repository_refuse_unknown(struct msd_http_exchange *a,
				   const struct msd_model *m);
/** List all modules, or with `{"ready": true}` only READY ones. */
void msd_repository_index(struct msd_http_exchange *a);

#endif
