/* The words of options that have a fixed set of values. */
#include "proto/words/abi_word.h"
#include "proto/words/engine_word.h"
#include "proto/words/fill_word.h"
#include "proto/words/sandbox_word.h"

#define LIST(name, expected)                                                           \
	{                                                                              \
		name, sizeof(name) / sizeof((name)[0]), expected                       \
	}

static const char *const abis[] = {
	[MSD_ERA_SAID_CLASSIC] = "classic", [MSD_ERA_SAID_FFI] = "ffi"};
static const char *const engines[] = {[MSD_ENGINE_AUTO] = "auto",
				      [MSD_ENGINE_NATIVE] = "native",
				      [MSD_ENGINE_REFERENCE] = "reference"};
static const char *const fills[] = {
	[MSD_FILL_ZERO] = "zero", [MSD_FILL_SEEDED] = "seeded"};
static const char *const sandboxes[] = {[MSD_SANDBOX_AUTO] = "auto",
					[MSD_SANDBOX_CPU] = "cpu",
					[MSD_SANDBOX_OPENCL] = "opencl",
					[MSD_SANDBOX_CUDA] = "cuda",
					[MSD_SANDBOX_TRUSTED] = "trusted"};

const struct msd_word_list msd_abi_words = LIST(abis, MSD_ERA_WORDS);
const struct msd_word_list msd_engine_words = LIST(engines, MSD_ENGINE_WORDS);
const struct msd_word_list msd_fill_words = LIST(fills, MSD_FILL_WORDS);
const struct msd_word_list msd_sandbox_words = LIST(sandboxes, MSD_SANDBOX_WORDS);
