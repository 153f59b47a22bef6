/*
 * Functions of a relay VM image. Each instruction is an opcode and a list of numbers.
 * A form per opcode gives the kind of each number (a register, a constant, a jump,
 * ...), and numbers out of range are rejected. So the VM needs no checks.
 */
#include <stdlib.h>

#include "artifact/relay/image.h"

static msd_err truncated(struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_ARTIFACT, "truncated (code)");
}

/* Kind of an operand. A count gives the number of operands of the next kind that
 * follow at the end of the instruction. */
enum operand {
	R = 1, /* register */
	W,     /* any number */
	F,     /* function */
	P,     /* packed function */
	K,     /* constant */
	J,     /* jump */
	D,     /* extent of a shape, or part of a dtype: not negative */
	NR,    /* number of registers at the end */
	ND,    /* number of extents at the end */
};

static const struct {
	uint8_t n;
	uint8_t operands[8];
} forms[MSD_RELAY_OP_COUNT] = {
	[MSD_RELAY_MOVE] = {2, {R, R}},
	[MSD_RELAY_RET] = {1, {R}},
	[MSD_RELAY_INVOKE] = {3, {F, NR, R}},
	[MSD_RELAY_INVOKE_CLOSURE] = {3, {R, NR, R}},
	[MSD_RELAY_INVOKE_PACKED] = {3, {P, NR, D}},
	[MSD_RELAY_ALLOC_TENSOR] = {7, {R, R, D, D, D, ND, R}},
	[MSD_RELAY_ALLOC_TENSOR_REG] = {7, {R, R, R, D, D, D, R}},
	[MSD_RELAY_ALLOC_ADT] = {3, {W, NR, R}},
	[MSD_RELAY_ALLOC_CLOSURE] = {3, {F, NR, R}},
	[MSD_RELAY_GET_FIELD] = {3, {R, D, R}},
	[MSD_RELAY_IF] = {4, {R, R, J, J}},
	[MSD_RELAY_LOAD_CONST] = {2, {K, R}},
	[MSD_RELAY_GOTO] = {1, {J}},
	[MSD_RELAY_GET_TAG] = {2, {R, R}},
	[MSD_RELAY_LOAD_CONSTI] = {2, {W, R}},
	[MSD_RELAY_FATAL] = {0, {0}},
	[MSD_RELAY_ALLOC_STORAGE] = {7, {R, D, D, D, D, D, R}},
	[MSD_RELAY_SHAPE_OF] = {2, {R, R}},
	[MSD_RELAY_RESHAPE] = {3, {R, R, R}},
	[MSD_RELAY_DEVICE_COPY] = {4, {R, D, D, R}},
	[MSD_RELAY_KILL] = {1, {R}},
};
/* Since 0.14. The size of a storage with extents contains a leftover pointer of the
 * compiler. */
static const uint8_t form_load_const_014[] = {K, D, R};
static const uint8_t form_alloc_storage_014[] = {R, D, D, D, D, D, ND, R};
static const uint8_t form_alloc_storage_shaped[] = {W, D, D, D, D, D, ND, R};

/* The form of an instruction: two have longer ones since 0.14. */
static const uint8_t *form_of(const struct msd_relay_ins *ins, uint32_t *ret_n)
{
	if (ins->op == MSD_RELAY_LOAD_CONST && ins->n_fields == 3) {
		*ret_n = 3;
		return form_load_const_014;
	}
	if (ins->op == MSD_RELAY_ALLOC_STORAGE && ins->n_fields > 7) {
		*ret_n = 8;
		return msd_relay_storage_has_shape(ins) ? form_alloc_storage_shaped
							: form_alloc_storage_014;
	}
	*ret_n = forms[ins->op].n;
	return forms[ins->op].operands;
}

struct checking {
	const struct msd_relay_image *img;
	const struct msd_relay_func *f;
	uint32_t pc;
};

static bool is_below(int64_t v, uint64_t limit)
{
	return v >= 0 && (uint64_t)v < limit;
}

static bool operand_fits(const struct checking *k, uint8_t kind, int64_t v)
{
	switch ((enum operand)kind) {
	case R:
		return is_below(v, k->f->n_regs);
	case W:
		return true;
	case F:
		return is_below(v, k->img->n_funcs);
	case P:
		return is_below(v, k->img->n_packed);
	case K:
		return is_below(v, k->img->n_consts);
	case J:
		return v > INT32_MIN && v < INT32_MAX &&
		       is_below((int64_t)k->pc + v, k->f->n_code);
	case D:
	case NR:
	case ND:
		return v >= 0;
	}
	return false;
}

static msd_err bad_instruction(const struct checking *k, const char *what,
			       struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_ARTIFACT, "instruction %u: %s", k->pc, what);
}

/* Registers or extents after the fixed fields; a fixed field gives their number. */
static msd_err check_tail(const struct checking *k, const struct msd_relay_ins *ins,
			  uint32_t n, const uint8_t *form, struct msd_diag *d)
{
	int64_t want = 0;
	uint8_t kind = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (form[i] != NR && form[i] != ND)
			continue;
		kind = form[i] == NR ? R : D;
		want = ins->fields[i];
	}
	if ((uint64_t)want != ins->n_fields - n)
		return bad_instruction(k, "its number of operands is wrong", d);
	for (uint32_t i = n; i < ins->n_fields; i++) {
		if (!operand_fits(k, kind, ins->fields[i]))
			return bad_instruction(k, "an operand is out of range", d);
	}
	return MSD_OK;
}

static msd_err check_instruction(const struct checking *k,
				 const struct msd_relay_ins *ins, struct msd_diag *d)
{
	uint32_t n;
	const uint8_t *form = form_of(ins, &n);

	if (ins->n_fields < n)
		return bad_instruction(k, "it has too few operands", d);
	for (uint32_t i = 0; i < n; i++) {
		if (!operand_fits(k, form[i], ins->fields[i]))
			return bad_instruction(k, "an operand is out of range", d);
	}
	if (ins->op == MSD_RELAY_INVOKE_PACKED && ins->fields[2] > ins->fields[1])
		return bad_instruction(k, "more outputs than arguments", d);
	return check_tail(k, ins, n, form, d);
}

/* The same hash as the compiler's. */
static uint64_t hash_of(int64_t op, const int64_t *fields, uint32_t n)
{
	uint64_t key = (uint64_t)op;

	for (uint32_t i = 0; i < n; i++)
		key ^= (uint64_t)fields[i] + 0x9e3779b9 + (key << 6) + (key >> 2);
	return key;
}

static msd_err read_instruction(struct msd_cur *c, const struct checking *k,
				struct msd_relay_ins *ins, struct msd_diag *d)
{
	size_t n = msd_cur_count64(c, sizeof(int64_t));

	if (c->bad || n < 2 || n > UINT32_MAX)
		return truncated(d);
	const uint64_t hash = msd_cur_u64(c);
	const int64_t op = msd_cur_i64(c);
	if (op < 0 || op >= MSD_RELAY_OP_COUNT)
		return bad_instruction(k, "unknown operation", d);
	int64_t *fields = calloc(n, sizeof(*fields));
	if (fields == NULL)
		return msd_diag_no_memory(d);
	*ins = (struct msd_relay_ins){.op = (enum msd_relay_op)op,
				      .n_fields = (uint32_t)n - 2,
				      .fields = fields};
	for (size_t i = 0; i < n - 2; i++)
		fields[i] = msd_cur_i64(c);
	if (c->bad)
		return truncated(d);
	if (hash_of(op, fields, ins->n_fields) != hash)
		return bad_instruction(k, "its hash differs", d);
	return check_instruction(k, ins, d);
}

static bool parse_count(struct msd_span text, uint64_t limit, uint32_t *ret)
{
	uint64_t v = 0;

	if (text.n == 0 || text.n > 10)
		return false;
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] < '0' || text.p[i] > '9')
			return false;
		v = v * 10 + (uint64_t)(text.p[i] - '0');
	}
	*ret = (uint32_t)v;
	return v <= limit;
}

/* {name, registers, instructions}, the numbers as text. */
static msd_err read_head(struct msd_cur *c, struct msd_relay_func *f,
			 struct msd_diag *d)
{
	struct msd_span regs, code;

	if (msd_cur_u64(c) != 3)
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "no name and sizes");
	f->name = msd_cur_str64(c);
	regs = msd_cur_str64(c);
	code = msd_cur_str64(c);
	if (c->bad)
		return truncated(d);
	/* An instruction has three words at least. */
	if (!parse_count(regs, MSD_RELAY_MAX_REGS, &f->n_regs) ||
	    !parse_count(code, c->left / 24, &f->n_code) || f->n_code == 0) {
		return msd_diag_set(
			d, MSD_BAD_ARTIFACT, "%.*s registers, %.*s instructions",
			(int)(regs.n < 16 ? regs.n : 16), (const char *)regs.p,
			(int)(code.n < 16 ? code.n : 16), (const char *)code.p);
	}
	return MSD_OK;
}

static msd_err read_params(struct msd_cur *c, struct msd_relay_func *f,
			   struct msd_diag *d)
{
	size_t n = msd_cur_count64(c, sizeof(uint64_t));

	if (c->bad || n > f->n_regs) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "more parameters than registers");
	}
	f->params = calloc(n + 1, sizeof(*f->params));
	if (f->params == NULL)
		return msd_diag_no_memory(d);
	f->n_params = (uint32_t)n;
	for (size_t i = 0; i < n; i++)
		f->params[i] = msd_cur_str64(c);
	return c->bad ? truncated(d) : MSD_OK;
}

static msd_err read_param_types(struct msd_cur *c, struct msd_relay_image *img,
				struct msd_relay_func *f, struct msd_diag *d)
{
	const size_t n = msd_cur_count64(c, sizeof(int64_t));

	f->param_types = calloc((size_t)f->n_params + 1, sizeof(*f->param_types));
	if (f->param_types == NULL)
		return msd_diag_no_memory(d);
	for (size_t i = 0; i < n; i++) {
		const int32_t type = msd_relay_device(img, msd_cur_i64(c));
		if (c->bad)
			break;
		if (type < 0 || i >= f->n_params) {
			return msd_diag_set(d, MSD_BAD_ARTIFACT,
					    "parameter %zu has no device", i);
		}
		f->param_types[i] = type;
	}
	return c->bad ? truncated(d) : MSD_OK;
}

/* Devices in the fields become types. */
static msd_err name_devices(const struct checking *k, struct msd_relay_image *img,
			    struct msd_relay_ins *ins, struct msd_diag *d)
{
	const bool is_copy = ins->op == MSD_RELAY_DEVICE_COPY;
	const uint32_t first = is_copy ? 1 : 5;
	const uint32_t last = is_copy ? 2 : 5;

	if (!is_copy && ins->op != MSD_RELAY_ALLOC_STORAGE)
		return MSD_OK;
	for (uint32_t i = first; i <= last; i++) {
		const int32_t type = msd_relay_device(img, ins->fields[i]);
		if (type < 0)
			return bad_instruction(k, "there is no such device", d);
		ins->fields[i] = type;
	}
	return MSD_OK;
}

/* No path runs past the end. */
static msd_err check_end(const struct msd_relay_func *f, struct msd_diag *d)
{
	const enum msd_relay_op op = f->code[f->n_code - 1].op;

	if (op == MSD_RELAY_RET || op == MSD_RELAY_GOTO || op == MSD_RELAY_IF ||
	    op == MSD_RELAY_FATAL)
		return MSD_OK;
	return msd_diag_set(d, MSD_BAD_ARTIFACT, "its code does not end");
}

msd_err msd_relay_read_func(struct msd_cur *c, struct msd_relay_image *img,
			    struct msd_relay_func *f, struct msd_diag *d)
{
	struct checking k = {.img = img, .f = f};
	msd_err err = read_head(c, f, d);

	if (err == MSD_OK)
		err = read_params(c, f, d);
	if (err == MSD_OK)
		err = read_param_types(c, img, f, d);
	if (err != MSD_OK)
		return err;
	f->code = calloc(f->n_code, sizeof(*f->code));
	if (f->code == NULL)
		return msd_diag_no_memory(d);
	for (; err == MSD_OK && k.pc < f->n_code; k.pc++) {
		struct msd_relay_ins *ins = &f->code[k.pc];
		err = read_instruction(c, &k, ins, d);
		if (err == MSD_OK)
			err = name_devices(&k, img, ins, d);
	}
	return err == MSD_OK ? check_end(f, d) : err;
}

msd_err msd_relay_check_calls(const struct msd_relay_image *img,
			      const struct msd_relay_func *f, struct msd_diag *d)
{
	for (uint32_t i = 0; i < f->n_code; i++) {
		const struct msd_relay_ins *ins = &f->code[i];
		const struct checking k = {.img = img, .f = f, .pc = i};

		if (ins->op == MSD_RELAY_INVOKE &&
		    (uint64_t)ins->fields[1] != img->funcs[ins->fields[0]].n_params) {
			return bad_instruction(
				&k, "another number of arguments than parameters", d);
		}
		if (ins->op == MSD_RELAY_ALLOC_CLOSURE &&
		    (uint64_t)ins->fields[1] > img->funcs[ins->fields[0]].n_params) {
			return bad_instruction(
				&k, "more free variables than parameters", d);
		}
	}
	return MSD_OK;
}

const struct msd_relay_ins *msd_relay_find_result(const struct msd_relay_func *f)
{
	const struct msd_relay_ins *last = &f->code[f->n_code - 1];

	for (uint32_t i = 0; last->op == MSD_RELAY_RET && i < f->n_code; i++) {
		if (f->code[i].op == MSD_RELAY_ALLOC_TENSOR &&
		    f->code[i].fields[6] == last->fields[0])
			return &f->code[i];
	}
	return NULL;
}
