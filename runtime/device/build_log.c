#include "runtime/device/build_log.h"

#include <stdlib.h>
#include <string.h>

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
