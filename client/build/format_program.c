/*
 * A virtual machine's program in its own file, as executables of TVM write it
 * (`mod.ro` for Relay). Its code is in a library, so it cannot be loaded alone; it
 * can be inspected.
 */
#include "artifact/inspect/companion.h"
#include "artifact/inspect/program.h"
#include "artifact/json.h"
#include "artifact/kind/look.h"
#include "client/build/formats.h"

static bool is_program(const char *path, struct msd_span file)
{
	(void)path;
	return msd_companion_of(file) == MSD_COMPANION_PROGRAM;
}

static msd_err inspect(const struct msd_cli *cli, struct msd_span file,
		       struct msd_buf *out, struct msd_diag *d)
{
	struct msd_program p = {0};
	msd_err err = msd_program_read(file, MSD_ERA_NONE, &p, d);

	if (err == MSD_OK && cli->vm) {
		err = msd_look_find(p.kind)->list(p.payload, p.era, out, d);
	} else if (err == MSD_OK && cli->json) {
		msd_json_put(out, msd_model_json(&p.model), JSON_COMPACT);
	} else if (err == MSD_OK) {
		msd_buf_printf(out, "%s without its library:\n", p.title);
		msd_model_text(&p.model, 0, out);
	}
	msd_program_finish(&p);
	return err;
}

const struct msd_file_format msd_format_program = {
	.name = "a virtual machine's program",
	.traits = MSD_FORMAT_VM,
	.is = is_program,
	.prepare = msd_format_refuse,
	.inspect = inspect,
};
