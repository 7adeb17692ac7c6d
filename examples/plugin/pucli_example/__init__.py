"""A plug-in for pucli: a method, a metric, a protocol, a data set and an experiment."""
