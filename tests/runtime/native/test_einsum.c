/* Einsum by the native engine and by the reference engine (agree.h). */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "runtime/engine/native/claim.h"
#include "tests/graph/one.h"
#include "tests/runtime/native/agree.h"

struct row {
	const char *equation;
	size_t na, nb;
	int64_t a[4], b[4];
	bool is_native; /* a stack of products computes it */
};

static const struct row rows[] = {
	{"bhqd,bhkd->bhqk", 4, 4, {2, 3, 9, 17}, {2, 3, 20, 17}, true},
	{"bqhd,bkhd->bhqk", 4, 4, {2, 9, 3, 17}, {2, 20, 3, 17}, true},
	{"bhqk,bkhd->bqhd", 4, 4, {2, 3, 9, 17}, {2, 17, 3, 33}, true},
	{"bhwc,hkc->bhwk", 4, 3, {2, 5, 7, 16}, {5, 9, 16}, false},
	{"...ij,...jk->...ik", 4, 3, {2, 3, 5, 8}, {3, 8, 7}, false},
	{"ij,jk->ik", 2, 2, {19, 300}, {300, 70}, true},
	{"ij,jk->ki", 2, 2, {19, 30}, {30, 70}, true},
	{"ji,kj->ik", 2, 2, {30, 19}, {70, 30}, true},
	{"abc,bcd->ad", 3, 3, {5, 6, 7}, {6, 7, 9}, true},
	{"abc,cbd->ad", 3, 3, {5, 6, 7}, {7, 6, 9}, false},
	{"ij,ij->i", 2, 2, {9, 30}, {9, 30}, true},
	{"ij,j->i", 2, 1, {9, 30}, {30}, true},
	{"i,j->ij", 1, 1, {9}, {30}, true},
	{"i,i->", 1, 1, {50}, {50}, true},
	{"ij,kl->ik", 2, 2, {3, 4}, {5, 6}, false},
	{"ii,ij->j", 2, 2, {8, 8}, {8, 7}, true},
	{"ij,jk->ik", 2, 2, {0, 30}, {30, 7}, true},
	{"ij,jk->ik", 2, 2, {5, 0}, {0, 7}, true},
};

Test(native_einsum, agrees)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *r = &rows[i];
		const modser_sg_attr equation = {.kind = MODSER_ATTR_STR,
						 .as.s = r->equation};
		struct one o = one_begin("Einsum");
		size_t n;

		cr_assert_eq(modser_sg_op_set_param(modser_sg_node_op(o.node),
						    "equation", &equation),
			     0);
		(void)modser_sg_node_add_input(o.node, given(o.g, r->na, r->a, 81));
		(void)modser_sg_node_add_input(o.node, given(o.g, r->nb, r->b, 82));
		float *want = run(o.g, "reference", 1, &n);
		float *is = run(o.g, "native", 1, &n);
		cr_expect_eq(msd_native_find("Einsum")->may(o.node), r->is_native, "%s",
			     r->equation);
		expect_close(r->equation, is, want, n);
		expect_same_bits(r->equation, o.g, is);
		free(want);
		free(is);
		one_end(&o);
	}
}
