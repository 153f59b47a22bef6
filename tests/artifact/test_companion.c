#include <criterion/criterion.h>
#include <string.h>

#include "artifact/inspect/companion.h"
#include "artifact/inspect/inspect.h"

#define GRAPH "{\"nodes\": [], \"arg_nodes\": []}"
#define PARAMS "\xb7\x9c\x04\x05\x4f\x8d\xe5\xf7\0\0\0\0\0\0\0\0"
#define PROGRAM "\x1d\x15\x14\x42\x2f\xde\x25\xd2program"
#define PROGRAM_WITH_LENGTH "\x0f\0\0\0\0\0\0\0" PROGRAM
#define PROGRAM_V2 "\x1e\x15\x14\x42\x2f\xde\x25\xd2program"

#define SPAN(text) ((struct msd_span){(const uint8_t *)(text), sizeof(text) - 1})

static const struct {
	struct msd_span file;
	const char *said;
} files[] = {
	{{(const uint8_t *)GRAPH, sizeof(GRAPH) - 1}, "graph without its library"},
	{{(const uint8_t *)PARAMS, sizeof(PARAMS) - 1}, "parameters without their"},
	{{(const uint8_t *)PROGRAM, sizeof(PROGRAM) - 1},
	 "program without its library"},
	{{(const uint8_t *)PROGRAM_WITH_LENGTH, sizeof(PROGRAM_WITH_LENGTH) - 1},
	 "program without its library"},
	{{(const uint8_t *)PROGRAM_V2, sizeof(PROGRAM_V2) - 1},
	 "program without its library"},
};

Test(companion, says_beside_what_a_file_is_loaded)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct msd_inspect *inspect = NULL;
		struct msd_diag d = {0};
		cr_expect(msd_companion_is(files[i].file));
		cr_expect_eq(
			msd_inspect_read(files[i].file, MSD_ERA_UNSAID, &inspect, &d),
			MSD_UNSUPPORTED);
		cr_expect_not_null(strstr(msd_diag_text(&d), files[i].said), "%s",
				   msd_diag_text(&d));
		msd_diag_finish(&d);
	}
}

Test(companion, leaves_everything_else_alone)
{
	const struct msd_span others[] = {SPAN(""), SPAN("{}"),
					  SPAN("\x7f"
					       "ELF"),
					  SPAN("\xb7\x9c\x04\x05\x4f\x8d\xe5")};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		cr_expect_not(msd_companion_is(others[i]), "file %zu", i);
		cr_expect_eq(msd_companion_refuse(others[i], NULL), MSD_OK);
	}
}
