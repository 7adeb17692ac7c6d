"""For every option: two command lines that differ in it, or the test that shows its effect."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Effect:
    """Two command lines that differ in one option.

    before, after : the lines; `pucli` is left out. `after` is refused with the words `refused` where there are some.
    view : key of the JSON document to compare, "" for all that is no passing value.
    needs : name of a fixture without which the test is skipped. slow : the test is marked slow.
    """

    before: str
    after: str
    refused: str = ""
    view: str = ""
    needs: str = ""
    slow: bool = False


OWN = "--data both.csv --label bought --positive yes"
DECLARED = "--dataset wine"
LEARNERS = {
    "train": "train --method gllc {rows}",
    "tune": "tune --method gllc {rows} --grid lam=0.1,1 --param sigma=1 --param c_u=0.1 --cv 3",
    "prior": "prior {rows} --estimator km2 --replicates 0",
    "auto": "auto {rows}",
}
# The options that name rows, alike in all commands that learn: rows before, rows after.
ROWS = {
    "dataset": (DECLARED, "--dataset breast-cancer"),
    "data": (OWN, OWN.replace("both", "shifted")),
    "label": (OWN, OWN.replace("bought", "rented")),
    "positive": (OWN, OWN.replace("yes", "no")),
    "scenario": (DECLARED, f"{DECLARED} --scenario single-training-set"),
    "label_frequency": (DECLARED, f"{DECLARED} --label-frequency 0.3"),
    "seed": (DECLARED, f"{DECLARED} --seed 1"),
    "split": (DECLARED, f"{DECLARED} --split splits.json"),
    "repeat": (DECLARED, f"{DECLARED} --repeat 1"),
    "rows": (OWN, f"{OWN} --rows 80"),
    "kinds": (OWN, f"{OWN} --as visits=category"),
    "drop": (OWN, f"{OWN} --drop income"),
    "only": (OWN, f"{OWN} --only income --only age"),
    "ids": (OWN, f"{OWN} --id income"),
    "unlabeled": (OWN, f"{OWN} --unlabeled no"),
    "groups": (OWN, f"{OWN} --groups visits"),
}
# Those of them that a command does not have.
NOT_OF = {
    "prior": ("split", "repeat"),
    "tune": ("split", "repeat"),
    "auto": ("dataset", "label_frequency", "split", "repeat", "scenario", "seed"),
}
TRAIN = LEARNERS["train"].format(rows=OWN)
BLSSVM = TRAIN.replace("gllc", "blssvm")
AUTO = LEARNERS["auto"].format(rows=OWN)
EVALUATE = "evaluate --model own.model --data true.csv --label really"
TUNE = LEARNERS["tune"].format(rows=OWN)
RBF = "tune --method svc-naive --data scaled.csv --label bought --positive yes --grid C=1,10"
REPRODUCE = "reproduce small.yaml --profile smoke --method gllc"

EFFECTS: dict[tuple[str, str], Effect] = {
    **{
        (command, option): Effect(line.format(rows=before), line.format(rows=after), slow=command == "auto")
        for command, line in LEARNERS.items()
        for option, (before, after) in ROWS.items()
        if option not in NOT_OF.get(command, ())
    },
    ("list", "what"): Effect("list methods", "list datasets"),
    ("fetch", "names"): Effect("fetch wine", "fetch breast-cancer"),
    ("fetch", "experiment"): Effect("fetch wine", "fetch --experiment small.yaml"),
    ("fetch", "everything"): Effect("fetch wine", "fetch --all"),
    ("fetch", "mirror"): Effect("fetch seeds", "fetch seeds --mirror MIRROR", needs="mirror"),
    ("train", "method"): Effect(TRAIN, TRAIN.replace("gllc", "glpual")),
    ("train", "param"): Effect(TRAIN, f"{TRAIN} --param lam=7"),
    ("train", "tune"): Effect(TRAIN, f"{TRAIN} --tune --param sigma=1 --param c_u=0.1", view="params"),
    ("train", "standardize"): Effect(TRAIN, f"{TRAIN} --raw"),
    ("train", "backend"): Effect(BLSSVM, f"{BLSSVM} --backend dask", refused="only Parquet files are read in blocks"),
    ("train", "predictions"): Effect(TRAIN, f"{TRAIN} --predictions out", refused="needs --backend dask"),
    ("auto", "scenario"): Effect(AUTO, f"{AUTO} --scenario single-training-set", slow=True),
    ("auto", "seed"): Effect(AUTO, f"{AUTO} --seed 1", slow=True),
    ("auto", "backend"): Effect(AUTO, f"{AUTO} --backend dask", refused="only Parquet files are read in blocks"),
    ("auto", "predictions"): Effect(AUTO, f"{AUTO} --predictions out", refused="needs --backend dask"),
    ("auto", "columns"): Effect(AUTO, f"{AUTO} --columns"),
    ("auto", "boosting"): Effect(AUTO, f"{AUTO} --boosting", refused="is for --backend dask"),
    ("predict", "model"): Effect(
        "predict --model own.model --data new.csv", "predict --model other.model --data new.csv"
    ),
    ("predict", "data"): Effect(
        "predict --model own.model --data new.csv", "predict --model own.model --data shifted.csv"
    ),
    ("predict", "ids"): Effect(
        "predict --model own.model --data new.csv", "predict --model own.model --data new.csv --id remark"
    ),
    ("predict", "top"): Effect(
        "predict --model own.model --data new.csv", "predict --model own.model --data new.csv --top 3"
    ),
    ("shift", "model"): Effect("shift --model own.model --data new.csv", "shift --model other.model --data new.csv"),
    ("shift", "data"): Effect("shift --model own.model --data new.csv", "shift --model own.model --data shifted.csv"),
    ("auto", "safe"): Effect(AUTO, f"{AUTO} --spreadsheet-safe", refused="applies to --scored FILE"),
    ("auto", "expected"): Effect(AUTO, f"{AUTO} --expected 20", view="estimates", slow=True),
    ("evaluate", "model"): Effect(EVALUATE, EVALUATE.replace("own", "other")),
    ("evaluate", "data"): Effect(EVALUATE, EVALUATE.replace("true.csv", "few.csv")),
    ("evaluate", "label"): Effect(EVALUATE, EVALUATE.replace("really", "reversed")),
    ("evaluate", "positive"): Effect(EVALUATE, f"{EVALUATE} --positive no"),
    ("evaluate", "labels"): Effect(EVALUATE, f"{EVALUATE} --labels pu"),
    ("evaluate", "metrics"): Effect(EVALUATE, f"{EVALUATE} --metric lift@5%"),
    ("evaluate", "dataset"): Effect(
        "evaluate --model wine.model --dataset wine",
        "evaluate --model wine.model --dataset iris",
        refused="trained on wine",
    ),
    ("tune", "method"): Effect(TUNE, TUNE.replace("gllc", "glpual")),
    ("tune", "param"): Effect(TUNE, TUNE.replace("sigma=1", "sigma=9"), view="params"),
    ("tune", "grid"): Effect(TUNE, TUNE.replace("lam=0.1,1", "lam=0.1,1,10"), view="points"),
    ("tune", "folds"): Effect(TUNE, TUNE.replace("--cv 3", "--cv 4"), view="fits"),
    ("tune", "cv_repeats"): Effect(TUNE, f"{TUNE} --cv-repeats 3", view="fits"),
    ("tune", "score"): Effect(TUNE, f"{TUNE} --score puf-pooled", view="score"),
    ("tune", "standardize"): Effect(RBF, f"{RBF} --raw", view="score"),
    ("prior", "estimator"): Effect(
        LEARNERS["prior"].format(rows=OWN), f"prior {OWN} --estimator tice --replicates 0", view="estimates"
    ),
    ("prior", "expected"): Effect(f"prior {OWN}", f"prior {OWN} --expected 20", view="given"),
    ("prior", "replicates"): Effect(
        f"prior {OWN} --estimator tice --replicates 2",
        f"prior {OWN} --estimator tice --replicates 4",
        view="estimates",
    ),
    ("split", "name"): Effect("split wine", "split iris"),
    ("split", "scenario"): Effect("split wine", "split wine --scenario single-training-set"),
    ("split", "label_frequency"): Effect("split wine", "split wine --label-frequency 0.3"),
    ("split", "repeats"): Effect("split wine", "split wine --repeats 3"),
    ("reproduce", "experiment"): Effect(f"{REPRODUCE} --dry-run", f"{REPRODUCE} --dry-run".replace("small", "large")),
    ("reproduce", "profile"): Effect(f"{REPRODUCE} --dry-run", "reproduce small.yaml --method gllc --dry-run"),
    ("reproduce", "method"): Effect(f"{REPRODUCE} --dry-run", f"{REPRODUCE} --method glpual --dry-run"),
    ("reproduce", "dataset"): Effect(REPRODUCE, f"{REPRODUCE} --dataset wine", refused="wine"),
    ("reproduce", "n_jobs"): Effect(f"{REPRODUCE} --dry-run", f"{REPRODUCE} --dry-run --n-jobs 2", view="n_jobs"),
    ("reproduce", "dry"): Effect(REPRODUCE, f"{REPRODUCE} --dry-run"),
    ("reproduce", "backend"): Effect(REPRODUCE, f"{REPRODUCE} --backend lokky", refused="'loky'"),
    ("reproduce", "only_collect"): Effect(REPRODUCE, f"{REPRODUCE} --collect"),
    ("reproduce", "max_cells"): Effect(REPRODUCE, f"{REPRODUCE} --max-cells 1"),
    ("report", "experiment"): Effect("report small.yaml", "report large.yaml", refused="large"),
    ("report", "everything"): Effect("report small.yaml", "report --all", refused="no declared experiment"),
    ("report", "results"): Effect("report small.yaml", "report small.yaml --results elsewhere", refused="elsewhere"),
    ("new", "kind"): Effect("new experiment mine", "new dataset yours", view="files"),
    ("new", "name"): Effect("new experiment mine", "new experiment yours"),
}

OF_OWN_TABLE = ("data", "label", "positive", "labels", "kinds", "drop", "only", "ids")
OF_COMPARISON = ("metric", "repeats", "label_frequency", "scenario", "tune", "seed", "n_jobs")
OF_READING = ("encoding", "sep", "skip_rows", "header_rows", "skip_footer", "quote", "decimal", "missing")
USUAL_READING = ("encoding", "sep", "decimal", "missing")
TESTS_OF_READING = {
    "train tune prior auto": "test_every_command_that_learns_takes_the_options",
    "predict evaluate": "test_options_given_to_predict_and_evaluate_replace_those_of_the_model",
    "compare": "test_compare_reads_with_the_options",
}
# Options whose effect another test shows: the file and the test, in which the option must occur.
SHOWN = {
    **{
        (command, name): f"cli/test_row_options.py::{test}"
        for commands, test in TESTS_OF_READING.items()
        for command in commands.split()
        for name in (USUAL_READING if command in ("evaluate", "compare") else OF_READING)
    },
    **{
        (command, "sheet"): "cli/test_row_options.py::test_a_sheet_is_kept_and_options_without_effect_are_refused"
        for command in ("train", "tune", "prior", "auto", "predict", "evaluate")
    },
    ("compare", "sheet"): "cli/test_row_options.py::test_compare_reads_with_the_options",
    **{
        (command, "positives_from"): "cli/test_tables_as_they_are.py::test_every_command_takes_labels_of_a_second_file"
        for command in ("train", "tune", "prior", "auto", "compare")
    },
    **{
        (command, "format"): "cli/test_tables_as_they_are.py::test_a_file_of_any_name_is_read_as_the_format_says"
        for command in ["train", "tune", "prior", "auto", "predict", "evaluate", "compare", "shift", "review"]
    },
    ("train", "model"): "cli/commands/test_predict.py::test_predict_and_evaluate_agree",
    **{
        ("shift", name): "cli/commands/test_shift.py::test_shift_reads_with_the_options"
        for name in (*USUAL_READING, "sheet")
    },
    **{
        ("review", name): "cli/commands/test_review.py::test_review_reads_with_the_options"
        for name in (*USUAL_READING, "sheet")
    },
    **{
        ("review", name): "cli/commands/test_review.py::test_answers_tell_the_precision"
        for name in ("model", "data", "destination", "count", "goal", "seed", "answers", "at_least")
    },
    ("review", "scored"): "cli/commands/test_review.py::test_a_scored_file_holds_the_flagged_rows_that_auto_counted",
    **{("review", name): "cli/commands/test_review.py::test_what_is_copied" for name in ("ids", "safe")},
    ("predict", "adapt"): "cli/commands/test_shift.py::test_shift_and_adapted_predictions",
    ("predict", "safe"): "cli/test_ids.py::test_texts_get_an_apostrophe_for_spreadsheets_alone",
    ("predict", "why"): "cli/commands/test_predict.py::test_why_names_the_columns_that_change_the_score_of_any_row",
    ("predict", "destination"): "cli/commands/test_predict.py::test_predict_and_evaluate_agree",
    ("predict", "recall"): "cli/test_every_option.py::test_where_the_threshold_lies",
    ("predict", "goal"): "cli/test_every_option.py::test_where_the_threshold_lies",
    ("predict", "share"): "cli/test_every_option.py::test_where_the_threshold_lies",
    ("predict", "precision"): "cli/test_every_option.py::test_where_the_threshold_lies",
    ("auto", "top"): "cli/commands/test_auto.py::test_the_wanted_number_of_rows_is_predicted_positive",
    ("auto", "recall"): "cli/test_every_option.py::test_where_the_threshold_lies",
    ("auto", "precision"): "cli/test_every_option.py::test_where_the_threshold_lies",
    ("auto", "share"): "cli/test_every_option.py::test_where_the_threshold_lies",
    ("auto", "model"): "cli/commands/test_auto.py::test_auto_trains_saves_and_ranks",
    ("auto", "report"): "cli/test_output.py::test_missing_folders_are_made",
    ("auto", "scored"): "cli/commands/test_auto.py::test_auto_trains_saves_and_ranks",
    ("auto", "verbose"): "cli/commands/test_auto.py::test_the_summary_has_threshold_estimates_and_models",
    ("auto", "negative"): "cli/test_yes_no.py::test_auto_learns_from_known_negatives",
    ("train", "negative"): "cli/test_yes_no.py::test_known_negatives_need_unlabeled_rows_and_a_method_that_takes_them",
    ("tune", "negative"): "cli/test_yes_no.py::test_known_negatives_need_unlabeled_rows_and_a_method_that_takes_them",
    ("prior", "negative"): "cli/test_yes_no.py::test_known_negatives_need_unlabeled_rows_and_a_method_that_takes_them",
    ("auto", "negatives_are"): "cli/test_yes_no.py::test_auto_learns_from_known_negatives",
    ("export", "model"): "cli/commands/test_export.py::test_an_exported_model_predicts_as_pucli_does",
    ("export", "destination"): "cli/commands/test_export.py::test_an_exported_model_predicts_as_pucli_does",
    ("show", "model"): "cli/commands/test_show.py::test_show_and_card_say_the_same",
    ("show", "card"): "cli/commands/test_show.py::test_show_and_card_say_the_same",
    ("auto", "labeling"): "cli/commands/test_auto.py::test_labels_that_are_no_random_sample_are_modeled",
    ("auto", "n_jobs"): "cli/test_every_option.py::test_jobs_are_passed_on",
    ("tune", "n_jobs"): "cli/test_every_option.py::test_jobs_are_passed_on",
    ("tune", "trials"): "cli/commands/test_tune.py::test_tune_reports_choice_and_trials",
    ("split", "destination"): "cli/test_output.py::test_missing_folders_are_made",
    ("split", "seed"): "cli/test_every_option.py::test_the_seed_of_a_split",
    ("split", "labeling"): "cli/test_every_option.py::test_the_labeling_of_a_split",
    ("reproduce", "fail_on"): "cli/commands/test_reproduce.py::test_fail_on_a_verdict",
    ("reproduce", "show_status"): "report/test_status.py::test_failed_cells_are_shown_with_their_reasons",
    ("reproduce", "parts"): "cli/commands/test_reproduce.py::test_parts_of_a_run_are_merged",
    ("reproduce", "shard"): "cli/commands/test_reproduce.py::test_parts_of_a_run_are_merged",
    ("reproduce", "results"): "cli/commands/test_reproduce.py::test_parts_of_a_run_are_merged",
    ("reproduce", "allow_changes"): "cli/test_every_option.py::test_changes_are_allowed",
    ("report", "allow_changes"): "cli/test_every_option.py::test_changes_are_allowed",
    ("site", "folder"): "cli/test_output.py::test_missing_folders_are_made",
    ("site", "results"): "cli/test_output.py::test_missing_folders_are_made",
    **{("compare", name): "cli/commands/test_compare.py::test_a_table_of_the_user" for name in OF_OWN_TABLE},
    **{("compare", name): "cli/commands/test_compare.py::test_what_decides_and_how_often" for name in OF_COMPARISON},
    **{("compare", name): "cli/commands/test_compare.py::test_page_and_latex" for name in ("destination", "dataset")},
    ("compare", "experiment"): "cli/commands/test_compare.py::test_a_method_joins_the_committed_runs_of_an_experiment",
    ("compare", "methods"): "cli/commands/test_compare.py::test_page_and_latex",
    **{
        ("compare", name): "data/splits/test_groups.py::test_compare_divides_by_groups_and_by_time"
        for name in ("groups", "by_time")
    },
    **{
        (command, "table"): f"cli/test_first_argument.py::test_{test}"
        for test, commands in {
            "the_first_argument_is_the_file": "auto",
            "a_model_takes_its_rows_first_or_from_stdin": "predict shift evaluate review",
            "the_first_argument_is_a_declared_data_set": "prior train tune",
        }.items()
        for command in commands.split()
    },
    ("new", "parent"): "cli/commands/test_new.py::test_the_folder_is_chosen",
    **{
        ("new", name): "cli/commands/test_new.py::test_a_data_set_from_a_table_of_the_user"
        for name in ("data", "label", "positive")
    },
}
SHARED_BY_ALL = {"json_document", "quiet"}
