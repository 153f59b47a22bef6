#include "daemon/supervisor/module/handover/handover_artifact.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/supervisor/module/life/registry.h"
#include "daemon/supervisor/module/workers/worker_group.h"

#define NAME_BYTES (sizeof(MSD_HANDOVER_ARTIFACT_PREFIX) + MSD_DIGEST_TEXT)
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

struct kept {
	struct msd_list link;
	struct msd_digest digest;
	int fd;
};

static bool read_name(struct msd_span name, struct msd_digest *ret)
{
	const size_t prefix = strlen(MSD_HANDOVER_ARTIFACT_PREFIX);

	return name.n == prefix + MSD_DIGEST_TEXT - 1 &&
	       memcmp(name.p, MSD_HANDOVER_ARTIFACT_PREFIX, prefix) == 0 &&
	       msd_digest_parse((struct msd_span){name.p + prefix, name.n - prefix},
				ret);
}

bool msd_handover_artifact_put(struct msd_list *all, struct msd_span name, int fd)
{
	struct msd_digest digest;
	const int seals = fcntl(fd, F_GET_SEALS);
	const bool is_one =
		seals >= 0 && (seals & SEALS) == SEALS && read_name(name, &digest);
	struct kept *k = is_one ? calloc(1, sizeof(*k)) : NULL;

	if (k == NULL) {
		(void)close(fd);
		return false;
	}
	*k = (struct kept){.digest = digest, .fd = fd};
	msd_list_append(all, &k->link);
	return true;
}

static int drop(struct kept *k)
{
	const int fd = k->fd;

	msd_list_remove(&k->link);
	free(k);
	return fd;
}

int msd_handover_artifact_find(struct msd_list *all, const struct msd_digest *digest,
			       uint64_t bytes)
{
	MSD_LIST_EACH (it, all) {
		struct kept *k = MSD_CONTAINER_OF(it, struct kept, link);
		struct stat st;

		if (msd_digest_equal(&k->digest, digest) && fstat(k->fd, &st) == 0 &&
		    (uint64_t)st.st_size == bytes)
			return drop(k);
	}
	return -1;
}

void msd_handover_artifacts_clear(struct msd_list *all)
{
	MSD_LIST_EACH_SAFE (it, all) {
		(void)close(drop(MSD_CONTAINER_OF(it, struct kept, link)));
	}
}

static void write_name(const struct msd_digest *digest, char ret[static NAME_BYTES])
{
	char text[MSD_DIGEST_TEXT];

	msd_digest_format(digest, text);
	(void)snprintf(ret, NAME_BYTES, MSD_HANDOVER_ARTIFACT_PREFIX "%s", text);
}

void msd_handover_artifact_keep(struct msd_worker_group *group)
{
	char name[NAME_BYTES];

	if (!group->registry->warm.is_on || group->is_source_kept)
		return;
	write_name(&group->source.sha256, name);
	group->is_source_kept =
		group->registry->warm.keep(group->registry, name, &group->source.fd, 1);
}

void msd_handover_artifact_cool(struct msd_worker_group *group)
{
	char name[NAME_BYTES];

	if (group->is_source_kept && !group->registry->is_closing) {
		write_name(&group->source.sha256, name);
		group->registry->warm.give_up(group->registry, name);
	}
	group->is_source_kept = false;
}
