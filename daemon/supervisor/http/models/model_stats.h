#ifndef MSD_SUPERVISOR_MODEL_STATS_H
#define MSD_SUPERVISOR_MODEL_STATS_H
/*
 * Statistics of a model in the format of the Open Inference Protocol: successful and
 * failed calls of its function, and the stage times of its module's calls. The
 * metrics contain more (docs/reference/metrics.md).
 */
struct msd_http_exchange;

/** Route handler. */
void msd_model_stats(struct msd_http_exchange *a);
/** Route handler for all modules that the client may see. */
void msd_model_stats_all(struct msd_http_exchange *a);

#endif
