#include "runtime/device/workspace.h"

#include <pthread.h>
#include <stdlib.h>

#include "proto/base/grow.h"
#include "runtime/device/memory.h"

/* Workspaces in use. They are few, and the last ones are freed first. */
struct space {
	void *p;
	size_t bytes;
	struct msd_dev *dev; /* own reference */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct space *spaces; /* freed with the last workspace */
static size_t n_spaces;
static size_t room;

/* Record it; false if memory is short. */
static bool space_push(struct space s)
{
	(void)pthread_mutex_lock(&lock);
	bool ok = msd_reserve(&spaces, &room, n_spaces + 1, sizeof(s));
	if (ok)
		spaces[n_spaces++] = s;
	(void)pthread_mutex_unlock(&lock);
	return ok;
}

static struct space space_pop(void *p)
{
	struct space found = {0};

	(void)pthread_mutex_lock(&lock);
	for (size_t i = n_spaces; i-- > 0;) {
		if (spaces[i].p != p)
			continue;
		found = spaces[i];
		spaces[i] = spaces[--n_spaces];
		break;
	}
	if (n_spaces == 0) {
		free(spaces);
		spaces = NULL;
		room = 0;
	}
	(void)pthread_mutex_unlock(&lock);
	return found;
}

msd_err msd_dev_workspace_alloc(struct msd_device device, uint64_t n_bytes, void **ret,
				struct msd_diag *d)
{
	char name[MSD_DTYPE_NAME_MAX];
	struct space s = {.dev = msd_dev_peek(device), .bytes = (size_t)n_bytes};

	if (s.dev == NULL) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "device %s:%d: this module was not placed there",
				    msd_device_type_format(device.type, name),
				    device.id);
	}
	msd_err err = msd_dev_alloc(s.dev, s.bytes, &s.p, d);
	if (err != MSD_OK)
		return err;
	if (!space_push(s)) {
		msd_dev_free(s.dev, s.p, s.bytes);
		return msd_diag_no_memory(d);
	}
	msd_dev_ref(s.dev);
	*ret = s.p;
	return MSD_OK;
}

void msd_dev_workspace_free(void *p)
{
	struct space s = space_pop(p);

	if (s.p == NULL)
		return;
	msd_dev_free(s.dev, s.p, s.bytes);
	msd_dev_close(s.dev);
}
