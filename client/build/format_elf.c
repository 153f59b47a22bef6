/* The format of libraries. A file that matches no other format is treated as a bad
 * library, and this reader names its real type. */
#include "artifact/inspect/hash.h"
#include "client/build/formats.h"
#include "client/build/library.h"

static bool is(const char *path, struct msd_span file)
{
	(void)path, (void)file;
	return true;
}

/* A library that no daemon can load is rejected before the upload. */
static msd_err prepare(const struct msd_cli *cli, struct msd_loadable *l,
		       struct msd_diag *d)
{
	struct msd_elf elf = {0};
	msd_err err =
		msd_elf_read((struct msd_span){l->library.p, l->library.n}, &elf, d);

	(void)cli;
	msd_elf_finish(&elf);
	return err;
}

static msd_err inspect(const struct msd_cli *cli, struct msd_span file,
		       struct msd_buf *out, struct msd_diag *d)
{
	struct msd_inspect *inspect = NULL;

	if (cli->vm)
		return msd_inspect_programs(file, out, d);
	msd_err err = msd_library_look(cli, file, &inspect, d);

	if (err == MSD_OK)
		msd_inspect_hash(inspect, file);
	if (err == MSD_OK && cli->dot) {
		msd_inspect_dot(inspect, out);
	} else if (err == MSD_OK && cli->json) {
		msd_inspect_json(inspect, out);
	} else if (err == MSD_OK) {
		msd_inspect_text(inspect, out);
	}
	msd_inspect_destroy(inspect);
	return err;
}

const struct msd_file_format msd_format_elf = {
	.name = "a library",
	.traits = MSD_FORMAT_DOT | MSD_FORMAT_VM,
	.is = is,
	.prepare = prepare,
	.inspect = inspect,
};
