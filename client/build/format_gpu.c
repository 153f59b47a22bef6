/* Device code without host code, as compilers and `unpack` write it: cubins, fatbins,
 * PTX. */
#include <string.h>

#include "artifact/gpu/code.h"
#include "artifact/json.h"
#include "client/build/formats.h"

static bool is(const char *path, struct msd_span file)
{
	const size_t n = strlen(path);
	const bool is_ptx = n > 4 && strcmp(path + n - 4, ".ptx") == 0;
	const struct msd_span format = {(const uint8_t *)"ptx", is_ptx ? 3 : 0};

	return msd_gpu_code_is(format, file);
}

static msd_err prepare(const struct msd_cli *cli, struct msd_loadable *l,
		       struct msd_diag *d)
{
	(void)cli, (void)l;
	return msd_diag_set(d, MSD_UNSUPPORTED,
			    "code for a device without the library that launches it: "
			    "load that, or exchange the code in it (modser unpack, "
			    "modser pack)");
}

static msd_err inspect(const struct msd_cli *cli, struct msd_span file,
		       struct msd_buf *out, struct msd_diag *d)
{
	struct msd_gpu_code code = {0};
	msd_err err = msd_gpu_code_read(file, &code, d);

	if (err != MSD_OK)
		return err;
	if (cli->json) {
		msd_json_put(out, msd_gpu_code_json(&code), JSON_COMPACT);
	} else {
		msd_gpu_code_text(&code, 0, out);
	}
	msd_gpu_code_finish(&code);
	return MSD_OK;
}

const struct msd_file_format msd_format_gpu = {
	.name = "device code",
	.is = is,
	.prepare = prepare,
	.inspect = inspect,
};
