#include "artifact/inspect/companion.h"

#include <string.h>

#include "artifact/params/params.h"
#include "artifact/relax/image.h"

#define GRAPH_HEAD 4096u /* bytes of a graph.json that are checked */

static bool is_graph(struct msd_span file)
{
	static const char word[] = "\"nodes\"";
	const size_t n = file.n < GRAPH_HEAD ? file.n : GRAPH_HEAD;

	return n > 0 && file.p[0] == '{' &&
	       memmem(file.p, n, word, sizeof(word) - 1) != NULL;
}

static bool starts_with(struct msd_span file, uint64_t magic)
{
	return file.n >= sizeof(magic) && msd_le64(file.p) == magic;
}

static bool is_params(struct msd_span file)
{
	return starts_with(file, MSD_PARAMS_MAGIC);
}

/* Relay's magic equals Relax's first one. */
static bool is_program(struct msd_span file)
{
	const struct msd_span program = msd_companion_program(file);

	return starts_with(program, MSD_RELAX_MAGIC_V1) ||
	       starts_with(program, MSD_RELAX_MAGIC_V2);
}

static const struct {
	bool (*is)(struct msd_span file);
	const char *text;
} rows[] = {
	[MSD_COMPANION_GRAPH] =
		{is_graph,
		 "a graph executor's graph without its library; load both: modser load "
		 "NAME LIBRARY.so --graph GRAPH.json --params FILE (if MXNet wrote it: "
		 "modser load NAME FILE-symbol.json FILE.params)"},
	[MSD_COMPANION_PARAMS] = {is_params,
				  "parameters without their library; load both: modser "
				  "load NAME LIBRARY.so --params FILE"},
	[MSD_COMPANION_PROGRAM] =
		{is_program, "a virtual machine's program without its library; load "
			     "both: modser load NAME LIBRARY.so --graph FILE"},
};

struct msd_span msd_companion_program(struct msd_span file)
{
	const size_t n = sizeof(uint64_t);

	if (file.n < n || msd_le64(file.p) != file.n - n)
		return file;
	return (struct msd_span){file.p + n, file.n - n};
}

enum msd_companion msd_companion_of(struct msd_span file)
{
	for (size_t i = MSD_COMPANION_GRAPH; i <= MSD_COMPANION_PROGRAM; i++) {
		if (rows[i].is(file))
			return (enum msd_companion)i;
	}
	return MSD_COMPANION_NONE;
}

bool msd_companion_is(struct msd_span file)
{
	return msd_companion_of(file) != MSD_COMPANION_NONE;
}

msd_err msd_companion_refuse(struct msd_span file, struct msd_diag *d)
{
	const char *text = rows[msd_companion_of(file)].text;

	return text != NULL ? msd_diag_set(d, MSD_UNSUPPORTED, "%s", text) : MSD_OK;
}
