#include "proto/base/err.h"

#include <string.h>

static const struct {
	const char *name;
	const char *sentence;
} table[] = {
#define MSD_ERR_ROW(name, number, wire, sentence) [number] = {wire, sentence},
	MSD_ERR_MAP(MSD_ERR_ROW)
#undef MSD_ERR_ROW
};

const char *msd_err_name(msd_err err)
{
	return (unsigned)err < MSD_ERR_COUNT ? table[err].name : "UNKNOWN";
}

const char *msd_err_sentence(msd_err err)
{
	return (unsigned)err < MSD_ERR_COUNT ? table[err].sentence : "unknown error";
}

msd_err msd_err_from_name(const char *name)
{
	for (unsigned i = 0; i < MSD_ERR_COUNT; i++) {
		if (strcmp(table[i].name, name) == 0)
			return (msd_err)i;
	}
	return MSD_INTERNAL;
}

bool msd_err_is_callers(msd_err err)
{
	return err == MSD_BAD_REQUEST || err == MSD_TOO_LARGE || err == MSD_NOT_FOUND ||
	       err == MSD_CANCELLED || err == MSD_STALE_HANDLE ||
	       err == MSD_BAD_ARGUMENT;
}
