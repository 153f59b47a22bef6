#ifndef MSD_GRAPH_OP_ML_ENSEMBLE_H
#define MSD_GRAPH_OP_ML_ENSEMBLE_H
/* The inputs of a TreeEnsemble, for its inference, its rows and its kernel. */

enum {
	MSD_ENSEMBLE_X,
	MSD_ENSEMBLE_MODES,
	MSD_ENSEMBLE_SPLITS,
	MSD_ENSEMBLE_WEIGHTS,
	MSD_ENSEMBLE_MEMBERS /* members; NaN ends each set */
};

/* Comparisons, by ONNX's numbers. */
enum msd_ensemble_mode {
	MSD_ENSEMBLE_LEQ,
	MSD_ENSEMBLE_LT,
	MSD_ENSEMBLE_GTE,
	MSD_ENSEMBLE_GT,
	MSD_ENSEMBLE_EQ,
	MSD_ENSEMBLE_NEQ,
	MSD_ENSEMBLE_MEMBER,
	MSD_ENSEMBLE_MODE_COUNT
};

#endif
