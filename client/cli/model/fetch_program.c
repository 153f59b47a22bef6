#include "client/cli/model/fetch_program.h"

#include <limits.h>

#include "client/cli/model/program_path.h"
#include "store/program.h"

msd_err msd_fetch_program_run(char **words, struct msd_diag *d)
{
	char program[PATH_MAX];
	msd_err err = msd_program_path("modserd-fetch", "MODSERD_FETCH", program, d);

	if (err != MSD_OK)
		return err;
	words[0] = program;
	err = msd_program_run(words, d);
	words[0] = NULL;
	return err;
}
