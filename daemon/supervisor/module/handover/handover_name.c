#include "daemon/supervisor/module/handover/handover_name.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void msd_handover_name_format(const struct msd_handover_name *name,
			      char ret[static MSD_HANDOVER_NAME_BYTES])
{
	char key[MSD_DIGEST_TEXT];

	msd_digest_format(&name->key, key);
	(void)snprintf(ret, MSD_HANDOVER_NAME_BYTES, MSD_HANDOVER_PREFIX "%d.%llu.%s",
		       (int)name->pid, (unsigned long long)name->group, key);
}

/* The text must be the one that formatting gives: no sign, no leading zeros, no
 * trailing bytes. */
bool msd_handover_name_parse(struct msd_span text, struct msd_handover_name *ret)
{
	const size_t prefix = strlen(MSD_HANDOVER_PREFIX);
	char copy[MSD_HANDOVER_NAME_BYTES], again[MSD_HANDOVER_NAME_BYTES];
	struct msd_handover_name name;
	char *end;

	if (text.n <= prefix || text.n >= sizeof(copy))
		return false;
	memcpy(copy, text.p, text.n);
	copy[text.n] = '\0';
	const unsigned long long pid = strtoull(copy + prefix, &end, 10);
	if (pid == 0 || pid > INT_MAX || *end != '.')
		return false;
	name.pid = (pid_t)pid;
	name.group = strtoull(end + 1, &end, 10);
	if (*end != '.' || !msd_digest_parse(msd_span_of(end + 1), &name.key))
		return false;
	msd_handover_name_format(&name, again);
	if (strcmp(copy, again) != 0)
		return false;
	*ret = name;
	return true;
}
