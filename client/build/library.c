#include "client/build/library.h"

#include <stdlib.h>
#include <string.h>

#include "artifact/provides/provides.h"
#include "client/cli/doctor/system.h"

/* Record where each needed library is. */
static msd_err note_places(struct msd_inspect *inspect, const struct msd_system *system,
			   struct msd_diag *d)
{
	inspect->places = calloc(inspect->n_needed + 1, sizeof(*inspect->places));
	if (inspect->places == NULL)
		return msd_diag_no_memory(d);
	for (size_t i = 0; i < inspect->n_needed; i++) {
		const char *path = msd_system_path(system, inspect->needed[i]);
		if (path == NULL && !msd_provides_library(inspect->needed[i]))
			inspect->missing = inspect->needed[i];
		if (path == NULL)
			continue;
		inspect->places[i] = strdup(path);
		if (inspect->places[i] == NULL)
			return msd_diag_no_memory(d);
	}
	return MSD_OK;
}

static msd_err resolve(struct msd_inspect *inspect, struct msd_span file,
		       struct msd_diag *d)
{
	struct msd_system system = {0};
	struct msd_elf elf = {0};
	msd_err err = msd_elf_read(file, &elf, d);
	const bool is_ours = err == MSD_OK && msd_elf_check_host(&elf, NULL) == MSD_OK;

	msd_elf_finish(&elf);
	if (!is_ours)
		return err;
	err = msd_system_read(inspect, &system, d);
	if (err == MSD_OK)
		err = msd_inspect_resolve(inspect, msd_system_find, &system, d);
	if (err == MSD_OK)
		err = note_places(inspect, &system, d);
	msd_system_finish(&system);
	return err;
}

msd_err msd_library_look(const struct msd_cli *cli, struct msd_span file,
			 struct msd_inspect **ret, struct msd_diag *d)
{
	msd_err err = msd_inspect_read(file, cli->run.era, ret, d);

	return err == MSD_OK ? resolve(*ret, file, d) : err;
}
