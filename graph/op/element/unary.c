/* Element-wise operators of one tensor, without parameters. */
#include "graph/ir/infer.h"
#include "graph/op/op.h"

#define UNARY(id, text)                                                                \
	const modser_sg_op_schema msd_op_##id = {                                      \
		.name = (text),                                                        \
		OP_IN(1, 1),                                                           \
		OP_OUT(1, 1),                                                          \
		.infer = msd_infer_same,                                               \
	}

UNARY(tanh, "Tanh");
UNARY(sigmoid, "Sigmoid");
UNARY(logistic, "Logistic");
UNARY(absval, "Absval");
UNARY(ceil, "Ceil");
UNARY(round, "Round");
UNARY(zeros_like, "ZerosLike");
UNARY(mish, "Mish");
UNARY(relu1, "ReLU1");
UNARY(softplus, "Softplus");
UNARY(reciprocal, "Reciprocal");
UNARY(noop, "Noop");

/* Tengine has most of these as types of Unary. */
UNARY(acos, "Acos");
UNARY(acosh, "Acosh");
UNARY(asin, "Asin");
UNARY(asinh, "Asinh");
UNARY(atan, "Atan");
UNARY(atanh, "Atanh");
UNARY(cos, "Cos");
UNARY(cosh, "Cosh");
UNARY(erf, "Erf");
UNARY(exp, "Exp");
UNARY(floor, "Floor");
UNARY(log, "Log");
UNARY(neg, "Neg");
UNARY(not, "Not");
UNARY(sign, "Sign");
UNARY(sin, "Sin");
UNARY(sinh, "Sinh");
UNARY(softsign, "Softsign");
UNARY(sqrt, "Sqrt");
UNARY(tan, "Tan");
UNARY(bitwise_not, "BitwiseNot");
