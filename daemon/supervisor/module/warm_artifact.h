#ifndef MSD_SUPERVISOR_WARM_ARTIFACT_H
#define MSD_SUPERVISOR_WARM_ARTIFACT_H
/*
 * The bytes of a module whose workers are kept (warm.h): sealed, and under their digest
 * as the name, they are kept beside them, so that the next daemon neither reads nor
 * hashes them again.
 *
 *   modserd-artifact.SHA256
 */
#include "daemon/wire/list.h"
#include "proto/bytes.h"
#include "store/digest.h"

struct msd_crew;

#define MSD_WARM_ARTIFACT_PREFIX "modserd-artifact."

/** A descriptor, owned from here on, came under @name: into @all, whose elements are
 * private. False: it is no sealed artifact, and is closed. */
bool msd_warm_artifact_put(struct msd_list *all, struct msd_span name, int fd);
/** The one of @digest and @bytes, the caller's from here on; -1: there is none. */
int msd_warm_artifact_take(struct msd_list *all, const struct msd_digest *digest,
			   uint64_t bytes);
/** Close all of them. */
void msd_warm_artifacts_clear(struct msd_list *all);
/** A worker of @crew is kept: its artifact is, too. Idempotent. */
void msd_warm_artifact_keep(struct msd_crew *crew);
/** @crew gives its artifact up; what the next daemon is left with stays. */
void msd_warm_artifact_cool(struct msd_crew *crew);

#endif
