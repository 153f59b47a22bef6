#ifndef MSD_SUPERVISOR_HANDOVER_ARTIFACT_H
#define MSD_SUPERVISOR_HANDOVER_ARTIFACT_H
/*
 * The bytes of a module whose workers are kept (handover.h). They are sealed and kept
 * with the workers, named by their digest. So the next daemon need not read and hash
 * them again.
 *
 *   modserd-artifact.SHA256
 */
#include "daemon/loop/list.h"
#include "proto/base/bytes.h"
#include "store/digest.h"

struct msd_worker_group;

#define MSD_HANDOVER_ARTIFACT_PREFIX "modserd-artifact."

/**
 * Add the descriptor @fd, which is taken, with @name to @all, whose elements are
 * private. False: it is not a sealed artifact, and is closed.
 */
bool msd_handover_artifact_put(struct msd_list *all, struct msd_span name, int fd);
/**
 * Remove the artifact of @digest and @bytes and return its descriptor, which the
 * caller owns; -1: not found.
 */
int msd_handover_artifact_find(struct msd_list *all, const struct msd_digest *digest,
			       uint64_t bytes);
/** Close all of them. */
void msd_handover_artifacts_clear(struct msd_list *all);
/** Keep the artifact of @group, because one of its workers is kept. Idempotent. */
void msd_handover_artifact_keep(struct msd_worker_group *group);
/** @group gives up its artifact; an artifact left for the next daemon stays. */
void msd_handover_artifact_cool(struct msd_worker_group *group);

#endif
