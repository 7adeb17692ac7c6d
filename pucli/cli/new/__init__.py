"""``pucli new``: the files that a method, a data set or an experiment of one's own starts from."""

from pucli.cli.new.files import Made, new_dataset, new_experiment, new_method

__all__ = ["Made", "new_dataset", "new_experiment", "new_method"]
