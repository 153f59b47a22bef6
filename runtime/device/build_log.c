#include "runtime/device/build_log.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/clock.h"

#define BLANKS " \t\r\n"

msd_err msd_build_log_add(struct msd_diag *d, msd_err err, const char *log)
{
	size_t n = 0;

	if (log != NULL) {
		log += strspn(log, BLANKS);
		n = strnlen(log, MSD_BUILD_LOG_MAX);
	}
	while (n > 0 && strchr(BLANKS, log[n - 1]) != NULL)
		n--;
	if (n == 0 || d == NULL)
		return err;
	char *head = strdup(msd_diag_text(d));
	(void)msd_diag_set(d, err, "%s; its log:\n%.*s", head != NULL ? head : "",
			   (int)n, log);
	free(head);
	return err;
}

static _Atomic uint64_t built_ns;

void msd_build_note(uint64_t begin_ns)
{
	(void)atomic_fetch_add(&built_ns, msd_now_ns() - begin_ns);
}

uint64_t msd_build_ms(void)
{
	return (atomic_load(&built_ns) + MSD_NS_PER_MS - 1) / MSD_NS_PER_MS;
}
