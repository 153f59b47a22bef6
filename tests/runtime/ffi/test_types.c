#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/value/types.h"

static struct msd_bytes text(const char *t)
{
	return (struct msd_bytes){t, strlen(t)};
}

static int32_t add(const char *key, int32_t parent, int32_t depth, int32_t n_children)
{
	return msd_type_register(&(struct msd_type_request){.key = text(key),
							    .index = -1,
							    .depth = depth,
							    .n_children = n_children,
							    .may_overflow = true,
							    .parent = parent});
}

/* Take the fault, which contains @part. */
static void expect_fault(const char *part)
{
	char *fault = msd_type_take_fault();

	cr_assert_not_null(fault, "no fault: %s", part);
	cr_expect_not_null(strstr(fault, part), "%s", fault);
	free(fault);
}

Test(types, fixed_types_have_the_keys_of_tvm_ffi)
{
	int32_t index = 0;

	cr_assert_eq(msd_type_find(&(struct msd_bytes){"ffi.Map", 7}, &index), 0);
	cr_expect_eq(index, MSD_T_MAP);
	const struct msd_type_info *map = msd_type_info(MSD_T_MAP);
	cr_expect_eq(map->depth, 1);
	cr_expect_eq(map->ancestors[0], msd_type_info(MSD_T_OBJECT));
	cr_expect_str_eq(msd_type_info(MSD_T_SMALL_STR)->key.data, "ffi.SmallStr");
	cr_expect_eq(msd_type_info(MSD_T_INT)->depth, 0);
	cr_expect_str_eq(msd_type_info(77777)->key.data, "?");
	cr_expect_str_eq(msd_type_info(-5)->key.data, "?");
}

Test(types, a_key_gets_one_index_and_its_ancestors)
{
	const int32_t base = add("test.Base", MSD_T_OBJECT, 1, 0);
	const int32_t below = add("test.Below", base, 2, 0);

	cr_expect_geq(base, MSD_T_FIRST_FREE);
	cr_expect_neq(base, below);
	cr_expect_eq(add("test.Base", MSD_T_OBJECT, 1, 0), base);
	const struct msd_type_info *info = msd_type_info(below);
	cr_assert_eq(info->depth, 2);
	cr_expect_eq(info->ancestors[0]->type, MSD_T_OBJECT);
	cr_expect_eq(info->ancestors[1]->type, base);
	cr_expect_null(msd_type_take_fault());
}

Test(types, children_get_the_indices_that_their_parent_reserved)
{
	const int32_t base = add("test.Wide", MSD_T_OBJECT, 1, 2);
	const int32_t first = add("test.First", base, 2, 0);
	const int32_t second = add("test.Second", base, 2, 0);
	const int32_t third = add("test.Third", base, 2, 0);

	cr_expect_eq(first, base + 1);
	cr_expect_eq(second, base + 2);
	cr_expect_gt(third, second, "it overflows");
	cr_expect_null(msd_type_take_fault());
}

Test(types, a_look_up_registers_nothing)
{
	cr_expect_eq(add("test.Unseen", -2, 1, 0), -2);
	cr_expect_eq(add("test.Unseen", -2, 1, 0), -2);
}

Test(types, requests_that_cannot_be_served_are_noted)
{
	const int32_t base = add("test.Once", MSD_T_OBJECT, 1, 0);

	cr_expect_geq(add("test.NoParent", 9999, 2, 0), MSD_T_FIRST_FREE);
	expect_fault("test.NoParent: its parent is unknown");
	(void)add("test.Deep", base, 5, 0);
	expect_fault("its depth");
	cr_expect_eq(add("test.Once", base, 2, 0), base);
	expect_fault("already registered");
	(void)add("test.Many", MSD_T_OBJECT, 1, INT32_MAX);
	expect_fault("too many");
	(void)add("test.Final", MSD_T_STR, 2, 0);
	expect_fault("takes no more");
	(void)msd_type_register(&(struct msd_type_request){.key = text("test.Fixed"),
							   .index = MSD_T_MAP,
							   .depth = 1,
							   .parent = 64});
	expect_fault("fixed index");
}

Test(types, fields_and_methods_are_kept)
{
	const int32_t type = add("test.Parts", MSD_T_OBJECT, 1, 0);
	char name[] = "first";
	const struct msd_field_info field = {
		.name = {name, 5}, .flags = 2, .offset = 24, .fallback = msd_int(7)};
	const struct msd_method_info method = {.name = {name, 5}};

	cr_assert_eq(msd_type_add_field(type, &field), 0);
	cr_assert_eq(msd_type_add_method(type, &method), 0);
	name[0] = 'F'; /* the library is gone */
	const struct msd_type_info *info = msd_type_info(type);
	cr_assert_eq(info->n_fields, 1);
	cr_expect_str_eq(info->fields[0].name.data, "first");
	cr_expect_eq(info->fields[0].fallback.as.i, 7);
	cr_expect_eq(info->n_methods, 1);
}

Test(types, a_part_is_registered_once)
{
	const int32_t type = add("test.Again", MSD_T_OBJECT, 1, 0);
	const struct msd_field_info field = {.name = text("x")};
	const struct msd_type_metadata metadata = {.total_size = 32};
	struct msd_diag d = {0};

	cr_assert_eq(msd_type_add_field(type, &field), 0);
	cr_expect_eq(msd_type_add_field(type, &field), -1);
	(void)msd_abi_fetch_error(&d);
	cr_expect_not_null(strstr(msd_diag_text(&d), "Duplicate field name \"x\""));
	cr_assert_eq(msd_type_set_metadata(type, &metadata), 0);
	cr_expect_eq(msd_type_set_metadata(type, &metadata), -1);
	cr_expect_eq(msd_type_add_field(12345, &field), -1);
	(void)msd_abi_fetch_error(&d);
	cr_expect_not_null(strstr(msd_diag_text(&d), "type_index=12345"));
	msd_diag_finish(&d);
}

Test(types, a_column_has_the_values_of_its_types)
{
	const int32_t type = add("test.Column", MSD_T_OBJECT, 1, 0);
	const struct msd_bytes name = text("__test__");
	const struct msd_any value = msd_int(3);

	cr_expect_null(msd_type_column(&name));
	cr_assert_eq(msd_type_set_attribute(MSD_T_NONE, &name, &value), 0);
	const struct msd_type_column *c = msd_type_column(&name);
	cr_assert_not_null(c);
	cr_expect_eq(c->n, 0);
	cr_assert_eq(msd_type_set_attribute(type, &name, &value), 0);
	cr_assert_gt(c->n, type - c->first);
	cr_expect_eq(c->values[type - c->first].as.i, 3);
	cr_expect_eq(msd_type_set_attribute(type, &name, &value), -1);
	msd_abi_clear();
}
