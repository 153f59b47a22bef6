/* What the artifact library says of this build, against what the runtime does. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdio.h>

#include "artifact/provides/provides.h"
#include "runtime/abi/slots.h"
#include "runtime/kind/kinds.h"
#include "runtime/packed/global.h"

Test(provides, lists_are_sorted_and_say_each_name_once)
{
	for (int what = MSD_PROVIDED_SYMBOLS; what <= MSD_PROVIDED_KINDS; what++) {
		size_t n;
		const char *const *names = msd_provides((enum msd_provided)what, &n);

		for (size_t i = 1; i < n; i++)
			cr_expect_lt(strcmp(names[i - 1], names[i]), 0, "%s", names[i]);
	}
}

Test(provides, packed_functions_are_those_of_the_runtime)
{
	size_t n;
	const char *const *names = msd_provides(MSD_PROVIDED_PACKED, &n);

	cr_assert_gt(n, 30);
	for (size_t i = 0; i < n; i++)
		cr_expect_not_null(msd_global_find(names[i]), "%s", names[i]);
	cr_expect(!msd_provides_name(MSD_PROVIDED_PACKED, "vm.builtin.nothing"));
}

Test(provides, kinds_are_those_with_a_row)
{
	size_t n;
	const char *const *names = msd_provides(MSD_PROVIDED_KINDS, &n);

	cr_assert_gt(n, 8);
	for (size_t i = 0; i < n; i++) {
		cr_expect_neq(msd_node_kind_find(msd_span_of(names[i]))->ops,
			      &msd_kind_refused, "%s", names[i]);
	}
	cr_expect(msd_provides_name(MSD_PROVIDED_KINDS, "_lib"));
	cr_expect(!msd_provides_name(MSD_PROVIDED_KINDS, "vulkan"));
}

Test(provides, symbols_and_slots_are_there)
{
	size_t n;
	const char *const *names = msd_provides(MSD_PROVIDED_SYMBOLS, &n);

	cr_assert_gt(n, 15);
	for (size_t i = 0; i < n; i++)
		cr_expect_not_null(dlsym(RTLD_DEFAULT, names[i]), "%s", names[i]);
	names = msd_provides(MSD_PROVIDED_SLOTS, &n);
	cr_assert_gt(n, 10);
	for (size_t i = 0; i < n; i++)
		cr_expect_not_null(msd_slot_value(names[i]), "%s", names[i]);
}

/* The linker takes the names from a file of its own. */
Test(provides, symbols_are_those_that_are_exported)
{
	FILE *list = fopen(EXPORTS_LIST, "r");
	char line[128], name[128];
	size_t n, n_listed = 0;

	cr_assert_not_null(list);
	while (fgets(line, sizeof(line), list) != NULL) {
		if (sscanf(line, " %127[A-Za-z0-9_];", name) != 1)
			continue;
		cr_expect(msd_provides_name(MSD_PROVIDED_SYMBOLS, name), "%s", name);
		n_listed++;
	}
	cr_expect_eq(fclose(list), 0);
	(void)msd_provides(MSD_PROVIDED_SYMBOLS, &n);
	cr_expect_eq(n, n_listed);
}
