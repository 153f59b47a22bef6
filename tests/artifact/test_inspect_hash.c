#include <criterion/criterion.h>

#include "artifact/inspect/hash.h"

#define ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

/* "abc" is an example of FIPS 180-4; the other text was given to sha256sum. */
Test(inspect_hash, hashes_are_of_the_file_and_of_payloads)
{
	struct msd_inspect_module modules[] = {{.offset = 4, .bytes = 3},
					       {.offset = 8}};
	struct msd_inspect i = {.modules = modules, .n_modules = 2};

	msd_inspect_hash(&i, (struct msd_span){(const uint8_t *)"fileabc.", 8});
	cr_expect_str_eq(
		i.sha256,
		"b9371e614c1f4249cfe9619b0629c3ab65febda5542f9c9d2e80c0258775c147");
	cr_expect_str_eq(modules[0].sha256, ABC);
	cr_expect_str_eq(modules[1].sha256, "", "a module without a payload has none");
}

Test(inspect_hash, a_payload_beyond_the_file_has_none)
{
	struct msd_inspect_module modules[] = {{.offset = 2, .bytes = 2},
					       {.offset = 4, .bytes = 1},
					       {.offset = UINT64_MAX, .bytes = 2}};
	struct msd_inspect i = {.modules = modules, .n_modules = 3};

	msd_inspect_hash(&i, (struct msd_span){(const uint8_t *)"abc", 3});
	cr_expect_str_eq(i.sha256, ABC);
	for (uint32_t k = 0; k < 3; k++)
		cr_expect_str_eq(modules[k].sha256, "");
}
