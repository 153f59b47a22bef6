#ifndef MSD_SUPERVISOR_MODEL_STATS_H
#define MSD_SUPERVISOR_MODEL_STATS_H
/*
 * What a model has done, in the words of the Open Inference Protocol's statistics: how
 * many calls of its function ended well and not, and where the time of its module's
 * went. The metrics tell more (docs/metrics.md).
 */
struct msd_asking;

/** The route's. */
void msd_model_stats(struct msd_asking *a);
/** The route's for all modules: those that one may see. */
void msd_model_stats_all(struct msd_asking *a);

#endif
