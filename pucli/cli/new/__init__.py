"""``pucli new``: the initial files of a new method, data set or experiment."""

from pucli.cli.new.files import Made, new_data, new_dataset, new_experiment, new_method

__all__ = ["Made", "new_data", "new_dataset", "new_experiment", "new_method"]
