#ifndef MSD_RUNTIME_ENGINE_AHEAD_H
#define MSD_RUNTIME_ENGINE_AHEAD_H
/* Weights are packed at the load, also if only a call tells the extents of inputs: its
 * first call is not slow, and workers can share what they pack. */
struct msd_plan;

/**
 * If shapes of @plan, which has not run, are unknown, infer it with likely extents, and
 * let the native engine pack the weights of nodes that no engine has claimed. A claim
 * still needs the extents of a call. Nodes that cannot be inferred are packed in a run.
 */
void msd_plan_pack(struct msd_plan *plan);

#endif
